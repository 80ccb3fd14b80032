// Stands in for host memory on a chip that does not reach the host's.
//
// Its dispatch harts use L1 of their prefetch tile, with the layout of a queue's host memory
// (runtime/abi/host_queue.h). The bridge copies between that and memory of the host at the same offsets: entries of the
// issue ring on their way to the card, and completion records, pointers and counts on their way back. What space the
// two sides may use they decide as ever, since both have the whole layout.
#pragma once

#include <cstdint>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"

namespace ttfd {

class HostBridge {
 public:
  // `memory` is the host's, zero at first, and `completion_ring` the part of it that is that ring. `address`: of the
  // queue in the L1 of the prefetch tile, which `prefetch_tile`, a strict window, shows. All outlive the bridge.
  HostBridge(Window& prefetch_tile, uint32_t address, MutableByteSpan memory,
             MutableByteSpan completion_ring)
      : window_(prefetch_tile), address_(address), memory_(memory), ring_(completion_ring) {}

  // Copies a part of the host's memory to the card, in front of what is written through the window afterwards.
  Status Send(ByteSpan part);
  // Copies what the card has published since the last call. At least one read through the window.
  Status Fetch();

 private:
  // A part of the host's memory from the card.
  Status Read(MutableByteSpan part);
  // The record at the first page that was not fetched, of `there` published ones. Its pages; 0: it cannot be one.
  StatusOr<uint32_t> FetchRecord(uint32_t there);

  Window& window_;
  const uint32_t address_;
  const MutableByteSpan memory_;
  const MutableByteSpan ring_;
  uint32_t pages_ = 0;  // fetched, free-running
};

}  // namespace ttfd
