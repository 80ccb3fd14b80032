// Circular buffers on buffers of a session: where they lie, and what holds the memory.
#include <gmock/gmock.h>

#include "runtime/abi/l1_map.h"
#include "runtime/command/command.h"
#include "runtime/command/program_layout.h"
#include "tests/support/core_fixture.h"

namespace ttfd::session_circular_buffer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kBuffer = 1;
constexpr uint64_t kProgram = 3;
constexpr uint64_t kPlain = 4;
constexpr uint64_t kTrace = 5;
constexpr uint32_t kPage = 1024;

// Program kProgram has circular buffers 0 to 2 on worker (1,0): 0 and 2 on kBuffer, which has two pages there.
class SessionCircularBuffer : public CoreTest {
 protected:
  void SetUp() override {
    Start();
    client = Connect();
    client->OpenQueue(ComputeQueue(1));
    client->Send(L1Buffer(kBuffer), InlineKernel(2), OnBuffer(kProgram),
                 OneKernelProgram(kPlain, 2, {1, 0, 1, 0}));
    client->Run();
    ASSERT_THAT(client->errors, IsEmpty());
  }
  static AllocateRequest L1Buffer(uint64_t handle) {
    AllocateRequest request = Allocate(handle, 2 * kPage, kPage);
    request.place = BufferPlace::kL1Interleaved;
    request.cores = {{1, 0, 1, 0}};
    return request;
  }
  static CreateProgramRequest OnBuffer(uint64_t handle) {
    CreateProgramRequest request = OneKernelProgram(handle, 2, {1, 0, 1, 0});
    request.circular_buffers = {{0, 2, kPage, {{1, 0, 1, 0}}, 0, kBuffer},
                                {1, 1, kPage, {{1, 0, 1, 0}}},
                                {2, 1, kPage, {{1, 0, 1, 0}}, 0, kBuffer}};
    return request;
  }
  uint64_t Used() { return Memory(MemoryKind::kL1).used_bytes; }
  // The error of a command, on queue 0.
  ErrorReply Refused(Request request) {
    BatchRequest batch;
    batch.commands.push_back(std::move(request));
    const uint64_t value = client->SendBatch(std::move(batch));
    client->Run();
    return client->ErrorOf(value);
  }
  static void ExpectUnknown(const ErrorReply& error, const char* field) {
    EXPECT_EQ(error.code, StatusCode::kNotFound) << error.message;
    EXPECT_EQ(error.reason, "UNKNOWN_HANDLE");
    EXPECT_EQ(error.field, field);
    EXPECT_THAT(error.message, ::testing::HasSubstr("lies on buffer 1, which was freed"));
  }

  std::unique_ptr<TestClient> client;
};

TEST_F(SessionCircularBuffer, LiesAtTheAddressThatArgumentsGetForItsBuffer) {
  std::vector<uint32_t> words, addresses;
  card->on_launch = [&](const LaunchCommand& launch) {
    words = launch.arguments[0].common;
    for (const auto& one : launch.program->groups[0].circular_buffers)
      addresses.push_back(one.address);
    return OkStatus();
  };
  LaunchRequest launch = Launch(kProgram);
  launch.arguments.push_back({0, {0}, {}, 0, {{0, kBuffer, 0}}});
  client->Send(launch);
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  ASSERT_EQ(words.size(), 1u);
  EXPECT_THAT(addresses, ElementsAre(words[0], abi::kCircularBufferAddress, words[0]));
}

TEST_F(SessionCircularBuffer, ALaunchAfterItsBufferWasFreedIsRefused) {
  const uint64_t used = Used();
  client->Send(Free({kBuffer}));
  client->Run();
  EXPECT_EQ(Used(), used - 2 * kPage) << "a program keeps no memory";
  ExpectUnknown(Refused(Launch(kProgram)), "launch.program");
}

TEST_F(SessionCircularBuffer, ATraceOfALaunchAfterItsBufferWasFreedIsRefused) {
  client->Send(Free({kBuffer}));
  ExpectUnknown(Refused(RecordTraceRequest{kTrace, {Launch(kPlain), Launch(kProgram)}}),
                "record_trace.launches[1].program");
}

TEST_F(SessionCircularBuffer, AnotherBufferOfThatNumberIsNotItsBuffer) {
  client->Send(Free({kBuffer}), L1Buffer(kBuffer));
  ExpectUnknown(Refused(Launch(kProgram)), "launch.program");
}

TEST_F(SessionCircularBuffer, ABufferWhoseFreeDidNotHappenIsStillItsBuffer) {
  client->SendOn(1, {}, Free({99}), Free({kBuffer}));
  client->Run();
  EXPECT_EQ(client->ErrorOf(1, 1).reason, "UNKNOWN_HANDLE");
  EXPECT_EQ(client->ErrorOf(2, 1).reason, "CAUSED_BY");
  EXPECT_EQ(Refused(Launch(kProgram)).code, StatusCode::kOk);
}

TEST_F(SessionCircularBuffer, MemoryOfAFreedBufferReturnsWhenLaunchesHaveEnded) {
  const uint64_t used = Used();
  card->hold = true;
  client->SendOn(1, {}, Launch(kProgram));
  client->Send(Free({kBuffer}));
  for (int i = 0; i < 5; ++i) core->RunOnce();
  EXPECT_EQ(Used(), used);
  card->hold = false;
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(Used(), used - 2 * kPage);
}

TEST_F(SessionCircularBuffer, ATraceKeepsTheMemoryOfAFreedBuffer) {
  const uint64_t used = Used();
  LaunchRequest patched = Launch(kProgram);
  patched.arguments.push_back({0, {0}, {}, 0, {{0, kBuffer, 0}}});
  client->Send(L1Buffer(6), RecordTraceRequest{kTrace, {patched}}, Free({kBuffer}));
  // The argument names another buffer from now on; the circular buffer stays where it is.
  client->Send(ReplayTraceRequest{kTrace, {{0, {0, {0}, {}, 0, {{0, 6, 0}}}}}}, Free({6}));
  client->Run();
  EXPECT_EQ(Used(), used + 2 * kPage);
  client->Send(ReplayTraceRequest{kTrace, {}}, Free({kTrace}));
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(Used(), used - 2 * kPage);
}

TEST_F(SessionCircularBuffer, OfABufferThatCannotBeMade_FollowsFromItsFailure) {
  client->OpenQueue(ComputeQueue(2));
  // Queue 0 allocates behind a write that is still to come, and is cancelled.
  client->Send(StreamedWrite(kBuffer, 0, kPage), L1Buffer(10));
  CreateProgramRequest program = OnBuffer(11);
  program.circular_buffers[0].buffer = 10;
  client->SendOn(1, {}, program);
  client->SendOn(2, {}, Launch(11));
  client->Run();
  EXPECT_EQ(client->Progress(2), 0u) << "waits for the program, which waits for the buffer";
  EXPECT_TRUE(client->Cancel({0, 5}).ok());
  client->Run();
  EXPECT_EQ(client->ErrorOf(1, 1).reason, "CAUSED_BY");
  EXPECT_EQ(client->ErrorOf(1, 2).reason, "CAUSED_BY");
}

}  // namespace
}  // namespace ttfd::session_circular_buffer_test
