#include "tests/support/stream_queue.h"

#include <algorithm>
#include <cstring>

#include "runtime/abi/launch.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/stream.h"
#include "tests/support/stream_emit.h"

namespace ttfd::testing {

std::vector<std::byte> StreamWorld::Data(size_t size) {
  std::vector<std::byte> bytes(size);
  uint64_t state = uint64_t{random()} << 32 | random() | 1;
  for (size_t at = 0; at < size; at += sizeof(state)) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    std::memcpy(bytes.data() + at, &state, std::min(sizeof(state), size - at));
  }
  return bytes;
}

StreamQueue::StreamQueue(StreamWorld& world, uint32_t queue, std::vector<SubDevice> sub_devices)
    : world_(world), queue_(queue), sub_devices_(std::move(sub_devices)) {
  carried_.expected.resize(sub_devices_.size());
  SetWorkerStreams();
}

void StreamQueue::Emit(const std::function<void(RecordWriter&)>& write) {
  std::vector<std::byte> memory(64 * 1024);
  RecordWriter writer(memory);
  write(writer);
  memory.resize(writer.bytes_written());
  if (recording_ != nullptr) {
    recording_->bytes.insert(recording_->bytes.end(), memory.begin(), memory.end());
    return;
  }
  const uint32_t most = std::min(world_.options.command_ring_bytes / 2, abi::kMaxEntryBytes);
  if (entry_.size() + memory.size() > most) CloseEntry();
  entry_.insert(entry_.end(), memory.begin(), memory.end());
  if (world_.OneIn(3)) CloseEntry();
}

void StreamQueue::CloseEntry(bool stall_after) {
  if (entry_.empty()) return;
  world_.entries.push_back({queue_, std::move(entry_), stall_after || world_.OneIn(10)});
  entry_.clear();
}

uint32_t StreamQueue::InlineRoom() const {
  if (recording_ != nullptr) return 6000;
  const uint32_t entry = std::min(world_.options.command_ring_bytes / 2, abi::kMaxEntryBytes);
  return std::min(entry & ~63u, 32u * 1024) - abi::kCommandBytes;
}

void StreamQueue::Barrier() {
  auto wait = Command<abi::Wait>(abi::DispatchId::kWait);
  wait.flags = abi::kWaitBarrier;
  Dispatch(wait);
  for (Slice& slice : world_.slices) {
    if (slice.owner == queue_) slice.multicast_pending = false;
  }
}

void StreamQueue::SyncPrefetch() {
  auto wait = Command<abi::Wait>(abi::DispatchId::kWait);
  wait.flags = abi::kWaitBarrier | abi::kWaitNotifyPrefetch;
  Dispatch(wait);
  Emit([](RecordWriter& writer) { writer.Stall(); });
  for (Slice& slice : world_.slices) {
    if (slice.owner == queue_) slice.multicast_pending = slice.unknown_to_prefetch = false;
  }
}

void StreamQueue::Use(size_t slice) {
  if (recording_ != nullptr) recording_->slices.insert(slice);
}

void StreamQueue::BeforeWrite(size_t slice, bool multicast) {
  Use(slice);
  if (!multicast && world_.slices[slice].multicast_pending) Barrier();
  world_.slices[slice].multicast_pending |= multicast;
  world_.slices[slice].unknown_to_prefetch = true;
}

void StreamQueue::BeforeRead(size_t slice) {
  Use(slice);
  if (world_.slices[slice].unknown_to_prefetch) SyncPrefetch();
}

std::optional<size_t> StreamQueue::PickSlice(std::initializer_list<SliceKind> kinds,
                                             std::optional<size_t> but_not) {
  std::vector<size_t> found;
  for (size_t i = 0; i < world_.slices.size(); ++i) {
    const Slice& slice = world_.slices[i];
    const bool wanted = std::find(kinds.begin(), kinds.end(), slice.kind) != kinds.end();
    if (wanted && slice.owner == queue_ && i != but_not) found.push_back(i);
  }
  if (found.empty()) return std::nullopt;
  return found[world_.Pick(0, static_cast<uint32_t>(found.size()) - 1)];
}

void StreamQueue::Operation() {
  const uint32_t kind = world_.Pick(0, 31);
  if (kind < 16) return WriteSomething();
  switch (kind) {
    case 16:
    case 17:
      return Idle();
    case 18:
      return SetWriteOffsets();
    case 19:
    case 20:
      return FillRingbuffer();
    case 21:
      return SetRingbufferOffset();
    case 22:
      return HostEvent();
    case 23:
      return OwnCounter();
    case 24:
      return world_.OneIn(2) ? SyncPrefetch() : Barrier();
    case 25:
    case 26:
    case 27:
      return SendGo();
    case 28:
      if (recording_ == nullptr && world_.OneIn(4)) return SetWorkerStreams();
      return world_.OneIn(2) ? AddToCounter() : SetGoTargets();
    case 29:
      return recording_ == nullptr ? RecordTrace() : Idle();
    default:
      if (recording_ != nullptr) return WriteSomething();
      return world_.OneIn(3) ? PatchTrace() : ReplayTrace();
  }
}

