// A daemon without a card: connections and sessions.
#include "tests/support/fake_ttfd_daemon.h"

#include <algorithm>

#include "tests/support/fake_ttfd_session.h"

namespace ttfd::testing {
namespace {

google::rpc::Status Plain(int code, const std::string& message) {
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(message);
  return status;
}

FakeReplies EndWith(google::rpc::Status end) { return {{}, std::move(end)}; }

FakeReplies BreakConnection() { return EndWith(Plain(kUnavailable, "the connection is cut")); }

}  // namespace

FakeDaemon::FakeDaemon(FakeOptions options) : options_(options) {}
FakeDaemon::~FakeDaemon() = default;

std::set<uint64_t> FakeDaemon::handles() const {
  return newest_ == nullptr ? std::set<uint64_t>() : newest_->handles();
}

void FakeDaemon::FillDevices(google::protobuf::RepeatedPtrField<v1::Device>* devices) const {
  for (uint32_t index = 0; index < options_.devices; ++index) {
    v1::Device* device = devices->Add();
    device->set_index(index);
    device->set_board("p150");
    device->set_backend(v1::BACKEND_EMBEDDED);
    device->set_grid_x(13);
    device->set_grid_y(10);
    device->set_dram_banks(8);
    device->set_dram_alignment(64);
    device->set_circular_buffer_bytes(1 << 20);
    device->set_transfer_alignment(4);
  }
}

void FakeDaemon::FillLimits(v1::Limits* limits) const {
  limits->set_message_bytes(options_.message_bytes);
  limits->set_chunk_bytes(options_.chunk_bytes);
  limits->set_inline_bytes(options_.inline_bytes);
  limits->set_commands_per_batch(options_.commands_per_batch);
  limits->set_command_bytes(options_.command_bytes);
  limits->set_nested_messages(131072);
  limits->set_unacknowledged_bytes(options_.unacknowledged_bytes);
  limits->set_reconnect_timeout_ms(options_.reconnect_timeout_ms);
}

// A scripted loss at this message, once.
bool FakeDaemon::Break(const v1::ClientMessage& message, uint64_t* at) {
  const bool now = *at != 0 && message.sequence() == *at;
  *at = now ? 0 : *at;
  return now;
}

FakeReplies FakeDaemon::Call::HandleHello(const v1::ClientMessage& message) {
  const FakeOptions& options = daemon_->options_;
  v1::ClientMessage hello_alone;
  *hello_alone.mutable_hello() = message.hello();
  if (!message.has_hello() || hello_alone.ByteSizeLong() != message.ByteSizeLong()) {
    return EndWith(FakeError(kInvalidArgument, "INVALID", "Hello is alone in the first message",
                             {{"field", "hello"}}));
  }
  if (options.faults.refuse_hello) {
    return EndWith(FakeError(kUnimplemented, "UNSUPPORTED", "this daemon speaks revision 2 only",
                             {{"field", "hello.max_revision"}}));
  }
  v1::ServerMessage reply;
  v1::Welcome* welcome = reply.mutable_welcome();
  welcome->set_revision(options.faults.welcome_revision);
  welcome->set_daemon_version("fake");
  welcome->set_device(message.hello().device());
  daemon_->FillDevices(welcome->mutable_devices());
  daemon_->FillLimits(welcome->mutable_limits());
  if (message.hello().has_resume()) {
    daemon_->seen_.hellos.push_back(message.hello());
    return Resume(message.hello(), std::move(reply));
  }
  daemon_->seen_ = FakeSeen();
  daemon_->seen_.hellos.push_back(message.hello());
  const uint64_t id = daemon_->next_session_++;
  session_ = std::make_shared<FakeSession>(options, &daemon_->kernels_, id,
                                           message.hello().reconnect_timeout_ms() != 0);
  daemon_->sessions_[id] = daemon_->newest_ = session_;
  FakeReplies replies;
  for (uint32_t i = options.faults.wait_notices; i > 0; --i) {
    v1::ServerMessage notice;
    notice.add_notices()->mutable_waiting()->set_position(i);
    replies.messages.push_back(notice);
  }
  if (!options.faults.withhold_welcome) {
    session_->FillWelcome(welcome);
    replies.messages.push_back(std::move(reply));
  }
  return replies;
}

FakeReplies FakeDaemon::Call::Resume(const v1::Hello& hello, v1::ServerMessage reply) {
  const v1::Resume& resume = hello.resume();
  const auto found = daemon_->sessions_.find(resume.session());
  if (found == daemon_->sessions_.end() || daemon_->options_.faults.lose_sessions ||
      resume.token() != found->second->token()) {
    return EndWith(FakeError(kNotFound, "SESSION_LOST", "no such session"));
  }
  session_ = found->second;
  session_->link().Resume(resume.received());
  reply.mutable_welcome()->set_received(session_->link().accepted());
  session_->FillWelcome(reply.mutable_welcome());
  FakeReplies replies;
  replies.messages.push_back(std::move(reply));
  for (v1::ServerMessage& message : session_->link().Take()) {
    replies.messages.push_back(std::move(message));
  }
  return replies;
}

FakeReplies FakeDaemon::Call::Handle(const v1::ClientMessage& message) {
  if (session_ == nullptr) {
    return HandleHello(message);
  }
  FakeSeen& seen = daemon_->seen_;
  FakeOptions& script = daemon_->options_;
  if (message.sequence() != 0) {
    seen.sequences.push_back(message.sequence());
  } else {
    ++seen.acks;
  }
  if (daemon_->Break(message, &script.faults.break_before) ||
      (script.faults.break_twice_before != 0 &&
       message.sequence() == script.faults.break_twice_before)) {
    HandleLoss();
    return BreakConnection();
  }
  bool fresh = false;
  if (std::optional<google::rpc::Status> problem = session_->link().Receive(message, &fresh)) {
    EndSession();
    return EndWith(*std::move(problem));
  }
  if (fresh) {
    session_->Record(message, &seen);
    if (message.has_leave()) {
      EndSession();
      return EndWith(Plain(kCancelled, "the client has left"));
    }
    if (!session_->Handle(message)) {
      EndSession();
      return EndWith(Plain(kInternal, "the daemon has broken off"));
    }
  }
  if (daemon_->Break(message, &script.faults.break_after)) {
    HandleLoss();
    return BreakConnection();
  }
  FakeReplies replies{session_->link().Take(), std::nullopt};
  if (session_->finished()) {
    EndSession();
    replies.end = Plain(0, "");
  }
  return replies;
}

void FakeDaemon::Call::HandleLoss() {
  if (session_ != nullptr && !session_->resumable()) {
    EndSession();
  }
  session_ = nullptr;
}

void FakeDaemon::Call::EndSession() {
  if (session_ == daemon_->newest_) {
    daemon_->seen_.ended = true;
  }
  daemon_->sessions_.erase(session_->id());
}

}  // namespace ttfd::testing
