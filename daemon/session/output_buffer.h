// What a session has to tell its client and the client has not been told yet.
//
// Prints, data and errors are kept in order, prints only up to a limit; progress, credit and the draining
// notice are state, told once in their newest form. Progress never overtakes the prints, data and errors it
// covers.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "daemon/session/reply.h"

namespace ttfd {

// Not thread-safe: guarded by its session's lock.
class OutputBuffer {
 public:
  // Keeps at most about `max_bytes` of prints: the oldest are dropped, and counted.
  void AddPrint(KernelPrintReply print, uint64_t max_bytes);
  void AddData(DataChunk chunk);
  // Extends the newest error instead, if this one merely goes on with it.
  void AddError(uint32_t queue, uint64_t first_value, uint64_t last_value, const ErrorReply& error);
  void SetProgress(uint32_t queue, uint64_t value);
  void SetCredit(const CreditReply& credit);
  void SetDraining(uint32_t within_ms);
  void SetWaiting(const LeaseWaitReply& wait);
  void SetWelcome(std::string lease_token);

  // At least one chunk if there is data, further ones while they fit `max_bytes`.
  SessionOutputBatch Take(uint64_t max_bytes);
  bool empty() const;
  uint64_t data_bytes() const { return data_bytes_; }
  size_t errors() const { return errors_.size(); }

 private:
  struct Progress {
    uint32_t queue;
    uint64_t value;
    uint64_t told;
  };
  void TakeProgress(SessionOutputBatch* batch);

  std::deque<KernelPrintReply> prints_;
  uint64_t print_bytes_ = 0;
  uint64_t prints_lost_ = 0;  // before the first of them
  std::deque<DataChunk> data_;
  uint64_t data_bytes_ = 0;
  std::deque<CommandErrorReply> errors_;
  std::vector<Progress> progress_;
  bool progress_changed_ = false;
  bool has_credit_ = false;
  CreditReply credit_;
  bool has_draining_ = false;
  uint32_t draining_within_ms_ = 0;
  bool has_waiting_ = false;
  LeaseWaitReply waiting_;
  bool has_welcome_ = false;
  std::string lease_token_;
};

}  // namespace ttfd
