// Copies between host memory and the L1 that stands in for it.
#include "runtime/queue/host_bridge.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"

namespace ttfd {
namespace {

// Pointers and counts of the card.
constexpr size_t kHeadBytes = abi::kFetchPointerOffset + sizeof(abi::FetchPointer);
// Bytes of a record that are read first: all of an event.
constexpr size_t kFirstBytes = 64;
static_assert(kFirstBytes >= sizeof(abi::EventRecord));

}  // namespace

Status HostBridge::Send(ByteSpan part) {
  return window_.Write(address_ + static_cast<uint64_t>(part.data() - memory_.data()), part);
}

Status HostBridge::Read(MutableByteSpan part) {
  return window_.Read(address_ + static_cast<uint64_t>(part.data() - memory_.data()), part);
}

Status HostBridge::Fetch() {
  std::array<std::byte, kHeadBytes> head;
  RETURN_IF_ERROR(window_.Read(address_, head));
  const auto written =
      LoadAt<uint32_t>(head.data() + offsetof(abi::CompletionPointer, pages_written));
  const auto pages = static_cast<uint32_t>(ring_.size() / abi::kCompletionPageBytes);
  // A pointer or a record that cannot be right is for the completion queue to find.
  while (written != pages_ && written - pages_ <= pages) {
    ASSIGN_OR_RETURN(const uint32_t taken, FetchRecord(written - pages_));
    if (taken == 0) break;
    pages_ += taken;
  }
  std::memcpy(memory_.data(), head.data(), head.size());
  return OkStatus();
}

StatusOr<uint32_t> HostBridge::FetchRecord(uint32_t there) {
  const auto pages = static_cast<uint32_t>(ring_.size() / abi::kCompletionPageBytes);
  const MutableByteSpan to_end = ring_.subspan(size_t{pages_ % pages} * abi::kCompletionPageBytes);
  RETURN_IF_ERROR(Read(to_end.first(kFirstBytes)));
  const uint64_t length = LoadAt<abi::WriteLinearHHost>(to_end.data()).length;
  if (length == 0 || length > uint64_t{there} * abi::kCompletionPageBytes) return 0;
  if (length > kFirstBytes) {
    const size_t here = std::min<size_t>(length, to_end.size());
    RETURN_IF_ERROR(Read(to_end.subspan(kFirstBytes, here - kFirstBytes)));
    if (length > here) RETURN_IF_ERROR(Read(ring_.first(length - here)));
  }
  return static_cast<uint32_t>(DivideRoundUp<uint64_t>(length, abi::kCompletionPageBytes));
}

}  // namespace ttfd
