// A server stream of FilePart: files of a hang report, one after the other.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <vector>

#include "daemon/hang/hang_store.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd {

class FilesCall final : public grpc::ServerWriteReactor<v1::FilePart> {
 public:
  // Sends the files, or refuses with the error. The call owns itself until gRPC is done with it.
  static FilesCall* Start(StatusOr<std::vector<HangStore::File>> files);

  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mu_);
  void OnDone() override { delete this; }

 private:
  explicit FilesCall(std::vector<HangStore::File> files) : files_(std::move(files)) {}
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishLocked(const Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::vector<HangStore::File> files_;
  Mutex mu_;
  v1::FilePart part_ ABSL_GUARDED_BY(mu_);  // untouched while a write is under way
  size_t file_ ABSL_GUARDED_BY(mu_) = 0;
  size_t offset_ ABSL_GUARDED_BY(mu_) = 0;
  bool said_end_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ttfd
