// A client in values that loses its connection when a test says so, resumes, and sends again what may be
// lost. It checks that everything comes exactly once.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/session/daemon_core.h"
#include "daemon/session/payload.h"

namespace ttfd {

class ResumingClient final : public SessionOutput {
 public:
  static constexpr uint32_t kPid = 43;
  using Message = std::variant<BatchRequest, DataChunk, CancelRequest>;

  // What a client has seen of its commands; the same however often the connection was lost.
  struct Seen {
    std::map<uint32_t, uint64_t> progress;
    std::map<std::pair<uint32_t, uint64_t>, std::string> data;
    std::map<std::pair<uint32_t, uint64_t>, std::string> errors;  // "REASON 2:7", with the cause
    std::vector<std::string> prints;                              // "0:4 the text"
    bool operator==(const Seen&) const = default;
  };

  ResumingClient(DaemonCore& core, uint32_t grace_ms) : core_(core) {
    hello_.min_revision = hello_.max_revision = 1;
    hello_.client_name = "resuming";
    hello_.resume_grace_ms = grace_ms;
  }
  ~ResumingClient() override {
    Status status;
    if (session_ != nullptr && !session_->finished(&status)) session_->Abandon(false);
  }

  void OutputReady() override {}

  // Opens the session, or resumes it and sends again what `resend` says.
  Status Open(bool resend = true, uint32_t uid = 1000) {
    PeerIdentity peer;
    peer.uid = uid;
    peer.pid = kPid;
    if (welcomed_) {
      hello_.attach = AttachKind::kResume;
      hello_.resume = {welcome_.session, welcome_.token, Has(), prints_};
      std::erase_if(seen_.errors, [this](const auto& error) { return !Ended(error.first); });
    }
    ASSIGN_OR_RETURN(session_, core_.Open(peer, hello_, this));
    welcome_ = session_->welcome();
    welcomed_ = true;
    credit_bytes_ = welcome_.credit.bytes;
    payload_sent_ = 0;
    if (!resend) return OkStatus();
    for (const Message& message : sent_) RETURN_IF_ERROR(Deliver(message));
    return OkStatus();
  }

  // The message is lost on its way if the connection is.
  Status Send(Message message) {
    sent_.push_back(std::move(message));
    return connected() ? Deliver(sent_.back()) : OkStatus();
  }

  // Takes one message. With `lost` it does not arrive. False: there was none.
  bool Take(bool lost = false, uint64_t max_bytes = 4096) {
    if (!connected()) return false;
    SessionOutputBatch batch = session_->TakeOutput(max_bytes);
    if (batch.empty()) return false;
    if (lost) return true;
    if (batch.has_credit) credit_bytes_ = std::max(credit_bytes_, batch.credit.bytes);
    for (const KernelPrintReply& print : batch.prints) {
      seen_.prints.push_back(At(print.position) + " " + print.print.text);
      prints_ += 1 + print.lost;
    }
    for (const DataChunk& chunk : batch.data) {
      std::string& data = seen_.data[{chunk.queue, chunk.value}];
      EXPECT_EQ(chunk.offset, data.size()) << "of command " << chunk.value;
      data += chunk.payload;
    }
    for (const CommandErrorReply& error : batch.errors) {
      for (uint64_t value = error.first_value; value <= error.last_value; ++value) {
        const bool added = seen_.errors
                               .emplace(std::pair(error.queue, value),
                                        error.error.reason + " " + At(error.error.cause))
                               .second;
        EXPECT_TRUE(added) << "error of command " << value << " came twice";
      }
    }
    for (const QueuePosition& position : batch.progress) {
      EXPECT_GT(position.value, seen_.progress[position.queue]) << "progress is news";
      seen_.progress[position.queue] = position.value;
    }
    return true;
  }

  // Says what it has.
  void Acknowledge() {
    if (!connected()) return;
    const Status status = session_->Received(Has());
    EXPECT_TRUE(status.ok()) << StatusMessage(status);
  }

  void Lose() {
    if (!connected()) return;
    session_->Abandon(true);
    session_.reset();
  }

  bool connected() const { return session_ != nullptr; }
  ClientSession& session() { return *session_; }
  std::shared_ptr<ClientSession> TakeSession() { return std::move(session_); }
  const Seen& seen() const { return seen_; }
  // Of payload, with this connection.
  uint64_t credit_left() const { return credit_bytes_ - payload_sent_; }
  const WelcomeReply& welcome() const { return welcome_; }
  WelcomeReply& welcome() { return welcome_; }
  HelloRequest& hello() { return hello_; }

 private:
  static std::string At(QueuePosition position) {
    return std::to_string(position.queue) + ":" + std::to_string(position.value);
  }
  bool Ended(std::pair<uint32_t, uint64_t> command) const {
    const auto found = seen_.progress.find(command.first);
    return found != seen_.progress.end() && command.second <= found->second;
  }
  ReceivedRequest Has() const {
    ReceivedRequest has;
    for (const auto& [queue, value] : seen_.progress) has.ended.push_back({queue, value});
    for (const auto& [command, data] : seen_.data) {
      if (!Ended(command)) has.data.push_back({{command.first, command.second}, data.size()});
    }
    return has;
  }
  Status Deliver(const Message& message) {
    if (const auto* batch = std::get_if<BatchRequest>(&message)) {
      for (const Request& request : batch->commands) payload_sent_ += InlineBytes(request);
      return session_->Submit(*batch);
    }
    if (const auto* chunk = std::get_if<DataChunk>(&message)) {
      payload_sent_ += chunk->payload.size();
      return session_->Supply(*chunk);
    }
    return session_->Cancel(std::get<CancelRequest>(message));
  }

  DaemonCore& core_;
  HelloRequest hello_;
  WelcomeReply welcome_;
  bool welcomed_ = false;
  std::shared_ptr<ClientSession> session_;
  std::vector<Message> sent_;
  Seen seen_;
  uint64_t prints_ = 0;
  uint64_t credit_bytes_ = 0;
  uint64_t payload_sent_ = 0;
};

}  // namespace ttfd
