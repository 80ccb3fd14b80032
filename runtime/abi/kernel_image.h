// A kernel as it lies in a worker's kernel cache: this header, then one block of text, read-only
// data, data and bss that runs from any 16 B aligned address, then a pristine copy of its data.
//
// Base firmware zeroes bss and copies the pristine data over data before every run, then calls the
// entry point as `void entry(const KernelContext*)` on the hart's stack in local RAM.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ttfd::abi {

inline constexpr uint32_t kMaxKernelImageBytes = 0xF000;  // with header and pristine data

struct KernelImageHeader {
  uint32_t image_bytes;   // header, block and pristine data; multiple of 16
  uint32_t entry_offset;  // all offsets are from the header's start, multiples of 4
  uint32_t data_offset;
  uint32_t data_bytes;  // multiple of 4
  uint32_t pristine_offset;
  uint32_t bss_offset;
  uint32_t bss_bytes;    // multiple of 4
  uint32_t stack_bytes;  // what the kernel needs at most, 0 = unknown
};
static_assert(sizeof(KernelImageHeader) == 32);

struct KernelContext {
  uint32_t hart;                    // hw::Hart
  uint32_t noc;                     // NIU this hart should use: BRISC 0, NCRISC 1, TRISCs 0
  uint32_t launch_message_address;  // LaunchMessage, valid until the kernel returns
  uint32_t logical_x;               // of this tile in the worker grid
  uint32_t logical_y;
  uint32_t reserved[3];
};
static_assert(sizeof(KernelContext) == 32);

}  // namespace ttfd::abi
