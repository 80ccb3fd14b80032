// Executes streams of records as the protocol says they act, one command after the other, on plain
// memory: what the firmware's rings, credits and overlap must not change.
//
// Commands of one queue take effect in order; between queues, where WAIT says so. dispatch_s's commands
// wait in a line of their own for what they need.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "runtime/command/decoder.h"
#include "tests/support/reference_card.h"

namespace ttfd::testing {

class ReferenceExecutor {
 public:
  ReferenceExecutor(const ReferenceLayout& layout, MemoryImage memory);

  // One fetch entry for a queue.
  void Append(uint32_t queue, ByteSpan entry);
  // Executes everything. An error, with the queue and its last commands, if a record is malformed, does
  // what the reference does not know, or waits for what cannot come.
  Status Run();

  ReferenceCard& card() { return card_; }

  // The commands, in order, that write a byte, or that a queue executes as its number `first` to `last`;
  // to be asked for before Run().
  void Watch(uint32_t xy, uint64_t address) { card_.Watch(xy, address); }
  void WatchCommands(uint32_t queue, uint32_t first, uint32_t last) {
    watched_queue_ = queue, watched_first_ = first, watched_last_ = last;
  }
  const std::vector<std::string>& watched() const { return watched_; }

  // What a queue has done.
  struct Outcome {
    std::array<uint64_t, static_cast<size_t>(abi::PrefetchId::kMax)> prefetch_kinds = {};
    std::array<uint64_t, static_cast<size_t>(abi::DispatchId::kMax)> dispatch_kinds = {};
    std::vector<std::vector<std::byte>> completions;  // records, the echoed command first
    uint32_t last_event = 0;
    uint32_t prefetch_commands = 0;
    uint32_t dispatch_commands = 0;
    uint32_t dispatch_s_commands = 0;
    uint32_t notifies = 0;  // of the prefetcher
    uint32_t completion_pages = 0;
    std::array<uint32_t, abi::kMaxSubDevices> notified = {};
    bool prefetch_ended = false;
    bool dispatch_ended = false;
    bool dispatch_s_ended = false;
  };
  const Outcome& outcome(uint32_t queue) const { return queues_[queue].outcome; }

 private:
  enum class Step { kDone, kBlocked };
  // An entry or an exec buffer: bytes, what they say, how far it is executed.
  struct Frame {
    std::vector<std::byte> bytes;
    std::vector<DecodedCommand> commands;
    size_t next = 0;
  };
  struct Queue {
    std::deque<std::vector<std::byte>> entries;
    std::deque<Frame> frames;       // at most an entry and the buffer it executes
    std::vector<std::byte> header;  // RELAY_INLINE_NOFLUSH: waits for its data
    std::vector<std::byte> ringbuffer;
    uint32_t ring_write_pointer = 0;
    uint32_t ring_offset = 0;
    uint32_t stalls = 0;
    std::array<uint32_t, abi::kMaxWriteOffsets> write_offsets = {};
    std::deque<std::vector<std::byte>> for_dispatch_s;
    std::array<uint32_t, abi::kMaxSubDevices> gos_sent = {};
    uint32_t worker_streams = 1;
    std::vector<uint32_t> go_targets;
    std::deque<std::string> recent;  // commands, for the report
    Outcome outcome;
  };

  StatusOr<Step> StepQueue(uint32_t index);
  StatusOr<Step> Execute(uint32_t index, const Frame& frame, const DecodedCommand& command);
  // What a relay command brings, behind the header that waits for it.
  StatusOr<std::vector<std::byte>> Relayed(Queue& queue, const DecodedCommand& command);
  Status FillRingbuffer(Queue& queue, const abi::PagedToRingbuffer& command);
  Status BeginExecBuffer(Queue& queue, const abi::ExecBuf& command);

  StatusOr<Step> ExecuteDispatch(uint32_t index, const DecodedDispatch& dispatch);
  StatusOr<Step> Wait(uint32_t index, const abi::Wait& wait);
  Status HostWrite(Queue& queue, const DecodedDispatch& dispatch);
  Status WriteLinear(Queue& queue, const DecodedDispatch& dispatch);
  Status WritePacked(Queue& queue, const DecodedDispatch& dispatch);
  Status WritePackedLarge(Queue& queue, const DecodedDispatch& dispatch);

  // Executes what dispatch_s may; true if anything.
  StatusOr<bool> DrainDispatchS(uint32_t index);
  StatusOr<Step> SendGo(uint32_t index, const abi::SendGoSignal& go);
  std::string Report(const Queue& queue) const;

  ReferenceCard card_;
  std::vector<Queue> queues_;
  uint32_t watched_queue_ = ~0u;
  uint32_t watched_first_ = 0;
  uint32_t watched_last_ = 0;
  std::vector<std::string> watched_;
};

}  // namespace ttfd::testing
