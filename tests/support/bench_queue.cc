#include "tests/support/bench_queue.h"

#include <algorithm>
#include <cstring>

#include "runtime/abi/control_block.h"
#include "runtime/abi/l1_map.h"
#include "runtime/base/bits.h"
#include "runtime/hw/noc.h"

namespace ttfd::testing {
namespace {

constexpr uint32_t kFetchQueueAddress = 0x0A000;
constexpr uint32_t kDispatchRingAddress = 0x20000;
constexpr uint32_t kDispatchSRingAddress = 0x10000;
constexpr uint32_t kCommandRingAddress = 0x10000;
constexpr uint64_t kHostDataBytes = 1 << 20;

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

}  // namespace

StatusOr<std::unique_ptr<BenchQueue>> BenchQueue::Create(Device& device, const BenchRings& rings,
                                                         uint32_t hardware_queue,
                                                         const abi::BootBlock& block) {
  std::unique_ptr<BenchQueue> queue(new BenchQueue(device, rings, block));
  queue->block_.hardware_queue = hardware_queue;
  RETURN_IF_ERROR(queue->Open());
  return queue;
}

Status BenchQueue::Open() {
  completion_offset_ =
      AlignUp(uint64_t{abi::kIssueRingOffset} + rings_.issue_ring_bytes, uint64_t{4096});
  host_data_offset_ =
      completion_offset_ + uint64_t{rings_.completion_ring_pages} * abi::kCompletionPageBytes;
  ASSIGN_OR_RETURN(host_, device_.AllocateHostMemory(host_data_offset_ + kHostDataBytes));
  ASSIGN_OR_RETURN(prefetch_window_, device_.OpenWindow(UnicastTarget(prefetch_tile())));
  ASSIGN_OR_RETURN(dispatch_window_, device_.OpenWindow(UnicastTarget(dispatch_tile())));
  const auto low = [&](uint64_t offset) {
    return static_cast<uint32_t>(host_->noc_address() + offset);
  };
  const auto high = [&](uint64_t offset) {
    return static_cast<uint32_t>((host_->noc_address() + offset) >> 32);
  };
  block_.prefetch_xy = Xy(prefetch_tile());
  block_.dispatch_xy = Xy(dispatch_tile());
  block_.issue_ring_low = low(abi::kIssueRingOffset);
  block_.issue_ring_high = high(abi::kIssueRingOffset);
  block_.issue_ring_bytes = rings_.issue_ring_bytes;
  block_.fetch_queue_address = kFetchQueueAddress;
  block_.fetch_queue_entries = rings_.fetch_queue_entries;
  block_.command_ring_address = kCommandRingAddress;
  block_.command_ring_bytes = rings_.command_ring_bytes;
  block_.scratch_address = kCommandRingAddress + rings_.command_ring_bytes;
  block_.scratch_bytes = rings_.scratch_bytes;
  block_.ringbuffer_address = block_.scratch_address + rings_.scratch_bytes;
  block_.ringbuffer_bytes = rings_.ringbuffer_bytes;
  block_.dispatch_ring_address = kDispatchRingAddress;
  block_.dispatch_ring_pages = rings_.dispatch_ring_pages;
  block_.dispatch_s_ring_address = kDispatchSRingAddress;
  block_.dispatch_s_ring_pages = rings_.dispatch_s_ring_pages;
  block_.completion_ring_low = low(completion_offset_);
  block_.completion_ring_high = high(completion_offset_);
  block_.completion_ring_pages = rings_.completion_ring_pages;
  block_.completion_pointer_low = low(abi::kCompletionPointerOffset);
  block_.completion_pointer_high = high(abi::kCompletionPointerOffset);
  return OkStatus();
}

StatusOr<bool> BenchQueue::HasRoom(uint32_t bytes) {
  const uint32_t begin = abi::PlaceEntry(issue_position_, bytes, rings_.issue_ring_bytes);
  ASSIGN_OR_RETURN(const uint32_t fetched,
                   ReadWord(*prefetch_window_, abi::kControlBlockAddress +
                                                   offsetof(abi::ControlBlock, entries_fetched)));
  const uint32_t waiting = entries_sent_ - fetched;
  while (in_flight_.size() > waiting) in_flight_.erase(in_flight_.begin());
  const bool overlaps = std::any_of(in_flight_.begin(), in_flight_.end(), [&](const auto& other) {
    return begin < other.second && begin + bytes > other.first;
  });
  return waiting < rings_.fetch_queue_entries && !overlaps;
}

Status BenchQueue::AwaitSlot(uint32_t bytes) {
  for (uint32_t tries = 0; tries < 100'000; ++tries) {  // harts may be very slow
    ASSIGN_OR_RETURN(const bool room, HasRoom(bytes));
    if (room) return OkStatus();
    RETURN_IF_ERROR(device_.Advance(1000).status());
  }
  return Internal("the prefetcher takes no entries");
}

Status BenchQueue::Send(ByteSpan entry, bool stall_after) {
  const auto size = static_cast<uint32_t>(entry.size());
  RETURN_IF_ERROR(AwaitSlot(size));
  const uint32_t begin = abi::PlaceEntry(issue_position_, size, rings_.issue_ring_bytes);
  std::memcpy(host_->bytes().data() + abi::kIssueRingOffset + begin, entry.data(), entry.size());
  issue_position_ = begin + size;
  in_flight_.emplace_back(begin, begin + size);
  const uint32_t slot = entries_sent_++ % rings_.fetch_queue_entries;
  const auto value = static_cast<uint16_t>(size >> abi::kFetchSlotUnitShift |
                                           (stall_after ? abi::kFetchSlotStall : 0));
  return prefetch_window_->Write(kFetchQueueAddress + 2 * slot, BytesOf(value));
}

abi::CompletionPointer BenchQueue::completion_pointer() {
  return LoadAt<abi::CompletionPointer>(host_->bytes().data() + abi::kCompletionPointerOffset);
}

StatusOr<std::vector<std::byte>> BenchQueue::TakeCompletionPage() {
  std::vector<std::byte> page;
  if (completion_pointer().pages_written == completion_taken_) return page;
  const uint64_t at =
      completion_offset_ +
      uint64_t{completion_taken_ % rings_.completion_ring_pages} * abi::kCompletionPageBytes;
  const auto bytes = host_->bytes().subspan(at, abi::kCompletionPageBytes);
  page.assign(bytes.begin(), bytes.end());
  std::fill(bytes.begin(), bytes.end(), std::byte{0xEE});
  ++completion_taken_;
  RETURN_IF_ERROR(
      WriteWord(*dispatch_window_,
                abi::kControlBlockAddress + offsetof(abi::ControlBlock, completion_pages_read),
                completion_taken_));
  return page;
}

}  // namespace ttfd::testing
