// How a kernel prints: a ring of records for each hart of a worker, written by the hart, emptied by the host.
//
// A hart writes a record, then moves `written`; the host takes it and moves `read`. Both are free-running
// counts of bytes; a hart that finds no room waits until `read` has moved. A record is not text: it says
// where the format string lies, and the arguments. The host puts them together (print_format.h), out of its
// own copy of the kernel's image.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/hw/tensix.h"

namespace ttfd::abi {

inline constexpr uint32_t kPrintRingBytes = 1024;  // of one hart; a power of two
inline constexpr uint32_t kMaxPrintWords = 64;     // of one record

struct PrintPosition {  // [hart] at kPrintPositionAddress; zero after boot
  uint32_t written;     // the hart writes it
  uint32_t read;        // the host writes it
  uint32_t reserved[2];
};
static_assert(sizeof(PrintPosition) == 16);

// A record is words, going on at the ring's start where its end is reached:
//   0  PrintHeader(number of words)
//   1  LaunchMessage.print_tag of the launch that prints
//   2  L1 address of the format string, in the kernel's image
//   .. the arguments in their order: one word of up to 32 bits; two, the low half first, of 64; a string
// A string is either its L1 address, if it lies in the read-only part of the kernel's image, or a word with
// kPrintCopied, its number of bytes and perhaps kPrintCut, and the bytes, the last word filled up with zeros; or 0,
// a null pointer.
inline constexpr uint32_t kPrintMark = 0x5052;
constexpr uint32_t PrintHeader(uint32_t words) { return kPrintMark << 16 | words; }
inline constexpr uint32_t kPrintHeaderWords = 3;
inline constexpr uint32_t kPrintCopied = 1u << 31;    // no L1 address has it
inline constexpr uint32_t kPrintCut = 1u << 30;       // the string is longer
inline constexpr uint32_t kMaxPrintStringBytes = 64;  // that are copied of one
static_assert(kMaxPrintWords * 4 <= kPrintRingBytes / 2,
              "the host may take one record while the next is written");

}  // namespace ttfd::abi
