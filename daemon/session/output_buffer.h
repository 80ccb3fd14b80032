// Contents of a session's outbox: kernel prints, read data, errors, progress and notices.
//
// Prints, data and errors are kept in order, prints only up to a limit; progress is state, taken in its newest form.
// Progress is taken only after the prints, data and errors it covers. What is taken is the transport's
// (daemon/rpc/link.h), which sends it again if it must.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/reply.h"

namespace ttfd {

// Not thread-safe: guarded by the lock of its outbox.
class OutputBuffer {
 public:
  // Keeps at most about `max_bytes` of prints: the oldest are dropped, and counted.
  void AddPrint(KernelPrintReply print, uint64_t max_bytes);
  void AddData(DataChunk chunk);
  // A read of so many bytes begins, or has ended: until then they count as data.
  void BeginRead(uint64_t bytes) { reads_bytes_ += bytes; }
  void EndRead(uint64_t bytes) { reads_bytes_ -= bytes; }
  // Extends the newest error of the queue instead, if that has the same cause and ends just before.
  void AddError(uint32_t queue, uint64_t first_value, uint64_t last_value, const ErrorReply& error);
  // The queue could not be opened: an error with value 0. Replaces one of that queue.
  void SetOpenError(uint32_t queue, const ErrorReply& error) { open_errors_[queue] = error; }
  void SetProgress(uint32_t queue, uint64_t value);
  void SetWaiting(const LeaseWaitReply& wait) { waiting_ = wait; }
  void SetWelcome(std::string lease_token);

  // One message's content: at least one chunk if there is data, further ones while they fit `max_bytes`.
  SessionOutputBatch Take(uint64_t max_bytes);
  // A Take since the last call has returned something.
  bool TestAndClearTaken() { return std::exchange(taken_, false); }

  bool empty() const;
  bool has_welcome() const { return welcome_.has_value(); }
  // An error, or progress, has not been taken.
  bool has_results() const {
    return progress_changed_ || !errors_.empty() || !open_errors_.empty();
  }
  // Memory of the data: payload, and the chunks themselves; of reads under way.
  uint64_t data_bytes() const { return data_bytes_ + reads_bytes_; }
  // Memory of prints and errors.
  uint64_t text_bytes() const { return print_bytes_ + error_bytes_; }

 private:
  struct Progress {
    uint32_t queue = 0;
    uint64_t value = 0;
    uint64_t taken = 0;
  };
  void TakePrints(SessionOutputBatch* batch);
  void TakeData(uint64_t max_bytes, SessionOutputBatch* batch);
  void TakeErrors(SessionOutputBatch* batch);
  void TakeProgress(SessionOutputBatch* batch);

  std::deque<KernelPrintReply> prints_;
  uint64_t print_bytes_ = 0;
  uint64_t lost_prints_ = 0;  // before prints_.front(), since prints were taken
  std::deque<DataChunk> data_;
  uint64_t data_bytes_ = 0;
  uint64_t reads_bytes_ = 0;
  std::map<uint32_t, ErrorReply> open_errors_;  // by queue
  std::deque<CommandErrorReply> errors_;
  uint64_t error_bytes_ = 0;
  std::vector<Progress> progress_;
  bool progress_changed_ = false;
  std::optional<LeaseWaitReply> waiting_;
  std::optional<std::string> welcome_;  // its lease token
  bool taken_ = false;
};

}  // namespace ttfd
