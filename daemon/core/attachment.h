// A session as one of its connections drives it: what daemon/rpc holds.
#pragma once

#include <memory>
#include <utility>

#include "daemon/session/session.h"

namespace ttfd {

// Thread-safe as the session is. Its output names the connection that is calling.
class Attachment final : public SessionPort {
 public:
  Attachment(std::shared_ptr<Session> session, const SessionOutput* output, WelcomeReply welcome)
      : session_(std::move(session)), output_(output), welcome_(std::move(welcome)) {}

  const WelcomeReply& welcome() const override { return welcome_; }
  const std::shared_ptr<SessionTransport>& transport() const override {
    return session_->channel().transport();
  }
  Status Accept(MessageRequest message, absl::FunctionRef<void()> accepted) override {
    return session_->channel().Accept(output_, std::move(message), accepted);
  }
  SessionOutputBatch TakeOutput(uint64_t max_bytes) override {
    return session_->channel().TakeOutput(output_, max_bytes);
  }
  Ending CheckEnd(bool acknowledged, Status* status) override {
    return session_->channel().CheckEnd(output_, acknowledged, status);
  }
  void Abandon(bool lost) override { session_->channel().Abandon(output_, lost); }

 private:
  const std::shared_ptr<Session> session_;
  const SessionOutput* const output_;
  const WelcomeReply welcome_;
};

}  // namespace ttfd
