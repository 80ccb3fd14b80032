// Traces: recording in pieces that fit into a message, and what a replay changes.
#include "ttfd/trace.h"

#include <algorithm>

#include "client/cpp/src/convert.h"
#include "client/cpp/src/session_core.h"

namespace ttfd::client {
namespace {

// Of the launches of one command: a message holds one beside what has gathered already.
constexpr size_t kPieceBytes = 256 << 10;
constexpr size_t kCommandBytes = 64;  // of a command that records, without its launches

struct Piece {
  std::span<const LaunchRequest> launches;
  size_t bytes;
};

// As many launches in each as fit, but at least one; no launches are one piece, which the daemon
// refuses.
std::vector<Piece> Split(std::span<const LaunchRequest> launches) {
  std::vector<Piece> pieces;
  do {
    Piece piece{{}, kCommandBytes};
    size_t count = 0;
    while (count < launches.size()) {
      const size_t bytes = EncodedBytes(launches[count]);
      if (count != 0 && piece.bytes + bytes > kPieceBytes) {
        break;
      }
      piece.bytes += bytes;
      ++count;
    }
    piece.launches = launches.first(count);
    launches = launches.subspan(count);
    pieces.push_back(piece);
  } while (!launches.empty());
  return pieces;
}

void FillRecordTrace(uint64_t handle, std::span<const LaunchRequest> launches, bool more,
                     v1::RecordTrace* record) {
  record->set_handle(handle);
  record->set_more(more);
  for (const LaunchRequest& launch : launches) {
    ToProto(launch, record->add_launches());
  }
}

}  // namespace

ReplayRequest& ReplayRequest::Patch(uint32_t launch, const LaunchRequest& arguments) {
  for (const LaunchRequest::Arguments& one : arguments.arguments()) {
    patches_.push_back({launch, one});
  }
  return *this;
}

Status SessionCore::RecordTrace(uint32_t queue, uint64_t handle,
                                std::span<const LaunchRequest> launches) {
  const std::vector<Piece> pieces = Split(launches);
  Position first;
  {
    MutexLock lock(&mu_);
    if (Status status = AwaitRoom(queue); !status.ok()) {
      return status;
    }
    recording_.insert(queue);
    Status status;
    for (size_t i = 0; i < pieces.size() && status.ok(); ++i) {
      const bool more = i + 1 != pieces.size();
      const Position position = Append(queue, pieces[i].bytes, 0, [&](v1::Command* command) {
        FillRecordTrace(handle, pieces[i].launches, more, command->mutable_record_trace());
      });
      first = i == 0 ? position : first;
      status = more ? AwaitSpace() : Status();
    }
    if (!status.ok() && !ended_ && !bye_.half_closed) {
      // The daemon gives no more credit. Half a trace would go on in the next one, so it is ended.
      Append(queue, kCommandBytes, 0, [&](v1::Command* command) {
        FillRecordTrace(handle, {}, false, command->mutable_record_trace());
      });
      AppendFree(handle);
    }
    recording_.erase(queue);
    recorded_.NotifyAll();
    if (!status.ok()) {
      return status;
    }
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (Status status = WaitTold({queue, first.value + i}); !status.ok()) {
      return status;
    }
  }
  return Status();
}

}  // namespace ttfd::client
