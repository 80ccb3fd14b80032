// Queue: each call becomes one command of the session.
#include "ttfd/queue.h"

#include <algorithm>

#include "client/cpp/src/command_size.h"
#include "client/cpp/src/convert.h"
#include "client/cpp/src/session_core.h"

namespace ttfd::client {
namespace {

Status NoSession() { return Status(Code::kFailedPrecondition, "this queue belongs to no session"); }

}  // namespace

Result<Position> Queue::EnqueueWrite(const Buffer& buffer, uint64_t offset,
                                     std::span<const std::byte> bytes) {
  if (core_ == nullptr) {
    return NoSession();
  }
  const bool streamed = bytes.size() > core_->inline_bytes();
  const MessageSize size = kSmallCommand + MessageSize{streamed ? 0 : bytes.size(), 0};
  Result<Position> position = core_->Enqueue(id_, size, [&](v1::Command* command) {
    v1::Write* write = command->mutable_write();
    write->set_buffer(buffer.handle());
    write->set_offset(offset);
    write->set_size(bytes.size());
    if (streamed) {
      write->set_streamed(true);
    } else {
      write->set_inline_(bytes.data(), bytes.size());
    }
  });
  if (position.ok() && streamed) {
    if (Status status = core_->Supply(*position, bytes); !status.ok()) {
      return status;
    }
  }
  return position;
}

Result<Position> Queue::EnqueueRead(const Buffer& buffer, uint64_t offset,
                                    std::span<std::byte> into) {
  if (core_ == nullptr) {
    return NoSession();
  }
  return core_->EnqueueRead(id_, buffer.handle(), offset, into);
}

Result<Position> Queue::EnqueueFill(const Buffer& buffer, uint64_t offset, uint64_t size_bytes,
                                    uint32_t word) {
  if (core_ == nullptr) {
    return NoSession();
  }
  return core_->Enqueue(id_, kSmallCommand, [&](v1::Command* command) {
    v1::Fill* fill = command->mutable_fill();
    fill->set_buffer(buffer.handle());
    fill->set_offset(offset);
    fill->set_size(size_bytes);
    fill->set_word(word);
  });
}

Result<Position> Queue::EnqueueCopy(const Buffer& from, uint64_t from_offset, const Buffer& to,
                                    uint64_t to_offset, uint64_t size_bytes) {
  if (core_ == nullptr) {
    return NoSession();
  }
  return core_->Enqueue(id_, kSmallCommand, [&](v1::Command* command) {
    v1::Copy* copy = command->mutable_copy();
    copy->set_from(from.handle());
    copy->set_from_offset(from_offset);
    copy->set_to(to.handle());
    copy->set_to_offset(to_offset);
    copy->set_size(size_bytes);
  });
}

Result<Position> Queue::EnqueueLaunch(const LaunchRequest& launch) {
  if (core_ == nullptr) {
    return NoSession();
  }
  return core_->Enqueue(id_, SizeOf(launch),
                        [&](v1::Command* command) { ToProto(launch, command->mutable_launch()); });
}

Result<Position> Queue::EnqueueReplay(const ReplayRequest& replay) {
  if (core_ == nullptr) {
    return NoSession();
  }
  return core_->Enqueue(id_, SizeOf(replay), [&](v1::Command* command) {
    ToProto(replay, command->mutable_replay_trace());
  });
}

Result<Position> Queue::EnqueueConnectLinks(std::span<const LinkConnection> connections) {
  if (core_ == nullptr) {
    return NoSession();
  }
  constexpr size_t kConnectionBytes = 80;  // encoded, at most
  constexpr size_t kConnectionMessages = 3;
  const MessageSize size = kSmallCommand + MessageSize{connections.size() * kConnectionBytes,
                                                       connections.size() * kConnectionMessages};
  return core_->Enqueue(id_, size, [&](v1::Command* command) {
    v1::ConnectLinks* const connect = command->mutable_connect_links();
    for (const LinkConnection& connection : connections) {
      v1::LinkConnection* const added = connect->add_connections();
      ToProto(connection.a, added->mutable_a());
      ToProto(connection.b, added->mutable_b());
    }
  });
}

Result<Position> Queue::EnqueueBarrier() {
  if (core_ == nullptr) {
    return NoSession();
  }
  return core_->Enqueue(id_, kSmallCommand,
                        [](v1::Command* command) { command->mutable_barrier(); });
}

Status Queue::ConnectLinks(std::span<const LinkConnection> connections) {
  const Result<Position> position = EnqueueConnectLinks(connections);
  return position.ok() ? core_->WaitAndClear(*position) : position.status();
}

Status Queue::Write(const Buffer& buffer, uint64_t offset, std::span<const std::byte> bytes) {
  const Result<Position> position = EnqueueWrite(buffer, offset, bytes);
  return position.ok() ? core_->WaitAndClear(*position) : position.status();
}

Status Queue::Read(const Buffer& buffer, uint64_t offset, std::span<std::byte> into) {
  const Result<Position> position = EnqueueRead(buffer, offset, into);
  return position.ok() ? core_->WaitAndClear(*position) : position.status();
}

Status Queue::Fill(const Buffer& buffer, uint64_t offset, uint64_t size_bytes, uint32_t word) {
  const Result<Position> position = EnqueueFill(buffer, offset, size_bytes, word);
  return position.ok() ? core_->WaitAndClear(*position) : position.status();
}

Status Queue::Copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset,
                   uint64_t size_bytes) {
  const Result<Position> position = EnqueueCopy(from, from_offset, to, to_offset, size_bytes);
  return position.ok() ? core_->WaitAndClear(*position) : position.status();
}

