// See stream_client.h.
#include "tests/support/stream_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "daemon/api/request.h"
#include "google/rpc/error_details.pb.h"

namespace ttfd {
namespace {

grpc::ByteBuffer Bytes(const std::string& text) {
  grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

std::string Text(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(message.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

std::string ReasonOf(const google::rpc::Status& status) {
  google::rpc::ErrorInfo info;
  EXPECT_TRUE(status.details_size() > 0 && status.details(0).UnpackTo(&info));
  const auto& metadata = info.metadata();
  const auto queue = metadata.find("cause_queue");
  if (queue == metadata.end()) return info.reason();
  return info.reason() + " " + queue->second + ":" + metadata.at("cause_value");
}

}  // namespace

uint64_t CostOf(const v1::ClientMessage& message) {
  if (message.batches_size() + message.data_size() == 0) return 0;
  uint64_t cost = message.ByteSizeLong();
  for (const v1::Batch& batch : message.batches()) {
    cost += static_cast<uint64_t>(batch.commands_size()) * kCommandBytes;
  }
  return cost;
}

StreamClient::StreamClient(Daemon& core, Clock& clock, uint32_t reconnect_timeout_ms)
    : core_(core), clock_(clock), environment_{&core, core.admin().ListDevices().limits} {
  hello_.set_min_revision(1);
  hello_.set_max_revision(1);
  hello_.set_client_name("stream");
  hello_.set_reconnect_timeout_ms(reconnect_timeout_ms);
}

StreamClient::~StreamClient() {
  if (connected()) Lose(/*refused=*/true);
}

void StreamClient::Adopt(const StreamClient& other) {
  welcome_ = other.welcome_;
  link_ = other.link_;
  seen_ = other.seen_;
}

Status StreamClient::Open(uint32_t uid) {
  PeerIdentity peer;
  peer.uid = uid;
  peer.pid = kPid;
  const bool resumes = welcome_.session() != 0;
  if (resumes) {
    hello_.mutable_resume()->set_session(welcome_.session());
    hello_.mutable_resume()->set_token(welcome_.token());
    hello_.mutable_resume()->set_received(link_.received);
  }
  auto stream = std::make_unique<SessionStream>(environment_, peer, this);
  v1::ClientMessage message;
  *message.mutable_hello() = hello_;
  grpc::ByteBuffer bytes = Bytes(message.SerializeAsString());
  const Status status = stream->Read(&bytes, clock_.Now());
  if (!status.ok()) {
    if (stream->open()) stream->Abandon(/*lost=*/false);
    return status;
  }
  stream_ = std::move(stream);
  EXPECT_TRUE(Take()) << "Welcome is the first message";
  if (!resumes) return OkStatus();
  while (!link_.sent.empty() && link_.sent.front().sequence() <= welcome_.received())
    link_.sent.pop_front();
  for (const v1::ClientMessage& again : link_.sent)
    RETURN_IF_ERROR(SendBytes(again.SerializeAsString()));
  return OkStatus();
}

Status StreamClient::Send(v1::ClientMessage message) {
  message.set_sequence(++link_.last_sent);
  if (acks_with_messages) message.set_ack(ack());
  link_.charged += CostOf(message);
  EXPECT_LE(link_.charged, link_.window_bytes) << "more than the window";
  link_.sent.push_back(std::move(message));
  return connected() ? SendBytes(link_.sent.back().SerializeAsString()) : OkStatus();
}

Status StreamClient::SendBytes(const std::string& bytes) {
  const Status status = PostBytes(bytes);
  core_.HandleAllInput();
  return status;
}

Status StreamClient::PostBytes(const std::string& bytes) {
  grpc::ByteBuffer buffer = Bytes(bytes);
  return stream_->Read(&buffer, clock_.Now());
}

Status StreamClient::Acknowledge() {
  if (!connected()) return OkStatus();
  v1::ClientMessage message;
  message.set_ack(ack());
  return SendBytes(message.SerializeAsString());
}

bool StreamClient::Take(bool lost) {
  if (!connected()) return false;
  grpc::ByteBuffer bytes;
  if (!stream_->Next(clock_.Now(), &bytes)) return false;
  if (lost) return true;
  v1::ServerMessage message;
  EXPECT_TRUE(message.ParseFromString(Text(bytes)));
  EXPECT_LT(bytes.Length(), environment_.limits.message_bytes);
  if (message.has_welcome()) {
    welcome_ = message.welcome();
    link_.window_bytes = std::max(link_.window_bytes, welcome_.window_bytes());
  }
  link_.window_bytes = std::max(link_.window_bytes, message.window_bytes());
  while (!link_.sent.empty() && link_.sent.front().sequence() <= message.ack())
    link_.sent.pop_front();
  if (message.sequence() == 0) {
    EXPECT_EQ(message.data_size() + message.errors_size() + message.progress_size(), 0);
    others.push_back(std::move(message));
    return true;
  }
  if (message.sequence() <= link_.received) return true;  // had before
  EXPECT_EQ(message.sequence(), ++link_.received) << "a gap";
  Keep(message);
  messages.push_back(std::move(message));
  return true;
}

void StreamClient::Keep(const v1::ServerMessage& message) {
  const auto at = [](uint32_t queue, uint64_t value) {
    return std::to_string(queue) + ":" + std::to_string(value);
  };
  for (const v1::Notice& notice : message.notices()) {
    if (!notice.has_print()) continue;
    seen_.prints.push_back(at(notice.print().queue(), notice.print().value()) + " " +
                           notice.print().text());
  }
  for (const v1::Data& chunk : message.data()) {
    std::string& data = seen_.data[{chunk.queue(), chunk.value()}];
    EXPECT_EQ(chunk.offset(), data.size()) << "of command " << chunk.value();
    EXPECT_GT(chunk.value(), seen_.progress[chunk.queue()]);
    data += chunk.payload();
  }
  for (const v1::CommandError& error : message.errors()) {
    for (uint64_t value = error.first_value(); value <= error.last_value(); ++value) {
      const bool added =
          seen_.errors.emplace(std::pair(error.queue(), value), ReasonOf(error.status())).second;
      EXPECT_TRUE(added) << "error of command " << value << " came twice";
    }
  }
  for (const v1::QueuePosition& position : message.progress()) {
    EXPECT_GT(position.value(), seen_.progress[position.queue()]) << "progress goes forward";
    seen_.progress[position.queue()] = position.value();
  }
}

SessionPort::Ending StreamClient::CheckEnd(Status* status) {
  const SessionPort::Ending ending = stream_->CheckEnd(clock_.Now(), status);
  core_.HandleAllInput();
  if (ending != SessionPort::Ending::kOpen) return ending;
  return stream_->CheckEnd(clock_.Now(), status);
}

void StreamClient::Lose(bool refused) {
  if (!connected()) return;
  stream_->Abandon(!refused);
  stream_.reset();
  core_.HandleAllInput();
}

}  // namespace ttfd
