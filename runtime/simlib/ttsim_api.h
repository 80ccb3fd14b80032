// The flat C interface of libttfd_sim.so: the functions of Tenstorrent's simulator library, by the same
// names and with the same meaning, with the embedded device behind them. Whatever loads libttsim.so by
// dlopen can load this instead.
//
// Shapes. Configuration space and BARs are those of one Blackhole (vendor 0x1E52, device 0xB140) at bus 0,
// device 0, function 0. BAR0 (512 MiB at 0x1'0000'0000): 202 windows of 2 MiB, from 0x1FC00000 the three
// words of each window, those of the 4 GiB windows behind them. BAR2 (1 MiB at 0x1'2000'0000): outbound
// address translation. BAR4 (32 GiB at 0x8'0000'0000): eight windows of 4 GiB. Memory through a window
// takes any size and alignment inside the window, registers take 4 aligned bytes.
//
// Options. TTFD_SIM in the environment holds what may follow "sim:" in ttfd's --device option, such as
// "board=p100a" or "hazards=on,seed=3"; unset or empty: a p150 without hazards. Read by libttsim_init.
//
// Threads. None of its own, not reentrant: one thread at a time calls it. The DMA callbacks run on that
// thread, inside libttsim_clock or a BAR access, and must not call the library. One device a process; a
// copy of the file under another name, loaded beside it, is another device.
//
// Errors. No function reports one. What the contract forbids, the model refuses or the options do not
// allow ends the process with status 1, without destructors, after one line on the standard output:
//   [CLOCK] ERROR: CATEGORY: FUNCTION: TEXT
// where CATEGORY is UndefinedBehavior, NonContractualBehavior, UntestedFunctionality,
// UnimplementedFunctionality, UnsupportedFunctionality, SystemError or ConfigurationError.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Serve the device's accesses to host memory: `size` bytes, at most 16384, at a bus address (after outbound
// translation). To be set before libttsim_init; without them such an access is a ConfigurationError.
void libttsim_set_pci_dma_mem_callbacks(void (*read)(uint64_t paddr, void* to, uint32_t size),
                                        void (*write)(uint64_t paddr, const void* from,
                                                      uint32_t size));

// Powers a device on: memory zero, every hart held. A second call without libttsim_exit between is an error.
void libttsim_init(void);
// Takes it away and prints how long it ran.
void libttsim_exit(void);

// `bdf`: bus << 8 | device << 3 | function. Words, offsets 0 to 0x3C. Devices that are not there read as all
// ones and cannot be written.
uint32_t libttsim_pci_config_rd32(uint32_t bdf, uint32_t offset);
void libttsim_pci_config_wr32(uint32_t bdf, uint32_t offset, uint32_t value);

// `paddr`: the address a BAR had at power-on, plus an offset. `size` is not 0 and stays inside one window.
void libttsim_pci_mem_rd_bytes(uint64_t paddr, void* to, uint32_t size);
void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void* from, uint32_t size);

// Lets `clocks` pass: every hart that runs executes up to that many instructions. Nothing on the device
// happens at any other time, but for what a BAR access itself does.
void libttsim_clock(uint32_t clocks);

// Functions of the contract for another chip: here they are UnsupportedFunctionality.
void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t address, void* to, uint32_t size);
void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t address, const void* from,
                            uint32_t size);

#ifdef __cplusplus
}
#endif
