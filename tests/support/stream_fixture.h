// A daemon's core on a fake card, and clients that speak encoded messages with it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "tests/support/core_fixture.h"
#include "tests/support/stream_client.h"

namespace ttfd {

// ---- Messages.

// One batch of queue `queue`; commands are added to it.
inline v1::ClientMessage BatchOf(uint32_t queue, uint64_t first_value) {
  v1::ClientMessage message;
  v1::Batch* const batch = message.add_batches();
  batch->set_queue(queue);
  batch->set_first_value(first_value);
  return message;
}
inline v1::Command* AddTo(v1::ClientMessage* message) {
  return message->mutable_batches(0)->add_commands();
}
inline void AddBarrier(v1::ClientMessage* message) { AddTo(message)->mutable_barrier(); }
inline void AddAllocate(v1::ClientMessage* message, uint64_t handle, uint64_t size) {
  v1::Allocate* const allocate = AddTo(message)->mutable_allocate();
  allocate->set_handle(handle);
  allocate->set_size_bytes(size);
  allocate->set_page_bytes(1024);
  allocate->mutable_dram();
}
inline void AddWrite(v1::ClientMessage* message, uint64_t buffer, std::string bytes) {
  v1::Write* const write = AddTo(message)->mutable_write();
  write->set_buffer(buffer);
  write->set_size(bytes.size());
  write->set_inline_(std::move(bytes));
}
inline void AddStreamedWrite(v1::ClientMessage* message, uint64_t buffer, uint64_t size) {
  v1::Write* const write = AddTo(message)->mutable_write();
  write->set_buffer(buffer);
  write->set_size(size);
  write->set_streamed(true);
}
inline void AddRead(v1::ClientMessage* message, uint64_t buffer, uint64_t offset, uint64_t size) {
  v1::Read* const read = AddTo(message)->mutable_read();
  read->set_buffer(buffer);
  read->set_offset(offset);
  read->set_size(size);
}
inline void AddKernel(v1::ClientMessage* message, uint64_t handle) {
  v1::LoadKernel* const load = AddTo(message)->mutable_load_kernel();
  load->set_handle(handle);
  load->set_size(3);
  load->set_inline_("elf");
}
inline void AddProgram(v1::ClientMessage* message, uint64_t handle, uint64_t kernel) {
  v1::CreateProgram* const program = AddTo(message)->mutable_create_program();
  program->set_handle(handle);
  v1::KernelUse* const use = program->add_kernels();
  use->set_kernel(kernel);
  use->set_processor(v1::PROCESSOR_BRISC);
  use->add_cores();
}
inline void AddLaunch(v1::ClientMessage* message, uint64_t program) {
  AddTo(message)->mutable_launch()->set_program(program);
}
inline void AddFree(v1::ClientMessage* message, uint64_t handle) {
  AddTo(message)->mutable_free()->add_handles(handle);
}
inline v1::ClientMessage DataOf(uint32_t queue, uint64_t value, uint64_t offset,
                                std::string payload) {
  v1::ClientMessage message;
  v1::Data* const data = message.add_data();
  data->set_queue(queue);
  data->set_value(value);
  data->set_offset(offset);
  data->set_payload(std::move(payload));
  return message;
}
inline v1::ClientMessage CancelOf(uint32_t queue, uint64_t from_value) {
  v1::ClientMessage message;
  v1::Cancel* const cancel = message.add_cancels();
  cancel->set_queue(queue);
  cancel->set_from_value(from_value);
  return message;
}
inline v1::ClientMessage OpenOf(uint32_t queue, v1::QueueKind kind = v1::QUEUE_KIND_COMPUTE) {
  v1::ClientMessage message;
  v1::OpenQueue* const open = message.add_open_queues();
  open->set_queue(queue);
  open->set_kind(kind);
  return message;
}
inline v1::ClientMessage FinishMessage() {
  v1::ClientMessage message;
  message.mutable_finish();
  return message;
}

// ---- The core.

class StreamTest : public CoreTest {
 protected:
  static constexpr uint32_t kTimeoutMs = 5000;

  // With queue 0 open.
  std::unique_ptr<StreamClient> Client(uint32_t reconnect_timeout_ms = kTimeoutMs) {
    auto client = std::make_unique<StreamClient>(*core, clock, reconnect_timeout_ms);
    Status status = client->Open();
    if (status.ok()) status = client->Send(OpenOf(0));
    EXPECT_TRUE(status.ok()) << StatusMessage(status);
    return client;
  }
  // A client whose queue 0 is open, and which has nothing more to receive or to acknowledge.
  std::unique_ptr<StreamClient> Quiet(uint32_t reconnect_timeout_ms = kTimeoutMs) {
    auto client = Client(reconnect_timeout_ms);
    Run(*client);
    clock.Advance(std::chrono::milliseconds(20));
    Run(*client);
    client->others.clear();
    EXPECT_EQ(client->unacknowledged(), 0u);
    return client;
  }
  static std::string Numbered(v1::ClientMessage message, uint64_t sequence, uint64_t ack = 0) {
    message.set_sequence(sequence);
    message.set_ack(ack);
    return message.SerializeAsString();
  }
  uint64_t Held(const StreamClient& client) {
    for (const LimitUsageReply& usage : core->admin().GetLimits().usage) {
      if (usage.session != client.welcome().session()) continue;
      for (const LimitUseReply& use : usage.uses) {
        if (use.name == "window_bytes") return use.used;
      }
    }
    return 0;
  }
  // Until nothing moves, acknowledging on the way.
  void Run(StreamClient& client) {
    for (int quiet = 0; quiet < 2;) {
      const bool more = core->RunOnce();
      bool any = false;
      while (client.Take()) any = true;
      if (any) {
        EXPECT_TRUE(client.Acknowledge().ok());
      }
      quiet = more || any ? 0 : quiet + 1;
    }
  }
  // Sends and expects no protocol error.
  static void Send(StreamClient& client, v1::ClientMessage message) {
    const Status status = client.Send(std::move(message));
    EXPECT_TRUE(status.ok()) << StatusMessage(status);
  }
};

}  // namespace ttfd
