// The state of one RISC-V hart.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/hw/tensix.h"

namespace ttfd::sim {

class MemoryGuard;
class TensixTile;
struct Decoded;
class HartHazards;

enum class HartState : uint8_t {
  kHeld,      // in soft reset
  kRunnable,  // in the scheduler's queue
  kParked,    // polls; runs again when one of `poll.read` is written
  kFaulted,   // stopped by a fault of its own until it has been in soft reset
};

// A poll loop longer than this (in instructions) is run, not parked.
inline constexpr uint32_t kMaxPollLoop = 128;

// A hart that arrives somewhere else this many instructions later has most likely left the loop it was
// in; most poll loops are shorter, the others are found by the anchor.
inline constexpr uint32_t kShortPollLoop = 8;

inline constexpr uint32_t kNowhere = 1;           // is no instruction's address
inline constexpr uint64_t kNever = ~uint64_t{0};  // a clock

// A hart at a poll point. Most are passed once, by code that does something; so the registers are kept
// when the hart comes there again.
struct Arrival {
  uint32_t pc = kNowhere;
  bool has_registers = false;
  uint64_t time = 0;  // when that was
  uint32_t x[32] = {};
};

// How a poll loop is recognised. A hart that arrives at a poll point (a fence, an AMO, or a read of
// a register without side effects) with the pc and the registers of an earlier arrival no more than
// kMaxPollLoop instructions ago goes round once more under observation; if it comes back to the
// same state without having changed anything, the words it read decide what it does next, and it
// sleeps until one of them is written. Local RAM may change on the way (calls spill registers) if it
// is as before at the end: nobody else sees it. Where a hart slept before, it is observed when it
// arrives for the first time: most likely it has done what it was woken for and waits again.
struct PollState {
  // The last arrival at a place: recognises plain loops.
  Arrival last;
  // An arrival kept for kMaxPollLoop instructions: recognises loops that pass the same place with
  // several states in one trip (a function that polls whatever it is given).
  Arrival anchor;
  bool observe = false;          // the next trip is observed, from and to `last`
  uint64_t start = 0;            // when the observed trip began
  bool again = false;            // it may start anew at `last` with other registers
  uint32_t slept_at = kNowhere;  // pc
  uint64_t woken = kNever;       // when it was woken last
  bool side_effect = false;      // it changed something, or read something that changes by itself
  struct LocalWrite {
    uint32_t address;  // of a word in local RAM
    uint32_t before;   // what it held when the trip began
  };
  uint32_t writes = 0;
  LocalWrite write[kMaxPollLoop] = {};
  uint32_t reads = 0;
  uint32_t read[kMaxPollLoop] = {};  // word addresses of L1 and registers; the wake set once parked

  // A trip that did nothing but compute and load from L1 can be taken again without being executed: where
  // the words it read and the registers it started from are what they were, it sets the registers as it
  // did and is back where it began. So a hart that comes to a wait it slept in goes to sleep at once.
  bool replayable = false;      // so far
  uint64_t registers_read = 0;  // before the trip set them, one bit each
  uint64_t registers_set = 0;   // one bit each
  bool proven = false;          // the last trip observed was such a one, and the code is the same
  uint64_t proven_clocks = 0;   // how long it took
  uint32_t proven_x[32] = {};   // at its beginning and at its end
  uint32_t proven_word[kMaxPollLoop] = {};  // what it read
};

// Memory that a hart reaches without leaving the interpreter.
struct HartMemory {
  std::byte* local_ram = nullptr;
  uint32_t local_ram_bytes = 0;
  // L1 below is accessed without a check by the guard: its bytes, halfwords and words.
  uint32_t free_l1[3] = {hw::kL1Bytes, hw::kL1Bytes / 2, hw::kL1Bytes / 4};
  MemoryGuard* guard = nullptr;  // null: everything is allowed
};

struct Hart : HartMemory {
  uint32_t x[33] = {};  // x[32] takes what is written to x0
  uint32_t pc = 0;
  uint32_t config0 = hw::kCsrConfig0AfterReset;  // CSR 0x7C0
  uint32_t index = 0;                            // hw::Hart
  TensixTile* tile = nullptr;
  HartState state = HartState::kHeld;
  bool queued = false;             // the scheduler's
  bool held_back = false;          // a debugger lets others run, and not this one
  uint64_t time = 0;               // clock this hart has reached
  uint64_t retired = 0;            // instructions since power-on
  Decoded* code = nullptr;         // the tile's decoded instructions, or its own (InstructionCache)
  HartHazards* hazards = nullptr;  // null: none of a hart's own is on
  uint32_t speed = 0;              // HartSpeed's
  // The interpreter's: where it goes on, where its budget would end on a straight line, and which
  // time that is.
  Decoded* ip = nullptr;
  intptr_t end = 0;
  uint64_t stop_time = 0;
  // The clock at which every inspector let the next instruction pass; it is not asked about again when
  // the hart leaves the interpreter in front of it.
  uint64_t permitted = kNever;
  PollState poll;
};

}  // namespace ttfd::sim