void StreamQueue::Idle() {
  switch (world_.Pick(0, 3)) {
    case 0:
      return Dispatch(Command<abi::BareDispatch>(abi::DispatchId::kSink));
    case 1:
      return Dispatch(Command<abi::BareDispatch>(abi::DispatchId::kDebug),
                      BytesOf(Command<abi::BareDispatch>(abi::DispatchId::kSink)));
    case 2: {
      auto delay = Command<abi::Delay>(abi::DispatchId::kDelay);
      delay.delay = world_.Pick(0, 300);
      return Dispatch(delay);
    }
    default:
      Emit([data = world_.Data(world_.Pick(0, 400))](RecordWriter& w) { w.Debug(7, data); });
  }
}

// The first stays 0: what lies low in memory is reached with it.
void StreamQueue::SetWriteOffsets() {
  auto set = Command<abi::SetWriteOffset>(abi::DispatchId::kSetWriteOffset);
  set.offset_count = static_cast<uint8_t>(
      recording_ != nullptr ? abi::kMaxWriteOffsets : world_.Pick(1, abi::kMaxWriteOffsets));
  for (uint32_t i = 1; i < set.offset_count; ++i) {
    carried_.write_offsets[i] = world_.Pick(0, abi::kBufferAddress / 16) * 16;
  }
  Dispatch(set, std::as_bytes(std::span(carried_.write_offsets)).first(4u * set.offset_count));
}

void StreamQueue::FillRingbuffer() {
  const uint32_t ring = world_.options.ringbuffer_bytes;
  abi::PagedToRingbuffer fill{};
  const bool full = carried_.ring_write_pointer + 64 > ring;
  fill.flags = full || world_.OneIn(4) ? abi::kRingbufferReset : uint8_t{0};
  const uint32_t begin = fill.flags != 0 ? 0 : carried_.ring_write_pointer;
  const uint32_t log_page = world_.Pick(abi::kMinPageShift, 12);
  const auto banks = static_cast<uint32_t>(world_.layout.dram_xy.size());
  const uint32_t rounds = kRingSourceBytes >> log_page;
  const uint32_t first = world_.Pick(0, rounds * banks - 1);
  const uint32_t most = std::min(((rounds * banks - first) << log_page) / 64, (ring - begin) / 64);
  fill.log2_page_size = static_cast<uint8_t>(log_page);
  fill.start_page = static_cast<uint8_t>(first % 256);
  fill.base_address = kRingSourceBase + first / 256 * (256 / banks << log_page);
  if (first / 256 * 256 % banks != 0) fill.start_page = 0, fill.base_address = kRingSourceBase;
  fill.length = world_.Pick(1, std::min(most, 64u)) * 64;
  fill.wp_offset_update =
      fill.length + world_.Pick(0, (ring - begin - fill.length) / 64) * (world_.OneIn(4) ? 64 : 0);
  carried_.ring_offset = begin;
  carried_.ring_write_pointer = begin + fill.wp_offset_update;
  Emit([&](RecordWriter& writer) { writer.PagedToRingbuffer(fill); });
}

void StreamQueue::SetRingbufferOffset() {
  const uint32_t ring = world_.options.ringbuffer_bytes;
  const bool update = world_.OneIn(2);
  const uint32_t offset = update ? world_.Pick(0, ring / 64) * 64 : world_.Pick(0, ring / 16) * 16;
  carried_.ring_offset = offset;
  if (update) carried_.ring_write_pointer = offset;
  Emit([&](RecordWriter& writer) { writer.SetRingbufferOffset(offset, update); });
}

void StreamQueue::HostEvent() {
  auto header = Command<abi::WriteLinearHHost>(abi::DispatchId::kWriteLinearHHost);
  header.is_event = 1;
  header.tag = static_cast<uint16_t>(queue_);
  header.check = world_.random();
  header.length = sizeof(abi::EventRecord);
  const uint32_t payload[4] = {++events_, 0, 0, 0};
  Dispatch(header, std::as_bytes(std::span(payload)));
}

void StreamQueue::RecordEvent(uint32_t id) {
  Barrier();
  auto packed = Command<abi::WritePacked>(abi::DispatchId::kWritePacked);
  packed.flags = abi::kPackedNoStride | 4 << abi::kPackedTypeShift;
  packed.count = static_cast<uint16_t>(world_.layout.dispatch_xy.size());
  packed.size = world_.OneIn(2) ? 4 : 16;
  packed.address = abi::kControlBlockAddress + uint32_t{offsetof(abi::ControlBlock, last_event)} +
                   queue_ * uint32_t{sizeof(abi::Counter)};
  std::vector<uint32_t> extra = world_.layout.dispatch_xy;
  extra.resize(4);
  extra.push_back(id);
  extra.resize(8);
  Dispatch(packed, std::as_bytes(std::span(extra)));
  if (world_.OneIn(2)) HostEvent();
}

void StreamQueue::AwaitEvent(uint32_t of_queue, uint32_t id) {
  auto wait = Command<abi::Wait>(abi::DispatchId::kWait);
  wait.flags = abi::kWaitMemory;
  wait.address = abi::kControlBlockAddress + uint32_t{offsetof(abi::ControlBlock, last_event)} +
                 of_queue * uint32_t{sizeof(abi::Counter)};
  wait.count = id;
  Dispatch(wait);
}

void StreamQueue::Terminate() {
  Barrier();
  for (size_t i = 0; i < sub_devices_.size(); ++i) AwaitGos(i, false);
  CloseEntry();
  const auto end = Command<abi::BareDispatch>(abi::DispatchId::kTerminate);
  Dispatch(end);
  CloseEntry();
  DispatchS(end);
  CloseEntry();
  Emit([](RecordWriter& writer) { writer.Terminate(); });
  CloseEntry();
}

}  // namespace ttfd::testing
