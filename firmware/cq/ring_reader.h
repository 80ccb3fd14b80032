// Reads a ring the prefetcher fills: waits for pages, hands out what has arrived, gives pages back.
//
//   | free ... | consumed, not returned | ready ........ | not arrived ... |
//              ^ returned               ^ cursor
//
// Pages go back a quarter of the ring at a time, once the writes sourced from them have left the tile,
// and all of them before the hart goes idle: at rest, as many were returned as arrived.
#pragma once

#include <stdint.h>

#include "firmware/common/wait.h"
#include "runtime/abi/hart_status.h"

namespace ttfd::firmware {

// A policy says which ring: kPageShift, kArrived (address of the counter), static void Return(pages),
// static bool HaveWritesLeft() for writes sourced from the ring, and the static function that waits for it.
template <typename Policy>
class RingReader {
 public:
  RingReader(uint32_t address, uint32_t pages)
      : base_(address),
        end_(address + (pages << Policy::kPageShift)),
        block_(pages / 4),
        cursor_(address) {}

  // The next unread byte.
  uint32_t cursor() const { return cursor_; }

  // How many bytes at the cursor are there, perhaps round the end. No call waits or gives pages back
  // while the bytes it asks for are among them.
  uint32_t ready() const { return ready_; }

  // Waits for at least one unread page.
  void AwaitPage() {
    AwaitPageBy([](uint32_t waypoint, auto done) { WaitUntil(waypoint, done); });
  }
  // The same for a hart that has something to do meanwhile: `wait` is called as WaitUntil is.
  template <typename Wait>
  void AwaitPageBy(Wait wait) {
    if (ready_ == 0) {
      Refill(wait);
    }
  }

  // How many bytes at the cursor are there and contiguous, at least 1 and at most `wanted`.
  uint32_t Contiguous(uint32_t wanted) {
    AwaitPage();
    const uint32_t to_end = end_ - cursor_;
    const uint32_t bytes = ready_ < to_end ? ready_ : to_end;
    return bytes < wanted ? bytes : wanted;
  }

  // Moves the cursor; `bytes` is at most what Contiguous() returned.
  void Skip(uint32_t bytes) {
    cursor_ += bytes;
    ready_ -= bytes;
    if (cursor_ == end_) {
      cursor_ = base_;
    }
  }

  // Skips bytes that may not have arrived yet or lie round the end.
  void SkipAll(uint32_t bytes) {
    while (bytes != 0) {
      const uint32_t piece = Contiguous(bytes);
      Skip(piece);
      bytes -= piece;
    }
  }

  // How many bytes are left of the page the cursor is in; some are ready.
  uint32_t LeftInPage() const { return ((ready_ - 1) & (kPageBytes - 1)) + 1; }

  // A command that lies in its first page, from where the cursor still is, is executed.
  void FinishPage() {
    const uint32_t ready_behind = (ready_ - 1) & ~(kPageBytes - 1);
    cursor_ += ready_ - ready_behind;
    ready_ = ready_behind;
    if (cursor_ == end_) {
      cursor_ = base_;
    }
    ++held_;
    ReturnBlocks();
  }

  // A command that the cursor has moved through is executed: the next one starts on a page.
  void FinishCommand() {
    Skip(ready_ & (kPageBytes - 1));
    CountHeld();
    ReturnBlocks();
  }

  // Gives everything back.
  void ReturnAll() {
    if (held_ != 0) {
      Policy::AwaitWritesLeft();
      Return();
    }
  }

 private:
  static constexpr uint32_t kPageBytes = 1u << Policy::kPageShift;

  // Recounts the pages behind the cursor that were not given back.
  void CountHeld() {
    held_ = arrived_ - ((ready_ + kPageBytes - 1) >> Policy::kPageShift) - returned_;
  }

  void Return() {
    returned_ += held_;
    Policy::Return(held_);
    held_ = 0;
  }

  // A block is due when it is full; it is worth waiting for only when a second one is.
  void ReturnBlocks() {
    if (held_ < block_) [[likely]] {
      return;
    }
    if (!Policy::HaveWritesLeft()) {
      if (held_ < 2 * block_) {
        return;
      }
      Policy::AwaitWritesLeft();
    }
    Return();
  }

  template <typename Wait>
  [[gnu::noinline]] void Refill(Wait wait) {
    const uint32_t seen = arrived_;
    CountHeld();
    if (Load(Policy::kArrived) == seen) {
      ReturnAll();
    } else {
      ReturnBlocks();
    }
    uint32_t arrived = seen;  // the value the poll saw: what came later is behind the fence
    wait(abi::kWaypointIdle, [&arrived, seen] {
      arrived = Load(Policy::kArrived);
      return arrived != seen;
    });
    Fence();  // as WaitForMemory does
    arrived_ = arrived;
    ready_ = (arrived - seen) << Policy::kPageShift;
  }

  const uint32_t base_;
  const uint32_t end_;
  const uint32_t block_;
  uint32_t cursor_;
  uint32_t ready_ = 0;     // bytes at the cursor, modulo the ring, that have arrived
  uint32_t arrived_ = 0;   // pages, as last read
  uint32_t returned_ = 0;  // pages
  uint32_t held_ = 0;      // pages consumed and not returned, as of the last command
};

}  // namespace ttfd::firmware
