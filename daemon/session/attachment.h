// One call's hold on a session: what daemon/rpc drives.
#pragma once

#include <memory>
#include <utility>

#include "daemon/session/session.h"

namespace ttfd {

// Thread-safe as the session is. Its number tells the session which call is speaking.
class Attachment final : public ClientSession {
 public:
  Attachment(std::shared_ptr<Session> session, uint64_t number, WelcomeReply welcome)
      : session_(std::move(session)), number_(number), welcome_(std::move(welcome)) {}

  const WelcomeReply& welcome() const override { return welcome_; }
  bool waiting() override { return session_->waiting(); }
  Status Submit(BatchRequest batch) override { return session_->Submit(number_, std::move(batch)); }
  Status Supply(DataChunk chunk) override { return session_->Supply(number_, std::move(chunk)); }
  Status Cancel(const CancelRequest& cancel) override { return session_->Cancel(number_, cancel); }
  Status Received(const ReceivedRequest& received) override {
    return session_->Received(number_, received);
  }
  void FinishInput(bool half_closed) override { session_->FinishInput(number_, half_closed); }
  void Leave() override { session_->Leave(number_); }
  bool resumable() override { return session_->resumable(); }
  bool WantsInput() override { return session_->WantsInput(number_); }
  SessionOutputBatch TakeOutput(uint64_t max_bytes) override {
    return session_->TakeOutput(number_, max_bytes);
  }
  bool finished(Status* status) override { return session_->finished(number_, status); }
  void Abandon(bool lost) override { session_->Abandon(number_, lost); }

 private:
  const std::shared_ptr<Session> session_;
  const uint64_t number_;
  const WelcomeReply welcome_;
};

}  // namespace ttfd
