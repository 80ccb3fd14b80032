// The state of one RISC-V hart.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ttfd::sim {

class TensixTile;

enum class HartState : uint8_t {
  kHeld,      // in soft reset
  kRunnable,  // in the scheduler's queue
  kParked,    // polls; runs again when one of `poll.read` is written
};

// A poll loop longer than this (in instructions) is run, not parked.
inline constexpr uint32_t kMaxPollLoop = 64;

// A hart that arrives somewhere else this many instructions later has most likely left the loop it was
// in; most poll loops are shorter, the others are found by the anchor.
inline constexpr uint32_t kShortPollLoop = 8;

// A hart at a poll point.
struct Arrival {
  uint32_t pc = 1;    // 1 is no instruction's address
  uint64_t time = 0;  // when that was
  uint32_t x[32] = {};
};

// How a poll loop is recognised. A hart that arrives at a poll point (a fence, an AMO, or a read of
// a register without side effects) with the pc and the registers of an earlier arrival no more than
// kMaxPollLoop instructions ago goes round once more under observation; if it comes back to the
// same state without having changed anything, the words it read decide what it does next, and it
// sleeps until one of them is written. Local RAM may change on the way (calls spill registers) if it
// is as before at the end: nobody else sees it.
struct PollState {
  // The last arrival at a place: recognises plain loops in their third trip.
  Arrival last;
  // An arrival kept for kMaxPollLoop instructions: recognises loops that pass the same place with
  // several states in one trip (a function that polls whatever it is given).
  Arrival anchor;
  bool observe = false;  // the next trip is observed, from and to `last`
  bool spoiled = false;  // it changed something, or read something that changes by itself
  struct LocalWrite {
    uint32_t address;  // of a word in local RAM
    uint32_t before;   // what it held when the trip began
  };
  uint32_t writes = 0;
  LocalWrite write[kMaxPollLoop] = {};
  uint32_t reads = 0;
  uint32_t read[kMaxPollLoop] = {};  // word addresses of L1 and registers; the wake set once parked
};

struct Hart {
  uint32_t x[33] = {};  // x[32] takes what is written to x0
  uint32_t pc = 0;
  uint32_t config0 = 0;  // CSR 0x7C0
  uint32_t index = 0;    // hw::Hart
  TensixTile* tile = nullptr;
  std::byte* local_ram = nullptr;
  uint32_t local_ram_bytes = 0;
  HartState state = HartState::kHeld;
  bool queued = false;   // the scheduler's
  uint64_t time = 0;     // clock this hart has reached
  uint64_t retired = 0;  // instructions since power-on
  PollState poll;
};

}  // namespace ttfd::sim
