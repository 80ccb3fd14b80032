// Hang reports of a daemon: kept on disk by a thread of their own, listed and read for administrators.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/hang/hang_store.h"
#include "daemon/hang/hang_writer.h"
#include "runtime/base/status.h"

namespace ttfd {

struct HangReportsOptions : HangStoreOptions {
  HangWriterOptions writer = {};
};

// Thread-safe.
class HangReports {
 public:
  // Starts the thread unless the folder is empty: reports are not kept then.
  explicit HangReports(const HangReportsOptions& options)
      : folder_(options.folder),
        store_(std::make_shared<HangStore>(options)),
        writer_(folder_.empty() ? nullptr : std::make_unique<HangWriter>(store_, options.writer)) {}

  // Takes reports; null: they are not kept.
  HangKeeper* keeper() { return writer_.get(); }

  // These read files. UNAVAILABLE: a report is being written, and the disk does not respond.
  StatusOr<std::vector<HangSummary>> List() const {
    RETURN_IF_ERROR(Settle());
    return store_->List();
  }
  StatusOr<std::vector<HangStore::File>> Read(const HangReportId& id) const {
    RETURN_IF_ERROR(Settle());
    return store_->Read(id);
  }
  // As HangStore::last. Touches no disk.
  std::string last() const { return store_->last(); }

 private:
  // A reader of hang reports does not wait for a disk that does not respond.
  Status Settle() const {
    if (writer_ == nullptr || writer_->Settle()) return OkStatus();
    return Error(
        StatusCode::kUnavailable,
        "a hang report is being written to {}, whose disk does not answer; ask again later",
        folder_);
  }

  const std::string folder_;
  const std::shared_ptr<HangStore> store_;
  const std::unique_ptr<HangWriter> writer_;
};

}  // namespace ttfd
