// Words that start a kernel on a worker: go word, launch message, the configuration it points to, the
// signals between the harts.
//
// The order on the wire is: kernel images (if not resident), configuration, launch message, then -
// from dispatch_s, once the workers of the previous launch are done - the go word. BRISC answers
// with +1 on the stream the go word names.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/hw/tensix.h"

namespace ttfd::abi {

inline constexpr uint32_t kLaunchSlots = 8;
inline constexpr uint32_t kGoWords = 9;  // one a sub-device, one spare; of each generation
inline constexpr uint32_t kGoGenerations = 3;
inline constexpr uint32_t kMaxCircularBuffers = 32;
inline constexpr uint32_t kMaxSemaphores = 16;
inline constexpr uint32_t kMaxCallables = 64;       // of one program
inline constexpr uint32_t kMaxArgumentWords = 256;  // common, and per core, of one kernel
inline constexpr uint32_t kMaxGoNocWords = 60;      // SET_GO_SIGNAL_NOC_DATA fits one 256 B page
inline constexpr uint32_t kFirstWorkerStream = 48;  // + sub-device, on the dispatch tile

// Go word: byte 0 sub-device (offset of the stream to answer on), byte 1 x and byte 2 y of the
// dispatch tile, byte 3 signal.
inline constexpr uint32_t kGoSignalRun = 0x80;  // low 3 bits: launch slot
constexpr uint32_t GoWord(uint32_t sub_device, uint32_t dispatch_x, uint32_t dispatch_y,
                          uint32_t slot) {
  return sub_device | dispatch_x << 8 | dispatch_y << 16 | (kGoSignalRun | slot) << 24;
}

// Where a go word goes. A multicast go reaches all workers, and its arrival is confirmed only by those that answer. So
// a worker that is moved to another sub-device may still receive a go sent to the previous owner of the number: that
// was of another generation, and lies in a word that the worker does not listen to. Records leave the generation out;
// dispatch_s puts it in (ControlBlock::sub_devices).
constexpr uint32_t GoWordIndex(uint32_t sub_device, uint32_t generation) {
  return sub_device + kGoWords * generation;
}

struct GoArea {
  uint32_t words[kGoGenerations * kGoWords];  // the worker clears the word it took before it starts
  uint32_t index;                             // GoWordIndex: which word this worker listens to
  uint32_t reserved[4];
};
static_assert(sizeof(GoArea) == 128);

// The argument words of one hart's kernel.
struct LaunchArguments {
  uint16_t common_offset;  // bytes from config_address, a multiple of 4
  uint16_t per_core_offset;
  uint16_t common_count;  // words; kernels check indices that are not constant against the counts
  uint16_t per_core_count;
};

struct LaunchMessage {
  // L1 address of each hart's KernelImageHeader; read only where enabled.
  uint32_t kernel_address[hw::kHarts];
  // In the config ring, 16 B aligned. CircularBufferConfig[circular_buffer_count] lies there.
  uint32_t config_address;
  LaunchArguments arguments[hw::kHarts];
  uint16_t circular_buffer_count;  // indices 0 .. count-1; size 0 = not there
  uint16_t semaphore_count;
  uint16_t semaphore_offset;  // of SemaphoreWord[semaphore_count], bytes from config_address
  uint16_t callable_offset;   // of the callable kernels' L1 addresses, bytes from config_address
  uint32_t program_id;        // for people: who is running
  // In the records of what it prints (print_ring.h); 0: nobody takes them, and none is made.
  uint32_t print_tag;
  uint16_t
      callable_count;  // words at callable_offset, in the order of the program's callable kernels
  uint16_t reserved0;
  uint32_t reserved1[2];
  // Bit i: hart i runs a kernel; kLaunchNewCode. Zeroed by the worker after the run, so that a go without a new message
  // is answered at once. Last word, so it lands last.
  uint32_t enables;
};
static_assert(sizeof(LaunchMessage) == 96);
static_assert(offsetof(LaunchMessage, enables) == 92);

// Distance of the slots of the launch ring: a power of two, so that a worker finds one by a shift.
inline constexpr uint32_t kLaunchSlotShift = 7;
inline constexpr uint32_t kLaunchSlotBytes = 1u << kLaunchSlotShift;
static_assert(sizeof(LaunchMessage) <= kLaunchSlotBytes);

// Images were written since the last launch: drop instruction caches first. May stand alone, with no
// hart enabled.
inline constexpr uint32_t kLaunchNewCode = 1u << 8;

struct CircularBufferConfig {
  uint32_t address;
  uint32_t pages;
  uint32_t page_bytes;
  uint32_t format;  // of the elements of a page, which is one tile: hw::tensix::Format + 1; 0: none
};
static_assert(sizeof(CircularBufferConfig) == 16);

// The counts of a circular buffer, at kCircularBufferStateAddress + index * 16. BRISC zeroes those of
// a launch before it starts the other harts.
struct CircularBufferState {
  uint32_t pushed;  // pages, free-running; written by the producer
  uint32_t popped;  // written by the consumer
  uint32_t reserved[2];
};
static_assert(sizeof(CircularBufferState) == 16);

struct SemaphoreWord {  // 16 bytes: target of NoC atomics
  uint32_t value;
  uint32_t reserved[3];
};
static_assert(sizeof(SemaphoreWord) == 16);

// BRISC to the other harts of its tile, one line each.
enum RunWord : uint32_t {
  kRunIdle = 0,
  kRunGo = 1
};  // the subordinate writes kRunIdle when its kernel has ended
struct SubordinateSync {
  uint32_t run;  // RunWord
  uint32_t launch_slot;
  uint32_t engine_balance;  // of the kernel that has ended (engine_balance.h); NCRISC's is always 0
  uint32_t reserved;
};
static_assert(sizeof(SubordinateSync) == 16);  // [hart], index 0 unused

}  // namespace ttfd::abi
