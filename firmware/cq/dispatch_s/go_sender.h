// Sends go words, as one multicast to the worker grid or a unicast to each tile of a list, and to the host how many of
// them are answered.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/noc.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/launch.h"
#include "runtime/hw/stream.h"

namespace ttfd::firmware::dispatch_s {

using MulticastBuffer = CommandBuffer<1, 0>;
using UnicastBuffer = CommandBuffer<1, 1>;
using AtomicBuffer = CommandBuffer<1, 2>;  // increments at the prefetch tile

using CountsBuffer = CommandBuffer<1, 3>;

inline constexpr uint32_t kWriteId = 1;
inline constexpr uint32_t kAtomicId = 2;
inline constexpr uint32_t kCountsId = 3;

inline constexpr uint32_t kGosAnswered =
    abi::kControlBlockAddress + offsetof(abi::ControlBlock, gos_answered);

inline void InitializeNiu() {
  SetNiuRegister();
  MulticastBuffer::InitializeWrite(kMulticastControl, kWriteId);
  MulticastBuffer::Set(hw::kNocLength, 4);
  UnicastBuffer::InitializeWrite(kWriteControl, kWriteId);
  UnicastBuffer::Set(hw::kNocLength, 4);
  AtomicBuffer::InitializeAtomic(kAtomicId);
  constexpr uint32_t kBehindPointer = abi::kGoCountsOffset - abi::kCompletionPointerOffset;
  CountsBuffer::InitializeWrite(kWriteControl, kCountsId);
  CountsBuffer::Set(hw::kNocTargetLow, kGosAnswered);
  CountsBuffer::Set(hw::kNocReturnLow, TTFD_BOOT(completion_pointer_low) + kBehindPointer);
  CountsBuffer::Set(hw::kNocReturnMid, TTFD_BOOT(completion_pointer_high));
  CountsBuffer::Set(hw::kNocLength, sizeof(abi::GoCounts));
}

// Subtracts what the worker counters show.
inline void ClearStreams(uint32_t first, uint32_t count) {
  for (uint32_t stream = first; stream != first + count; ++stream) {
    const uint32_t value = Load(hw::StreamRegister(stream, hw::kStreamSpaceAvailable));
    Store(hw::StreamRegister(stream, hw::kStreamSpaceAvailableUpdate),
          (-value & hw::kStreamCounterMask) << hw::kStreamUpdateShift);
  }
}

class GoSender {
 public:
  // Counters survive a soft reset: begin with what they say.
  GoSender()
      : expected_acks_(NiuCounter<1>(hw::kNocWriteAcks)),
        workers_(TTFD_BOOT(worker_count)),
        rectangle_(hw::NocRectangle(TTFD_BOOT(worker_end_xy), TTFD_BOOT(worker_start_xy))) {}

  void Barrier() const {
    MulticastBuffer::AwaitFree();
    UnicastBuffer::AwaitFree();
    const uint32_t expected = expected_acks_;
    WaitUntil(abi::kWaypointNoc,
              [expected] { return NiuCounter<1>(hw::kNocWriteAcks) == expected; });
  }

  // `go` to word `index` of every worker's GoArea.
  void Multicast(uint32_t go, uint32_t index) {
    Barrier();
    const uint32_t to = GoWordAddress(index);
    const uint32_t from = Stage(go, to);
    MulticastBuffer::Set(hw::kNocTargetLow, from);
    MulticastBuffer::Set(hw::kNocReturnLow, to);
    MulticastBuffer::Set(hw::kNocTargetHigh, OwnXy());
    MulticastBuffer::Set(hw::kNocReturnHigh, rectangle_);
    MulticastBuffer::Issue();
    expected_acks_ += workers_;
  }

  // `go` to the go word of its sub-device (byte 0), behind those of earlier generations, on `count` tiles of the list
  // from `first`.
  void Unicast(uint32_t go, uint32_t generation, uint32_t first, uint32_t count) {
    Barrier();  // of the staging word, if a multicast was sent from it
    const uint32_t to = GoWordAddress(generation + (go & 0xFF));
    UnicastBuffer::Set(hw::kNocTargetLow, Stage(go, to));
    UnicastBuffer::Set(hw::kNocReturnLow, to);
    for (uint32_t i = first; i != first + count; ++i) {
      UnicastBuffer::AwaitFree();
      UnicastBuffer::Set(hw::kNocTargetHigh, OwnXy());
      UnicastBuffer::Set(hw::kNocReturnHigh, targets_[i]);
      UnicastBuffer::Issue();
    }
    expected_acks_ += count;
  }

  // Writes gos_answered to the host; `last` is the word of it that was stored last. The writes keep their order: one
  // static VC. A go waits for the acknowledgement, too.
  void SendCounts(uint32_t last) {
    SettleL1(last);
    CountsBuffer::Set(hw::kNocTargetHigh, OwnXy());
    CountsBuffer::Set(hw::kNocReturnHigh, TTFD_BOOT(pcie_xy));
    CountsBuffer::Issue();
    CountsBuffer::AwaitFree();  // before acknowledgements are counted
    ++expected_acks_;
  }

  bool HasTargets(uint32_t first, uint32_t count) const { return first + count <= targets_count_; }
  uint32_t targets() const { return targets_count_; }

  void SetTargets(uint32_t from, uint32_t count) {
    for (uint32_t i = 0; i != count; ++i) {
      targets_[i] = Load(from + 4 * i);
    }
    targets_count_ = count;
  }

 private:
  static constexpr uint32_t GoWordAddress(uint32_t index) {
    return abi::kGoAreaAddress + 4 * index;
  }

  // Puts the word where source and destination are equal modulo 16.
  static uint32_t Stage(uint32_t go, uint32_t to) {
    const uint32_t from = StagingSlot(kThisHart) + (to & 12);
    Store(from, go);
    SettleL1(from);
    return from;
  }

  uint32_t expected_acks_;
  const uint32_t workers_;
  // Packets travel the other way round on NoC 1: the larger corner is the start.
  const uint32_t rectangle_;
  uint32_t targets_[abi::kMaxGoNocWords];
  uint32_t targets_count_ = 0;
};

}  // namespace ttfd::firmware::dispatch_s
