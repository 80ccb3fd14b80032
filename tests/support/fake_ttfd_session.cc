// One session of the fake daemon.
#include "tests/support/fake_ttfd_session.h"

#include <openssl/sha.h>

#include <algorithm>

namespace ttfd::testing {
namespace {

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

void FakeSession::FillWelcome(v1::Welcome* welcome) {
  token_ = "token " + std::to_string(id_) + "." + std::to_string(link_.accepted()) + "." +
           std::to_string(token_.size());
  welcome->set_session(id_);
  welcome->set_token(token_);
  welcome->set_window_bytes(link_.window());
}

void FakeSession::Record(const v1::ClientMessage& message, FakeSeen* seen) const {
  ++seen->messages;
  seen->cost = link_.cost();
  seen->largest_message = std::max<uint64_t>(seen->largest_message, message.ByteSizeLong());
  seen->finished = seen->finished || message.has_finish();
  seen->left = seen->left || message.has_leave();
  for (const v1::OpenQueue& open : message.open_queues()) {
    seen->open_queues.push_back(open);
  }
  for (const v1::Batch& batch : message.batches()) {
    seen->commands += static_cast<uint64_t>(batch.commands_size());
    seen->batches.push_back(batch);
    for (const v1::Command& command : batch.commands()) {
      seen->payload_bytes +=
          command.write().inline_().size() + command.load_kernel().inline_().size();
    }
  }
  for (const v1::Data& data : message.data()) {
    seen->payload_bytes += data.payload().size();
    seen->largest_chunk = std::max<uint64_t>(seen->largest_chunk, data.payload().size());
  }
  for (const v1::Cancel& cancel : message.cancels()) {
    seen->cancels.push_back(cancel);
  }
}

bool FakeSession::finished() const {
  const bool busy =
      !streamed_.empty() || std::any_of(queues_.begin(), queues_.end(),
                                        [](const auto& queue) { return queue.second.hung; });
  return finishing_ && !busy && (resumable_ ? link_.all_acknowledged() : link_.all_written());
}

bool FakeSession::Handle(const v1::ClientMessage& message) {
  reply_.Clear();
  for (const v1::OpenQueue& open : message.open_queues()) {
    OpenQueue(open);
  }
  for (const v1::Batch& batch : message.batches()) {
    if (!HandleBatch(batch)) {
      return false;
    }
  }
  for (const v1::Data& data : message.data()) {
    HandleData(data);
  }
  for (const v1::Cancel& cancel : message.cancels()) {
    Cancel(cancel);
  }
  finishing_ = finishing_ || message.has_finish();
  if (reply_.ByteSizeLong() != 0) {
    link_.Queue(std::move(reply_));
  }
  return !broken_;
}

void FakeSession::OpenQueue(const v1::OpenQueue& open) {
  QueueState& queue = queues_[open.queue()];
  queue.open_failed = open.device() >= options_.devices;
  if (queue.open_failed) {
    AddError(At(open.queue(), 0),
             FakeError(kNotFound, "INVALID", "no such device", {{"field", "open_queues.device"}}),
             v1::EXECUTION_STATE_NOT_STARTED);
  }
}

bool FakeSession::HandleBatch(const v1::Batch& batch) {
  const auto found = queues_.find(batch.queue());
  if (found == queues_.end() || batch.first_value() != found->second.next) {
    return false;  // a queue that is not open, or a gap: a protocol error
  }
  QueueState& queue = found->second;
  if (batch.has_clears_error() && batch.clears_error() == queue.failed_at) {
    queue.failed_at = 0;
  }
  for (const v1::Command& command : batch.commands()) {
    const v1::QueuePosition at = At(batch.queue(), queue.next++);
    if (queue.hung) {
      continue;
    }
    if (queue.failed_at != 0 || queue.open_failed) {
      AddError(at,
               FakeError(kAborted, "CAUSED_BY", "an earlier command of this queue failed",
                         {{"cause_queue", std::to_string(at.queue())},
                          {"cause_value", std::to_string(queue.failed_at)}}),
               v1::EXECUTION_STATE_NOT_STARTED);
      Done(at);
      continue;
    }
    Run(at, command);
  }
  return !broken_;
}

// The launch that hangs has started and completes; commands after it are cancelled.
void FakeSession::Cancel(const v1::Cancel& cancel) {
  const auto found = queues_.find(cancel.queue());
  if (found == queues_.end() || !found->second.hung || cancel.from_value() >= found->second.next) {
    return;
  }
  QueueState& queue = found->second;
  v1::CommandError* error = reply_.add_errors();
  error->set_queue(cancel.queue());
  error->set_first_value(cancel.from_value());
  error->set_last_value(queue.next - 1);
  *error->mutable_status() = FakeError(kCancelled, "CANCELLED", "cancelled");
  error->set_execution_state(v1::EXECUTION_STATE_NOT_STARTED);
  queue.hung = false;
  queue.failed_at = cancel.from_value();
  Done(At(cancel.queue(), queue.next - 1));
}

void FakeSession::Run(v1::QueuePosition at, const v1::Command& command) {
  if (Streams(command)) {
    const uint64_t size =
        command.has_write() ? command.write().size() : command.load_kernel().size();
    streamed_[{at.queue(), at.value()}] = Streamed{"", size, command};
    return;
  }
  Execute(at, command, "");
}

void FakeSession::HandleData(const v1::Data& data) {
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
    Execute(At(data.queue(), data.value()), whole.command, whole.bytes);
  }
}

void FakeSession::AddError(v1::QueuePosition at, google::rpc::Status status,
                           v1::ExecutionState state) {
  v1::CommandError* error = reply_.add_errors();
  error->set_queue(at.queue());
  error->set_first_value(at.value());
  error->set_last_value(at.value());
  *error->mutable_status() = std::move(status);
  error->set_execution_state(state);
}

void FakeSession::Fail(v1::QueuePosition at, int code, const std::string& reason,
                       const std::string& message, const std::string& field) {
  queues_[at.queue()].failed_at = at.value();
  const bool ran = reason == "DEVICE_FAULT";
  AddError(at, FakeError(code, reason, message, {{"field", field}}),
           ran ? v1::EXECUTION_STATE_UNKNOWN : v1::EXECUTION_STATE_NOT_STARTED);
  Done(at);
}

void FakeSession::Done(v1::QueuePosition at) {
  for (v1::QueuePosition& progress : *reply_.mutable_progress()) {
    if (progress.queue() == at.queue()) {
      progress.set_value(at.value());
      return;
    }
  }
  *reply_.add_progress() = at;
}

void FakeSession::RecordTrace(v1::QueuePosition at, const v1::RecordTrace& record) {
  uint64_t& recording = queues_[at.queue()].recording;
  for (const v1::Launch& launch : record.launches()) {
    if (handles_.count(launch.program()) == 0) {
      recording = 0;
      return Fail(at, kNotFound, "UNKNOWN_HANDLE", "no such program",
                  "record_trace.launches[0].program");
    }
  }
  if (recording != 0 && recording != record.handle()) {
    return Fail(at, kInvalidArgument, "INVALID", "another trace is being recorded",
                "record_trace.handle");
  }
  recording = record.more() ? record.handle() : 0;
  if (!record.more()) {
    traces_.insert(record.handle());
    handles_.insert(record.handle());
  }
  Done(at);
}

void FakeSession::Execute(v1::QueuePosition at, const v1::Command& command,
                          const std::string& streamed) {
  switch (command.op_case()) {
    case v1::Command::kAllocate:
      if (command.allocate().size_bytes() > options_.dram_bytes) {
        return Fail(at, kResourceExhausted, "LIMIT", "no room on the card", "allocate.size_bytes");
      }
      buffers_[command.allocate().handle()].assign(command.allocate().size_bytes(), '\0');
      handles_.insert(command.allocate().handle());
      break;
    case v1::Command::kFree:
      for (const uint64_t handle : command.free().handles()) {
        if (handles_.erase(handle) == 0) {
          return Fail(at, kNotFound, "UNKNOWN_HANDLE", "no such handle", "free.handles");
        }
        buffers_.erase(handle);
        traces_.erase(handle);
      }
      break;
    case v1::Command::kLoadKernel: {
      const v1::LoadKernel& load = command.load_kernel();
      const std::string& bytes = load.streamed() ? streamed : load.inline_();
      if (bytes.empty() && kernel_cache_->count(load.sha256()) == 0) {
        return Fail(at, kNotFound, "KERNEL_NOT_CACHED", "send the bytes", "load_kernel.sha256");
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
        return Fail(at, kNotFound, "UNKNOWN_HANDLE", "no such buffer", "write.buffer");
      }
      if (write.offset() % 4 != 0 || write.offset() + write.size() > found->second.size()) {
        return Fail(at, kInvalidArgument, "INVALID", "write outside of the buffer", "write.offset");
      }
      found->second.replace(write.offset(), write.size(),
                            write.streamed() ? streamed : write.inline_());
      break;
    }
    case v1::Command::kRead: {
      const v1::Read& read = command.read();
      const auto found = buffers_.find(read.buffer());
      if (found == buffers_.end() || read.offset() + read.size() > found->second.size()) {
        return Fail(at, kInvalidArgument, "INVALID", "read outside of the buffer", "read.offset");
      }
      for (uint64_t done = 0; done < read.size(); done += options_.chunk_bytes) {
        v1::ServerMessage segment;  // a message must stay below gRPC's limit
        v1::Data* data = segment.add_data();
        data->set_queue(at.queue());
        data->set_value(at.value());
        data->set_offset(done);
        data->set_payload(found->second.substr(
            read.offset() + done, std::min<uint64_t>(options_.chunk_bytes, read.size() - done)));
        link_.Queue(std::move(segment));
      }
      break;
    }
    case v1::Command::kLaunch:
      if (command.launch().timeout_ms() == kLaunchFails) {
        return Fail(at, kInternal, "DEVICE_FAULT", "tile (0,0) BRISC faulted", "");
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
      return RecordTrace(at, command.record_trace());
    case v1::Command::kReplayTrace:
      if (traces_.count(command.replay_trace().trace()) == 0) {
        return Fail(at, kNotFound, "UNKNOWN_HANDLE", "no such trace", "replay_trace.trace");
      }
      break;
    case v1::Command::kBarrier:
    case v1::Command::kFill:
    case v1::Command::kCopy:
      break;
    default:
      return Fail(at, kUnimplemented, "UNSUPPORTED", "the fake knows no such command", "");
  }
  Done(at);
}

}  // namespace ttfd::testing
