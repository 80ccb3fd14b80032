// Requests of methods with one request: those that do not come, are none or are too large.
#include <gmock/gmock.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "tests/support/rpc_test_server.h"

namespace ttfd::rpc_reply_call_test {
namespace {

using ::testing::HasSubstr;
using Code = grpc::StatusCode;

// How a call of GetTimeouts ends that sends these bytes, if any, and then nothing more.
grpc::Status End(const RpcTestServer& server, const std::optional<std::string>& request,
                 bool half_closes) {
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  grpc::GenericStub stub(server.Connect());
  const auto call = stub.PrepareCall(&context, "/ttfd.v1.AdminService/GetTimeouts", &queue);
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  wait();
  if (request) {
    grpc::Slice slice(*request);
    call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    wait();
  }
  if (half_closes) {
    call->WritesDone(nullptr);
    wait();
  }
  // The status comes behind the reply.
  grpc::ByteBuffer reply;
  call->Read(&reply, nullptr);
  wait();
  grpc::Status status;
  call->Finish(&status, nullptr);
  wait();
  return status;
}

TEST(RpcReplyCall, RequestsThatAreNoneOrTooLargeAreRefused) {
  RpcTestServer server;
  const struct {
    std::optional<std::string> request;
    Code code;
    const char* message;
  } cases[] = {
      {"", Code::OK, ""},
      {std::nullopt, Code::INVALID_ARGUMENT, "ended before its request"},
      {"\x08", Code::INVALID_ARGUMENT, "not a ttfd.v1.GetTimeoutsRequest"},
      {std::string(65'537, '\0'), Code::RESOURCE_EXHAUSTED, "65537 bytes, 65536 are allowed"},
  };
  for (const auto& one : cases) {
    const grpc::Status status = End(server, one.request, /*half_closes=*/true);
    EXPECT_EQ(status.error_code(), one.code) << one.message;
    EXPECT_THAT(status.error_message(), HasSubstr(one.message));
  }
}

TEST(RpcReplyCall, ARequestHasToComeInTime) {
  RpcOptions options;
  options.hello_timeout = std::chrono::milliseconds(50);
  RpcTestServer server(options);
  EXPECT_EQ(End(server, std::nullopt, /*half_closes=*/false).error_code(), Code::DEADLINE_EXCEEDED);
  EXPECT_EQ(End(server, "", /*half_closes=*/false).error_code(), Code::OK)
      << "a client need not end its side";
}

TEST(RpcReplyCall, MethodsThatAreNotThereAreUnimplemented) {
  RpcTestServer server;
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  grpc::GenericStub stub(server.Connect());
  grpc::Slice empty;
  const auto call = stub.PrepareUnaryCall(&context, "/ttfd.v1.AdminService/None",
                                          grpc::ByteBuffer(&empty, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(status.error_code(), Code::UNIMPLEMENTED);
}

}  // namespace
}  // namespace ttfd::rpc_reply_call_test
