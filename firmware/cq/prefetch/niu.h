// How the prefetcher uses its NIUs: one command buffer a purpose, so that constant fields are set once. NoC 0 has no
// buffer left for what is published to the host.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/noc.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/host_queue.h"

namespace ttfd::firmware::prefetch {

using WriteBuffer = CommandBuffer<0, 0>;    // writes into the dispatch tile's rings
using AtomicBuffer = CommandBuffer<0, 1>;   // increments at the dispatch tile
using FetchBuffer = CommandBuffer<0, 2>;    // reads of the issue ring
using RelayBuffer = CommandBuffer<0, 3>;    // reads of what is relayed or executed
using PointerBuffer = CommandBuffer<1, 0>;  // writes of the FetchPointer

// Transaction ids. Waiting for one never waits for another.
inline constexpr uint32_t kFetchId = 1;
inline constexpr uint32_t kRelayId[2] = {2, 3};
inline constexpr uint32_t kWriteId = 4;
inline constexpr uint32_t kAtomicId = 5;
inline constexpr uint32_t kRingbufferId = 6;
inline constexpr uint32_t kExecId = 8;     // and as many behind it as an exec buffer has blocks
inline constexpr uint32_t kPointerId = 1;  // of NoC 1

inline constexpr uint32_t kEntriesFetched =
    abi::kControlBlockAddress + offsetof(abi::ControlBlock, entries_fetched);

inline void AwaitAnswers(uint32_t id) {
  AwaitZero(NiuCounterAddress<0>(hw::kNocRequestsOutstanding + id));
}

// The L1 that writes were sourced from may be overwritten.
inline void AwaitWritesLeft() {
  WriteBuffer::AwaitFree();
  AwaitNiuCounterZero<0, hw::kNocWritesOutgoing + kWriteId>();
}

inline void InitializeNiu(uint32_t issue_ring_high) {
  SetNiuRegister();
  FetchBuffer::InitializeRead(kFetchId);
  FetchBuffer::Set(hw::kNocTargetMid, issue_ring_high);
  WriteBuffer::InitializeWrite(kWriteControl, kWriteId);
  AtomicBuffer::InitializeAtomic(kAtomicId);
  RelayBuffer::InitializeRead(kRelayId[0]);
  constexpr uint32_t kBehindPointer = abi::kFetchPointerOffset - abi::kCompletionPointerOffset;
  PointerBuffer::InitializeWrite(kWriteControl, kPointerId);
  PointerBuffer::Set(hw::kNocTargetLow, kEntriesFetched);
  PointerBuffer::Set(hw::kNocReturnLow, TTFD_BOOT(completion_pointer_low) + kBehindPointer);
  PointerBuffer::Set(hw::kNocReturnMid, TTFD_BOOT(completion_pointer_high));
  PointerBuffer::Set(hw::kNocLength, sizeof(abi::FetchPointer));
}

}  // namespace ttfd::firmware::prefetch
