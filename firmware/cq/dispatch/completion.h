// WRITE_LINEAR_H_HOST: the command itself and its data go into the host's completion ring, then the
// pointer that makes them visible, all on one static VC.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/cq/dispatch/niu.h"
#include "firmware/cq/dispatch/ring.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/host_queue.h"

namespace ttfd::firmware::dispatch {

class CompletionRing {
 public:
  CompletionRing()
      : pcie_xy_(TTFD_BOOT(pcie_xy)),
        ring_low_(TTFD_BOOT(completion_ring_low)),
        ring_high_(TTFD_BOOT(completion_ring_high)),
        pages_(TTFD_BOOT(completion_ring_pages)),
        ring_bytes_(pages_ * abi::kCompletionPageBytes),
        pointer_low_(TTFD_BOOT(completion_pointer_low)),
        pointer_high_(TTFD_BOOT(completion_pointer_high)) {
    Store(kStaging + offsetof(abi::CompletionPointer, reserved), 0);
  }

  // Executes the command at the ring's cursor. A record that fits the completion ring becomes visible
  // at once; a longer one goes through it half a ring at a time.
  void Write(Ring& ring, Writes& writes, uint32_t word, uint32_t progress) {
    const uint32_t at = ring.cursor();
    uint32_t remaining = Load(at + offsetof(abi::WriteLinearHHost, length));
    if (Load(at + offsetof(abi::WriteLinearHHost, length) + 4) != 0 ||
        remaining < sizeof(abi::WriteLinearHHost)) [[unlikely]] {
      Refuse(at, abi::kFaultBadLength, remaining, ~0u);
    }
    if ((word >> 8 & 0xFF) != 0) {
      last_event_ = Load(at + sizeof(abi::WriteLinearHHost));
      Store(kStatus + offsetof(abi::HartStatus, last_event), last_event_);
    }
    if (remaining <= abi::kCompletionPageBytes) [[likely]] {
      // Within one page here and there: every page boundary of both rings is the same.
      AwaitFree(1);
      WritePiece(writes, at, remaining);
      Advance(1);
      Publish(writes, progress);
      Writes::ClearUnicastHigh();
      ring.FinishPage();
      return;
    }
    WriteLong(ring, writes, remaining, progress);
    Writes::ClearUnicastHigh();
    ring.FinishCommand();
  }

 private:
  static constexpr uint32_t kStaging =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, completion_staging);
  static constexpr uint32_t kRead =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, completion_pages_read);

  static uint32_t PagesOf(uint32_t bytes) {
    return (bytes + abi::kCompletionPageBytes - 1) / abi::kCompletionPageBytes;
  }

  void AwaitFree(uint32_t pages) {
    const uint32_t used = pages_ - pages;  // at most this many may be unread
    const uint32_t written = written_;
    WaitForMemory(abi::kWaypointCompletion,
                  [written, used] { return written - Load(kRead) <= used; });
  }

  // Where the ring's byte `offset_` is in host memory.
  void WritePiece(Writes& writes, uint32_t from, uint32_t bytes) {
    Writes::SetUnicastTarget(pcie_xy_, ring_high_);
    writes.Unicast(from, ring_low_ + offset_, bytes);
  }

  // `pages` more are written, the last of them perhaps in part: the next record starts on a page.
  void Advance(uint32_t pages) {
    written_ += pages;
    offset_ = (offset_ + abi::kCompletionPageBytes) & ~(abi::kCompletionPageBytes - 1);
    if (offset_ == ring_bytes_) {
      offset_ = 0;
    }
  }

  [[gnu::noinline]] void WriteLong(Ring& ring, Writes& writes, uint32_t remaining,
                                   uint32_t progress) {
    const uint32_t all = PagesOf(remaining);
    const uint32_t at_once = all <= pages_ ? all : (pages_ + 1) / 2;
    while (remaining != 0) {
      const uint32_t left = PagesOf(remaining);
      const uint32_t pages = left < at_once ? left : at_once;
      AwaitFree(pages);
      uint32_t bytes = pages * abi::kCompletionPageBytes;
      bytes = remaining < bytes ? remaining : bytes;
      remaining -= bytes;
      while (bytes != 0) {
        const uint32_t to_end = ring_bytes_ - offset_;
        const uint32_t piece = NextPiece(ring, bytes < to_end ? bytes : to_end);
        WritePiece(writes, ring.cursor(), piece);
        ring.Skip(piece);
        bytes -= piece;
        offset_ += piece;
        if (offset_ == ring_bytes_) {
          offset_ = 0;
        }
      }
      written_ += pages;
      if (offset_ % abi::kCompletionPageBytes != 0) {
        Advance(0);
      }
      Publish(writes, progress);
    }
  }

  void Publish(Writes& writes, uint32_t progress) {
    AwaitWritesLeft();  // of the staging words, by the last pointer
    Store(kStaging + offsetof(abi::CompletionPointer, pages_written), written_);
    Store(kStaging + offsetof(abi::CompletionPointer, progress), progress);
    Store(kStaging + offsetof(abi::CompletionPointer, last_event), last_event_);
    SettleL1(kStaging + offsetof(abi::CompletionPointer, last_event));
    Writes::SetUnicastTarget(pcie_xy_, pointer_high_);
    writes.Unicast(kStaging, pointer_low_, sizeof(abi::CompletionPointer));
  }

  const uint32_t pcie_xy_;
  const uint32_t ring_low_;
  const uint32_t ring_high_;
  const uint32_t pages_;
  const uint32_t ring_bytes_;
  const uint32_t pointer_low_;
  const uint32_t pointer_high_;
  uint32_t offset_ = 0;   // where the next record starts
  uint32_t written_ = 0;  // pages
  uint32_t last_event_ = 0;
};

}  // namespace ttfd::firmware::dispatch
