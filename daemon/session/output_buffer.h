// What a session has to tell its client and the client has not been told yet; of a resumable session
// also what it has been told and has not said to have received.
//
// Prints, data and errors are kept in order, prints only up to a limit; progress, credit and the draining
// notice are state, told once in their newest form. Progress never overtakes the prints, data and errors it
// covers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "daemon/session/reply.h"

namespace ttfd {

// Not thread-safe: guarded by its session's lock.
class OutputBuffer {
 public:
  // From here on what is told is kept until it is received. Or not any more.
  void set_keep(bool keep);
  bool keeps() const { return keep_; }

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
  void AddHangReport(std::string id);

  // At least one chunk if there is data, further ones while they fit `max_bytes`.
  SessionOutputBatch Take(uint64_t max_bytes);

  // The client has this of what it was told.
  void Received(const ReceivedRequest& received);
  // Another attachment begins, whose client has this much, and prints up to this number: what it lacks is
  // told again.
  void Rewind(const ReceivedRequest& received, uint64_t prints);

  bool empty() const;  // nothing to tell
  bool owes_welcome() const { return has_welcome_; }
  bool all_received() const;  // and nothing that was told and may be asked for again
  uint64_t data_bytes() const { return data_bytes_; }
  // Of the data that its client has received, since the session began.
  uint64_t data_received() const { return data_received_; }
  size_t errors() const { return errors_.size() - told_errors_; }  // not told
  size_t kept_errors() const { return told_errors_; }

 private:
  struct Progress {
    uint32_t queue = 0;
    uint64_t value = 0;
    uint64_t told = 0;
    uint64_t received = 0;
  };
  uint64_t HeldBytes(const DataChunk& chunk) const;
  void TakePrints(SessionOutputBatch* batch);
  void TakeData(uint64_t max_bytes, SessionOutputBatch* batch);
  void TakeErrors(SessionOutputBatch* batch);
  void TakeProgress(SessionOutputBatch* batch);
  uint64_t ReceivedOf(uint32_t queue) const;

  // Of each the first `told_...` have been told and are kept.
  bool keep_ = false;
  std::deque<KernelPrintReply> prints_;
  size_t told_prints_ = 0;
  uint64_t print_bytes_ = 0;
  uint64_t last_print_ = 0;       // number of the newest
  uint64_t last_told_print_ = 0;  // or dropped before one that was told
  std::deque<DataChunk> data_;
  size_t told_data_ = 0;
  uint64_t data_bytes_ = 0;
  uint64_t data_received_ = 0;
  std::deque<CommandErrorReply> errors_;
  size_t told_errors_ = 0;
  std::vector<Progress> progress_;
  bool progress_changed_ = false;
  bool has_credit_ = false;
  CreditReply credit_;
  std::deque<std::string> hang_reports_;
  bool draining_ = false;
  bool has_draining_ = false;
  uint32_t draining_within_ms_ = 0;
  bool has_waiting_ = false;
  LeaseWaitReply waiting_;
  bool has_welcome_ = false;
  std::string lease_token_;
};

}  // namespace ttfd
