// One session of the fake daemon.
#include "tests/support/fake_ttfd_session.h"

#include <openssl/sha.h>

#include <algorithm>

namespace ttfd::testing {
namespace {

constexpr int kInvalidArgument = 3;
constexpr int kNotFound = 5;
constexpr int kResourceExhausted = 8;
constexpr int kAborted = 10;
constexpr int kUnimplemented = 12;
constexpr int kInternal = 13;

std::string HashOf(const std::string& bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

v1::QueuePosition At(uint32_t queue, uint64_t value) {
  v1::QueuePosition position;
  position.set_queue(queue);
  position.set_value(value);
  return position;
}

bool Streams(const v1::Command& command) {
  return (command.has_write() && command.write().streamed()) ||
         (command.has_load_kernel() && command.load_kernel().streamed());
}

}  // namespace

void FakeSession::Welcome(v1::Welcome* welcome) const {
  welcome->set_revision(1);
  welcome->set_daemon_version("fake");
  welcome->set_session(42);
  welcome->mutable_credit()->set_commands(options_.credit_commands);
  welcome->mutable_credit()->set_bytes(options_.credit_bytes);
}

bool FakeSession::Handle(const v1::ClientMessage& message, v1::ServerMessage* reply) {
  for (const v1::Batch& batch : message.batches()) {
    if (!HandleBatch(batch, reply)) {
      return false;
    }
  }
  for (const v1::Data& data : message.data()) {
    HandleData(data, reply);
  }
  return !broken_;
}

bool FakeSession::HandleBatch(const v1::Batch& batch, v1::ServerMessage* reply) {
  QueueState& queue = queues_[batch.queue()];
  if (batch.first_value() != queue.next) {
    return false;  // a gap is a protocol error
  }
  if (batch.clears_error() != 0 && batch.clears_error() == queue.failed_at) {
    queue.failed_at = 0;
  }
  for (const v1::Command& command : batch.commands()) {
    const v1::QueuePosition at = At(batch.queue(), queue.next++);
    if (queue.hung) {
      continue;
    }
    if (queue.failed_at != 0) {
      v1::CommandError* error = reply->add_errors();
      error->set_queue(at.queue());
      error->set_first_value(at.value());
      error->set_last_value(at.value());
      error->mutable_error()->set_code(kAborted);
      error->mutable_error()->set_reason("CAUSED_BY");
      error->mutable_error()->set_message("an earlier command of this queue failed");
      *error->mutable_error()->mutable_cause() = At(at.queue(), queue.failed_at);
      Done(at, reply);
      continue;
    }
    Run(at, command, reply);
  }
  return !broken_;
}

void FakeSession::Run(v1::QueuePosition at, const v1::Command& command, v1::ServerMessage* reply) {
  if (Streams(command)) {
    const uint64_t size =
        command.has_write() ? command.write().size() : command.load_kernel().size();
    streamed_[{at.queue(), at.value()}] = Streamed{"", size, command};
    return;
  }
  Execute(at, command, "", reply);
}

void FakeSession::HandleData(const v1::Data& data, v1::ServerMessage* reply) {
  const auto found = streamed_.find({data.queue(), data.value()});
  if (found == streamed_.end()) {
    return;
  }
  Streamed& streamed = found->second;
  if (data.offset() != streamed.bytes.size()) {
    broken_ = true;
    return;
  }
  streamed.bytes += data.payload();
  if (streamed.bytes.size() >= streamed.size) {
    const Streamed whole = std::move(streamed);
    streamed_.erase(found);
    Execute(At(data.queue(), data.value()), whole.command, whole.bytes, reply);
  }
}

void FakeSession::Fail(v1::QueuePosition at, int code, const std::string& reason,
                       const std::string& message, const std::string& field,
                       v1::ServerMessage* reply) {
  queues_[at.queue()].failed_at = at.value();
  v1::CommandError* error = reply->add_errors();
  error->set_queue(at.queue());
  error->set_first_value(at.value());
  error->set_last_value(at.value());
  error->mutable_error()->set_code(code);
  error->mutable_error()->set_reason(reason);
  error->mutable_error()->set_message(message);
  error->mutable_error()->set_field(field);
  Done(at, reply);
}

void FakeSession::Done(v1::QueuePosition at, v1::ServerMessage* reply) {
  for (v1::QueuePosition& progress : *reply->mutable_progress()) {
    if (progress.queue() == at.queue()) {
      progress.set_value(at.value());
      return;
    }
  }
  *reply->add_progress() = at;
}

void FakeSession::RecordTrace(v1::QueuePosition at, const v1::RecordTrace& record,
                              v1::ServerMessage* reply) {
  uint64_t& recording = queues_[at.queue()].recording;
  for (const v1::Launch& launch : record.launches()) {
    if (handles_.count(launch.program()) == 0) {
      recording = 0;
      return Fail(at, kNotFound, "UNKNOWN_HANDLE", "no such program",
                  "record_trace.launches[0].program", reply);
    }
  }
  if (recording != 0 && recording != record.handle()) {
    return Fail(at, kInvalidArgument, "INVALID", "another trace is being recorded",
                "record_trace.handle", reply);
  }
  recording = record.more() ? record.handle() : 0;
  if (!record.more()) {
    traces_.insert(record.handle());
    handles_.insert(record.handle());
  }
  Done(at, reply);
}

void FakeSession::Execute(v1::QueuePosition at, const v1::Command& command,
                          const std::string& streamed, v1::ServerMessage* reply) {
  switch (command.op_case()) {
    case v1::Command::kAllocate:
      if (command.allocate().size_bytes() > options_.dram_bytes) {
        return Fail(at, kResourceExhausted, "LIMIT", "no room on the card", "allocate.size_bytes",
                    reply);
      }
      buffers_[command.allocate().handle()].assign(command.allocate().size_bytes(), '\0');
      handles_.insert(command.allocate().handle());
      break;
    case v1::Command::kFree:
      for (const uint64_t handle : command.free().handles()) {
        if (handles_.erase(handle) == 0) {
          return Fail(at, kNotFound, "UNKNOWN_HANDLE", "no such handle", "free.handles", reply);
        }
        buffers_.erase(handle);
        traces_.erase(handle);
      }
      break;
    case v1::Command::kLoadKernel: {
      const v1::LoadKernel& load = command.load_kernel();
      const std::string& bytes = load.streamed() ? streamed : load.inline_();
      if (bytes.empty() && kernel_cache_->count(load.sha256()) == 0) {
        return Fail(at, kNotFound, "KERNEL_NOT_CACHED", "send the bytes", "load_kernel.sha256",
                    reply);
      }
      if (!bytes.empty()) {
        (*kernel_cache_)[HashOf(bytes)] = bytes;
      }
      handles_.insert(load.handle());
      break;
    }
    case v1::Command::kCreateProgram:
      handles_.insert(command.create_program().handle());
      break;
    case v1::Command::kWrite: {
      const v1::Write& write = command.write();
      const auto found = buffers_.find(write.buffer());
      if (found == buffers_.end()) {
        return Fail(at, kNotFound, "UNKNOWN_HANDLE", "no such buffer", "write.buffer", reply);
      }
      if (write.offset() % 4 != 0 || write.offset() + write.size() > found->second.size()) {
        return Fail(at, kInvalidArgument, "INVALID", "write outside of the buffer", "write.offset",
                    reply);
      }
      found->second.replace(write.offset(), write.size(),
                            write.streamed() ? streamed : write.inline_());
      break;
    }
    case v1::Command::kRead: {
      const v1::Read& read = command.read();
      const auto found = buffers_.find(read.buffer());
      if (found == buffers_.end() || read.offset() + read.size() > found->second.size()) {
        return Fail(at, kInvalidArgument, "INVALID", "read outside of the buffer", "read.offset",
                    reply);
      }
      for (uint64_t done = 0; done < read.size(); done += options_.chunk_bytes) {
        v1::Data* data = reply->add_data();
        data->set_queue(at.queue());
        data->set_value(at.value());
        data->set_offset(done);
        data->set_payload(found->second.substr(
            read.offset() + done, std::min<uint64_t>(options_.chunk_bytes, read.size() - done)));
      }
      break;
    }
    case v1::Command::kLaunch:
      if (command.launch().timeout_ms() == kLaunchFails) {
        return Fail(at, kInternal, "DEVICE_FAULT", "tile (0,0) BRISC faulted", "", reply);
      }
      if (command.launch().timeout_ms() == kCallBreaks) {
        broken_ = true;
        return;
      }
      if (command.launch().timeout_ms() == kLaunchHangs) {
        queues_[at.queue()].hung = true;
        return;
      }
      break;
    case v1::Command::kRecordTrace:
      return RecordTrace(at, command.record_trace(), reply);
    case v1::Command::kReplayTrace:
      if (traces_.count(command.replay_trace().trace()) == 0) {
        return Fail(at, kNotFound, "UNKNOWN_HANDLE", "no such trace", "replay_trace.trace", reply);
      }
      break;
    case v1::Command::kBarrier:
    case v1::Command::kOpenQueue:
    case v1::Command::kFill:
    case v1::Command::kCopy:
      break;
    default:
      return Fail(at, kUnimplemented, "UNSUPPORTED", "the fake knows no such command", "", reply);
  }
  Done(at, reply);
}

}  // namespace ttfd::testing
