// What the window is charged bounds a client's use of the daemon's memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>
#include <string>
#include <utility>

#include "tests/support/stream_fixture.h"

namespace ttfd {
namespace {

uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Sends commands that cannot start, and compares what the heap has grown by with what the window was charged.
class HeldMemory : public StreamTest {
 protected:
  using Add = std::function<void(v1::ClientMessage*)>;

  // Growth of the heap by `count` commands after the first 200, for each byte charged.
  double GrowthByCharge(const Add& add, int count, int per_message) {
    Start();
    card->keep_log = false;
    auto client = Quiet();
    v1::ClientMessage objects = BatchOf(0, 1);
    AddAllocate(&objects, 1, 4096);
    AddKernel(&objects, 2);
    AddProgram(&objects, 3, 2);
    v1::RecordTrace* const record =
        objects.mutable_batches(0)->add_commands()->mutable_record_trace();
    record->set_handle(4);
    record->add_launches()->set_program(3);
    AddStreamedWrite(&objects, 1, 4096);  // what follows waits for its data
    Send(*client, std::move(objects));
    Run(*client);
    uint64_t value = 6;
    const auto send = [&](int commands) {
      for (int left = commands; left > 0; left -= per_message) {
        v1::ClientMessage message = BatchOf(0, value);
        for (int j = 0; j < per_message; ++j) add(&message);
        value += static_cast<uint64_t>(per_message);
        const std::string bytes = Numbered(std::move(message), client->NextSequence());
        ASSERT_TRUE(client->SendBytes(bytes).ok());
      }
    };
    send(200);
    const uint64_t heap = HeapBytes();
    const uint64_t held = Held(*client);
    send(count);
    const auto grown = static_cast<double>(HeapBytes() - heap);
    const auto charged = static_cast<double>(Held(*client) - held);
    client.reset();
    core.reset();
    return grown / charged;
  }
  static v1::Command* Last(v1::ClientMessage* message) {
    v1::Batch* const batch = message->mutable_batches(0);
    return batch->mutable_commands(batch->commands_size() - 1);
  }
};

TEST_F(HeldMemory, OfCommands_IsAboutTheirCharge) {
  if (HeapBytes() == 0) GTEST_SKIP() << "a sanitizer's heap does not say how much is in use";
  options.limits.window_bytes = options.limits.window_bytes_per_user = 64 << 20;
  const std::pair<const char*, Add> kinds[] = {
      {"barrier", [](auto* message) { AddBarrier(message); }},
      {"launch", [](auto* message) { AddLaunch(message, 3); }},
      {"launch with arguments",
       [](auto* message) {
         AddLaunch(message, 3);
         v1::Arguments* const arguments = Last(message)->mutable_launch()->add_arguments();
         for (uint32_t i = 0; i < 100; ++i) arguments->add_common(1);
       }},
      {"write", [](auto* message) { AddWrite(message, 1, Pattern(64)); }},
      {"read", [](auto* message) { AddRead(message, 1, 0, 64); }},
      {"free", [](auto* message) { AddFree(message, 99); }},
  };
  for (const auto& [name, add] : kinds) {
    for (const int per_message : {1, 50}) {
      const double growth = GrowthByCharge(add, 10'000, per_message);
      EXPECT_LT(growth, 1.2) << name << ", " << per_message << " in a message";
      RecordProperty(fmt::format("{} of {}", name, per_message), fmt::format("{:.2f}", growth));
    }
  }
}

// Each has as many parts as the scan allows, as small as they may be.
TEST_F(HeldMemory, OfHostileCommands_IsBoundedByTheirCharge) {
  if (HeapBytes() == 0) GTEST_SKIP() << "a sanitizer's heap does not say how much is in use";
  options.limits.window_bytes = options.limits.window_bytes_per_user = 64 << 20;
  const auto program = [](v1::ClientMessage* message) {
    static uint64_t handle = 100;
    AddProgram(message, ++handle, 2);
    return Last(message)->mutable_create_program();
  };
  const std::pair<const char*, Add> kinds[] = {
      {"arguments",
       [](auto* message) {
         AddLaunch(message, 3);
         for (int i = 0; i < 2000; ++i)
           Last(message)->mutable_launch()->add_arguments()->add_common(1);
       }},
      {"buffer arguments",
       [](auto* message) {
         AddLaunch(message, 3);
         v1::Arguments* const arguments = Last(message)->mutable_launch()->add_arguments();
         for (int i = 0; i < 4000; ++i) arguments->add_buffers()->set_buffer(1);
       }},
      {"patches",
       [](auto* message) {
         v1::ReplayTrace* const replay =
             message->mutable_batches(0)->add_commands()->mutable_replay_trace();
         replay->set_trace(4);
         for (int i = 0; i < 2000; ++i) replay->add_patches()->mutable_arguments()->add_common(1);
       }},
      {"kernels of a program",
       [&](auto* message) {
         v1::CreateProgram* const create = program(message);
         for (int i = 0; i < 2000; ++i) *create->add_kernels() = create->kernels(0);
       }},
      {"circular buffers",
       [&](auto* message) {
         v1::CreateProgram* const create = program(message);
         for (int i = 0; i < 2000; ++i) {
           create->add_circular_buffers()->add_cores();
           create->mutable_circular_buffers(i)->set_pages(1);
           create->mutable_circular_buffers(i)->set_index(1);
         }
       }},
      {"semaphores",
       [&](auto* message) {
         v1::CreateProgram* const create = program(message);
         for (int i = 0; i < 2000; ++i) {
           create->add_semaphores()->add_cores();
           create->mutable_semaphores(i)->set_index(1);
           create->mutable_semaphores(i)->set_initial(1);
         }
       }},
  };
  for (const auto& [name, add] : kinds) {
    const double growth = GrowthByCharge(add, 200, 1);
    EXPECT_LT(growth, 16) << name;
    RecordProperty(name, fmt::format("{:.2f}", growth));
  }
}

}  // namespace
}  // namespace ttfd
