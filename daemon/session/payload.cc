// Cuts streamed data into slices.
#include "daemon/session/payload.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "daemon/session/card_resources.h"

namespace ttfd {
namespace {

constexpr size_t kJoinBytes = 64 << 10;  // smaller chunks are joined: a slice costs a command

void AddSlice(WriteOperation& write, std::string slice, uint64_t limit) {
  if (!write.slices.empty() && slice.size() < kJoinBytes &&
      write.slices.back().size() + slice.size() <= limit) {
    write.slices.back() += slice;
  } else {
    write.slices.push_back(std::move(slice));
  }
}

}  // namespace

uint64_t InlineBytes(const Request& request) {
  if (const auto* write = std::get_if<WriteRequest>(&request)) return write->inline_bytes.size();
  if (const auto* load = std::get_if<LoadKernelRequest>(&request)) return load->inline_bytes.size();
  return 0;
}

void AddPayload(WriteOperation& write, std::string payload) {
  const Buffer& buffer = *write.buffer;
  uint64_t offset = write.offset + write.received - write.tail.size();
  write.received += payload.size();
  if (!write.tail.empty()) {
    write.tail += payload;
    payload = std::exchange(write.tail, {});
  }
  // The end of the write is where a unit ends; the end of a chunk need not be.
  const uint64_t whole = write.received == write.size
                             ? payload.size()
                             : CutAtUnit(buffer.page_bytes, offset, payload.size());
  if (whole < payload.size()) {
    write.tail = payload.substr(whole);
    payload.resize(whole);
  }
  const uint64_t limit =
      SliceLimit(buffer.memory, buffer.page_bytes, buffer.card->description.transfer_bytes);
  uint64_t done = 0;
  while (payload.size() - done > limit) {
    const uint64_t size = CutAtUnit(buffer.page_bytes, offset + done, limit);
    AddSlice(write, payload.substr(done, size), limit);
    done += size;
  }
  if (done > 0) payload.erase(0, done);
  if (!payload.empty()) AddSlice(write, std::move(payload), limit);
}

}  // namespace ttfd
