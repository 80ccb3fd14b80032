// The daemon's side of the transport of a session, for the fake daemon.
#include "tests/support/fake_ttfd_link.h"

#include "google/rpc/error_details.pb.h"

namespace ttfd::testing {
namespace {

bool HasContents(const v1::ClientMessage& message) {
  return message.open_queues_size() != 0 || message.batches_size() != 0 ||
         message.data_size() != 0 || message.cancels_size() != 0 || message.has_finish() ||
         message.has_leave();
}

}  // namespace

google::rpc::Status FakeError(int code, const std::string& reason, const std::string& message,
                              const std::vector<std::pair<std::string, std::string>>& metadata,
                              bool retryable) {
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(message);
  google::rpc::ErrorInfo info;
  info.set_domain("ttfd");
  info.set_reason(reason);
  for (const auto& [key, value] : metadata) {
    (*info.mutable_metadata())[key] = value;
    if (key == "limit") {
      google::rpc::QuotaFailure quota;
      quota.add_violations()->set_subject(value);
      status.add_details()->PackFrom(quota);
    }
  }
  status.add_details()->PackFrom(info);
  if (retryable) {
    status.add_details()->PackFrom(google::rpc::RetryInfo());
  }
  return status;
}

std::optional<google::rpc::Status> FakeLink::Receive(const v1::ClientMessage& message,
                                                     bool* fresh) {
  *fresh = false;
  if (message.has_hello()) {
    return FakeError(kInvalidArgument, "INVALID", "a second Hello", {{"field", "hello"}});
  }
  if (message.ack() > sent_) {
    return FakeError(kInvalidArgument, "INVALID",
                     "ack " + std::to_string(message.ack()) + ", sent " + std::to_string(sent_),
                     {{"field", "ack"}});
  }
  while (!kept_.empty() && kept_.front().message.sequence() <= message.ack()) {
    kept_bytes_ -= kept_.front().message.ByteSizeLong();
    kept_.pop_front();
  }
  if (message.sequence() == 0) {
    return HasContents(message)
               ? std::optional(FakeError(kInvalidArgument, "INVALID", "contents without a sequence",
                                         {{"field", "sequence"}}))
               : std::nullopt;
  }
  if (message.sequence() <= accepted_) {
    return std::nullopt;
  }
  if (message.sequence() != accepted_ + 1) {
    return FakeError(
        kNotFound, "SESSION_LOST",
        "sequence " + std::to_string(message.sequence()) + " after " + std::to_string(accepted_));
  }
  if (message.batches_size() != 0 || message.data_size() != 0) {
    uint64_t cost = message.ByteSizeLong();
    for (const v1::Batch& batch : message.batches()) {
      cost += static_cast<uint64_t>(batch.commands_size()) * options_.command_bytes;
    }
    if (cost_ + cost > window()) {
      return FakeError(kResourceExhausted, "LIMIT", "more than the window",
                       {{"limit", "window_bytes"}, {"limit_value", std::to_string(window())}});
    }
    cost_ += cost;
  }
  accepted_ = message.sequence();
  ack_too_high_ = options_.faults.ack_too_high_at == accepted_;
  *fresh = true;
  return std::nullopt;
}

std::vector<v1::ServerMessage> FakeLink::Take() {
  std::vector<v1::ServerMessage> out;
  const auto add = [&](v1::ServerMessage message) {
    message.set_ack(
        options_.faults.withhold_acks && !resumed_ ? 0 : accepted_ + (ack_too_high_ ? 1000 : 0));
    message.set_window_bytes(window());
    if (message.sequence() == 0 || message.sequence() != options_.faults.skip_sequence) {
      out.push_back(std::move(message));
    }
  };
  for (Kept& kept : kept_) {
    if (!kept.written) {
      kept.written = true;
      add(kept.message);
    }
  }
  while (!unsent_.empty() && kept_bytes_ <= options_.unacknowledged_bytes) {
    v1::ServerMessage message = std::move(unsent_.front());
    unsent_.pop_front();
    message.set_sequence(++sent_);
    kept_bytes_ += message.ByteSizeLong();
    kept_.push_back({message, true});
    add(std::move(message));
  }
  if (out.empty()) {
    add(v1::ServerMessage());
  }
  return out;
}

void FakeLink::Resume(uint64_t received) {
  resumed_ = true;
  while (!options_.faults.resend_everything && !kept_.empty() &&
         kept_.front().message.sequence() <= received) {
    kept_bytes_ -= kept_.front().message.ByteSizeLong();
    kept_.pop_front();
  }
  for (Kept& kept : kept_) {
    kept.written = false;
  }
}

}  // namespace ttfd::testing
