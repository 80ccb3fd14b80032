// A stream of files.
#include "daemon/rpc/files_call.h"

#include <utility>

#include "daemon/rpc/call_status.h"

namespace ttfd {
namespace {

constexpr size_t kFilePartBytes = 256 * 1024;

}  // namespace

FilesCall* FilesCall::Start(StatusOr<std::vector<HangStore::File>> files) {
  const Status status = files.status();
  auto* const call = new FilesCall(files.ok() ? *std::move(files) : std::vector<HangStore::File>());
  MutexLock lock(&call->mu_);
  if (status.ok()) {
    call->WriteNext();
  } else {
    call->FinishLocked(status);
  }
  return call;
}

void FilesCall::WriteNext() {
  part_.Clear();
  while (file_ < files_.size() && offset_ == files_[file_].bytes.size()) {
    ++file_;
    offset_ = 0;
  }
  if (file_ < files_.size()) {
    const HangStore::File& file = files_[file_];
    part_.set_name(file.name);
    part_.set_payload(file.bytes.substr(offset_, kFilePartBytes));
    offset_ += part_.payload().size();
  } else if (std::exchange(said_end_, true)) {
    FinishLocked(OkStatus());
    return;
  }
  StartWrite(&part_);
}

void FilesCall::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  if (ok && !finished_) WriteNext();
}

void FilesCall::OnCancel() {
  MutexLock lock(&mu_);
  FinishLocked(Error(StatusCode::kCancelled, "the client has gone"));
}

void FilesCall::FinishLocked(const Status& status) {
  if (finished_) return;
  finished_ = true;
  Finish(ToGrpc(status));
}

}  // namespace ttfd