Status Queue::Launch(const LaunchRequest& launch) {
  const Result<Position> position = EnqueueLaunch(launch);
  return position.ok() ? core_->WaitAndClear(*position) : position.status();
}

Status Queue::Replay(const ReplayRequest& replay) {
  const Result<Position> position = EnqueueReplay(replay);
  return position.ok() ? core_->WaitAndClear(*position) : position.status();
}

Status Queue::After(std::span<const Position> positions) {
  if (core_ == nullptr) {
    return NoSession();
  }
  core_->WithQueue(id_, [positions](Timeline& timeline) {
    std::vector<Position>& waits = timeline.next_header().waits;
    waits.insert(waits.end(), positions.begin(), positions.end());
  });
  return core_->status();
}

Status Queue::StartWithin(std::chrono::milliseconds within) {
  if (core_ == nullptr) {
    return NoSession();
  }
  core_->WithQueue(id_, [within](Timeline& timeline) {
    timeline.next_header().start_within_ms =
        static_cast<uint32_t>(std::clamp<int64_t>(within.count(), 0, UINT32_MAX));
  });
  return core_->status();
}

Status Queue::Flush() { return core_ == nullptr ? NoSession() : core_->Flush(); }

Status Queue::Wait(Position position) {
  return core_ == nullptr ? NoSession() : core_->Wait(position, core_->options().call_timeout);
}

Status Queue::Wait(Position position, std::chrono::milliseconds timeout) {
  return core_ == nullptr ? NoSession() : core_->Wait(position, timeout);
}

Status Queue::Finish() { return Wait({id_, submitted()}); }

uint64_t Queue::submitted() const {
  return core_ == nullptr
             ? 0
             : core_->WithQueue(id_, [](const Timeline& timeline) { return timeline.submitted(); });
}

uint64_t Queue::completed() const {
  return core_ == nullptr
             ? 0
             : core_->WithQueue(id_, [](const Timeline& timeline) { return timeline.completed(); });
}

Status Queue::error() const {
  return core_ == nullptr ? NoSession() : core_->WithQueue(id_, [](const Timeline& timeline) {
    return timeline.FirstError();
  });
}

Status Queue::ClearError() {
  if (core_ == nullptr) {
    return NoSession();
  }
  core_->WithQueue(id_, [](Timeline& timeline) { timeline.ClearError(); });
  return core_->status();
}

Status Queue::Cancel(uint64_t from_value) {
  return core_ == nullptr ? NoSession() : core_->Cancel({id_, from_value});
}

}  // namespace ttfd::client
