// Cuts streamed data into slices.
#include "daemon/session/payload.h"

#include <utility>

#include "runtime/command/command.h"

namespace ttfd {
namespace {

constexpr size_t kSliceAlignment = 16;   // WriteCommand
constexpr size_t kJoinBytes = 64 << 10;  // smaller chunks are joined: a slice costs a command

}  // namespace

void AddPayload(WriteTask& write, std::string payload) {
  write.received += payload.size();
  if (!write.tail.empty()) {
    write.tail += payload;
    payload = std::exchange(write.tail, {});
  }
  const size_t whole = payload.size() / kSliceAlignment * kSliceAlignment;
  if (whole < payload.size()) {
    write.tail = payload.substr(whole);
    payload.resize(whole);
  }
  if (payload.empty()) return;
  if (!write.slices.empty() && payload.size() < kJoinBytes &&
      write.slices.back().size() + payload.size() <= kMaxTransferBytes) {
    write.slices.back() += payload;
  } else {
    write.slices.push_back(std::move(payload));
  }
}

}  // namespace ttfd
