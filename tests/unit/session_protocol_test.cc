// Errors that end a call: gaps in values, data nobody asked for, a Hello that cannot be served.
#include <gmock/gmock.h>

#include "daemon/api/status_reason.h"
#include "tests/support/core_fixture.h"

namespace ttfd::session_protocol_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SessionProtocol : public CoreTest {
 protected:
  void SetUp() override {
    Start();
    client = Prepared();
  }
  // With four commands that have ended well.
  std::unique_ptr<TestClient> Prepared() {
    auto prepared = Connect();
    prepared->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2), BarrierRequest{});
    prepared->Run();
    EXPECT_THAT(prepared->errors, IsEmpty());
    return prepared;
  }

  std::unique_ptr<TestClient> client;
};

TEST_F(SessionProtocol, AGapInValuesEndsTheCall) {
  for (const uint64_t value : {4, 7}) {  // sent before; one is missing
    auto sender = Prepared();
    BatchRequest batch;
    batch.first_value = value;
    batch.commands.push_back(BarrierRequest{});
    EXPECT_EQ(sender->Submit(batch).code(), StatusCode::kInvalidArgument) << value;
  }
}

TEST_F(SessionProtocol, AnUnknownQueueEndsTheCall) {
  BatchRequest batch;
  batch.queue = 9;
  batch.first_value = 1;
  batch.commands.push_back(BarrierRequest{});
  EXPECT_EQ(client->Submit(batch).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Prepared()->Cancel({9, 1}).code(), StatusCode::kInvalidArgument);
}

TEST_F(SessionProtocol, DataNobodyAskedForEndsTheCall) {
  struct DataCase {
    uint64_t value;
    uint64_t offset;
    size_t bytes;
    StatusCode code;
    const char* why;
  };
  const DataCase cases[] = {
      {6, 0, 1, StatusCode::kInvalidArgument, "a launch takes no data"},
      {7, 0, 1, StatusCode::kInvalidArgument, "was not sent"},
      {4, 0, 1, StatusCode::kInvalidArgument, "ended well"},
      {0, 0, 1, StatusCode::kInvalidArgument, "no command"},
      {5, 48, 1, StatusCode::kInvalidArgument, "a gap"},
      {5, 32, 33, StatusCode::kInvalidArgument, "excess"},
      {5, 0, 32, StatusCode::kInvalidArgument, "again"},
      {5, 32, options.limits.chunk_bytes + 1, StatusCode::kResourceExhausted, "a long chunk"},
      {5, 32, 32, StatusCode::kOk, "what is left"},
  };
  for (const DataCase& one : cases) {
    auto sender = Prepared();
    sender->Send(StreamedWrite(1, 0, 64), Launch(3));
    ASSERT_TRUE(sender->Supply(0, 5, 0, Pattern(32)).ok());
    EXPECT_EQ(sender->Supply(0, one.value, one.offset, Pattern(one.bytes)).code(), one.code)
        << one.why;
    sender->Run();
    EXPECT_EQ(sender->Progress(), one.code == StatusCode::kOk ? 6u : 4u) << one.why;
  }
}

TEST_F(SessionProtocol, DataOfARefusedCommandIsDropped) {
  client->Send(StreamedWrite(99, 0, 64));
  client->Send(StreamedWrite(1, 0, 64));
  EXPECT_TRUE(client->Supply(0, 5, 0, Pattern(64)).ok()) << "sent before the client knew";
  EXPECT_TRUE(client->Supply(0, 6, 0, Pattern(64)).ok()) << "aborted with it";
  client->Run();
  EXPECT_TRUE(client->Supply(0, 6, 0, Pattern(64)).ok());
}

// ---- hello

TEST_F(SessionProtocol, Hellos) {
  struct HelloCase {
    std::function<void(HelloRequest&)> change;
    StatusCode code;
    const char* message;
  };
  const HelloCase cases[] = {
      {[](auto& h) { h.min_revision = h.max_revision = 2; }, StatusCode::kFailedPrecondition,
       "revision"},
      {[](auto& h) { h.max_revision = 0; }, StatusCode::kFailedPrecondition, "revision"},
      {[](auto& h) { h.client_name = std::string(1000, 'n'); }, StatusCode::kResourceExhausted,
       "client_name_bytes"},
      {[](auto& h) { h.client_name = "x\n2026-11-22 info audit {}"; }, StatusCode::kInvalidArgument,
       "\"x\\n2026-11-22 info audit {}\" has an unprintable"},
      {[](auto& h) { h.client_name = "title \x1B]0;root password:\x07"; },
       StatusCode::kInvalidArgument, "unprintable character at byte 6"},
      {[](auto& h) { h.client_name = "right\u202Eleft"; }, StatusCode::kInvalidArgument, "byte 5"},
      {[](auto& h) { h.client_name = "no UTF-8 \xFF"; }, StatusCode::kInvalidArgument, "byte 9"},
      {[](auto& h) { h.weight = 0; }, StatusCode::kInvalidArgument, "weight 0"},
      {[](auto& h) { h.weight = 2; }, StatusCode::kResourceExhausted,
       "weight 2; 1 is the highest without the role admin"},
      {[](auto& h) { h.priority = Priority::kHigh; }, StatusCode::kResourceExhausted,
       "priority high; normal is the highest"},
      {[](auto& h) { h.priority_known = false; }, StatusCode::kUnimplemented, "priority"},
      {[](auto& h) { h.attach = AttachKind::kResume; }, StatusCode::kNotFound, "cannot be resumed"},
      {[](auto& h) { h.attach = AttachKind::kLeaseToken; }, StatusCode::kNotFound, "no lease"},
  };
  for (const HelloCase& one : cases) {
    HelloRequest hello;
    hello.min_revision = hello.max_revision = 1;
    one.change(hello);
    TestClient refused(*core);
    const Status status = refused.Open(hello);
    EXPECT_EQ(status.code(), one.code) << one.message;
    EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr(one.message));
  }
}

TEST_F(SessionProtocol, ClientName_RefusalNamesTheField) {
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  hello.client_name = "a\u0085b";
  TestClient refused(*core);
  const Status status = refused.Open(hello);
  EXPECT_EQ(PayloadOf(status, kFieldPayload), "hello.client_name");
  EXPECT_EQ(PayloadOf(status, kReasonPayload), "INVALID");
  hello.client_name = "caf\u00E9 \u20AC";
  EXPECT_TRUE(refused.Open(hello).ok()) << "printable text of any language is a name";
}

TEST_F(SessionProtocol, AUserHasAtMostSoManySessions) {
  options.limits.sessions_per_user = 2;
  client.reset();
  Start();
  auto one = Connect(7);
  auto two = Connect(7);
  auto other = Connect(8);
  TestClient three(*core);
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  EXPECT_EQ(three.Open(hello, 7).code(), StatusCode::kResourceExhausted);
  two->Abandon();
  EXPECT_TRUE(three.Open(hello, 7).ok()) << "an ended session counts no more";
}

}  // namespace
}  // namespace ttfd::session_protocol_test
