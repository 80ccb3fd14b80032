// Watch calls of health, and reflection, over a real connection.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/channel.h>
#include <grpcpp/support/sync_stream.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "tests/support/rpc_test_server.h"

namespace ttfd::rpc_health_test {
namespace {

using Code = grpc::StatusCode;
using ::testing::ElementsAre;

// A call of a method that has no stub here, with a deadline over all of it. Unary methods are streams with one message.
template <typename Request, typename Response>
struct StreamCall {
  StreamCall(const RpcTestServer& server, const std::string& method) : channel(server.Connect()) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    using grpc::internal::RpcMethod;
    stream.reset(grpc::internal::ClientReaderWriterFactory<Request, Response>::Create(
        channel.get(), RpcMethod(method.c_str(), RpcMethod::BIDI_STREAMING), &context));
  }
  // The next message; an empty one if there is none.
  Response Read() {
    Response response;
    if (!stream->Read(&response)) response.Clear();
    return response;
  }
  Response Ask(const Request& request) {
    stream->Write(request);
    return Read();
  }
  // How the call ended, behind what is left of its messages.
  Code End() {
    stream->WritesDone();
    Response rest;
    while (stream->Read(&rest)) {
    }
    return stream->Finish().error_code();
  }
  void Cancel() {
    context.TryCancel();
    EXPECT_EQ(End(), Code::CANCELLED);
  }
  std::shared_ptr<grpc::Channel> channel;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> stream;
};

using HealthRequest = grpc::health::v1::HealthCheckRequest;
using Serving = grpc::health::v1::HealthCheckResponse;
using HealthCall = StreamCall<HealthRequest, Serving>;
using ReflectionRequest = grpc::reflection::v1alpha::ServerReflectionRequest;
using Reflection = grpc::reflection::v1alpha::ServerReflectionResponse;
using ReflectionCall = StreamCall<ReflectionRequest, Reflection>;

HealthRequest HealthOf(const std::string& service) {
  HealthRequest request;
  request.set_service(service);
  return request;
}

TEST(RpcHealth, WatchSendsTheStatusAtOnceAndAfterEachChange) {
  RpcTestServer server;
  HealthCall device(server, "/grpc.health.v1.Health/Watch");
  HealthCall unknown(server, "/grpc.health.v1.Health/Watch");
  EXPECT_EQ(device.Ask(HealthOf("ttfd.v1.DeviceService")).status(), Serving::SERVING);
  EXPECT_EQ(unknown.Ask(HealthOf("no.Service")).status(), Serving::SERVICE_UNKNOWN);
  for (const bool serving : {false, true, false}) {
    server.server().SetServing(serving);
    server.server().SetServing(serving);  // no change
    EXPECT_EQ(device.Read().status(), serving ? Serving::SERVING : Serving::NOT_SERVING);
  }
  unknown.Cancel();
  device.Cancel();
}

TEST(RpcHealth, LongNamesAreRefused) {
  RpcTestServer server;
  for (const char* method : {"Check", "Watch"}) {
    HealthCall call(server, fmt::format("/grpc.health.v1.Health/{}", method));
    call.Ask(HealthOf(std::string(201, 'a')));
    EXPECT_EQ(call.End(), Code::INVALID_ARGUMENT);
  }
}

TEST(RpcHealth, WatchCallsComeAndGoWhileTheStatusChanges) {
  RpcTestServer server;
  std::vector<std::unique_ptr<HealthCall>> calls;
  for (int i = 0; i < 30; ++i) {
    server.server().SetServing(i % 2 == 0);
    calls.push_back(std::make_unique<HealthCall>(server, "/grpc.health.v1.Health/Watch"));
    const auto first = calls.back()->Ask(HealthOf("")).status();
    EXPECT_EQ(first, i % 2 == 0 ? Serving::SERVING : Serving::NOT_SERVING);
    if (calls.size() < 5) continue;
    calls.front()->Cancel();
    calls.erase(calls.begin());
  }
  for (const auto& call : calls) call->Cancel();
  HealthCall last(server, "/grpc.health.v1.Health/Check");
  EXPECT_EQ(last.Ask(HealthOf("")).status(), Serving::NOT_SERVING);
  EXPECT_EQ(last.End(), Code::OK);
}

TEST(RpcReflection, DescribesEveryServiceItNamesInBothVersions) {
  RpcTestServer server;
  for (const char* version : {"v1", "v1alpha"}) {
    ReflectionCall call(server, fmt::format("/grpc.reflection.{}.ServerReflection/{}", version,
                                            "ServerReflectionInfo"));
    ReflectionRequest request;
    request.set_list_services("*");
    std::vector<std::string> names;
    const auto listed = call.Ask(request);
    for (const auto& one : listed.list_services_response().service()) names.push_back(one.name());
    EXPECT_THAT(names, ElementsAre("grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                   "grpc.reflection.v1alpha.ServerReflection",
                                   "ttfd.v1.AdminService", "ttfd.v1.DeviceService"));
    for (const std::string& name : names) {
      request.set_file_containing_symbol(name);
      EXPECT_TRUE(call.Ask(request).has_file_descriptor_response()) << name;
    }
    EXPECT_EQ(call.End(), Code::OK);
  }
}

TEST(RpcReflection, SendsAFileWithAllItImportsAndAnErrorWhereThereIsNone) {
  RpcTestServer server;
  ReflectionCall call(server, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  ReflectionRequest request;
  request.set_file_containing_symbol("ttfd.v1.AdminService");
  std::map<std::string, int> imports;  // by the file: how many
  std::set<std::string> imported;
  const auto found = call.Ask(request);
  for (const std::string& bytes : found.file_descriptor_response().file_descriptor_proto()) {
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(bytes));
    EXPECT_TRUE(!imports.empty() || file.name() == "ttfd/v1/admin.proto");
    imports[file.name()] = file.dependency_size();
    imported.insert(file.dependency().begin(), file.dependency().end());
  }
  EXPECT_GT(imports["ttfd/v1/admin.proto"], 0);
  for (const std::string& name : imported) EXPECT_TRUE(imports.contains(name)) << name;
  request.set_host("here");
  request.set_file_by_filename("no.proto");
  const Reflection response = call.Ask(request);
  EXPECT_EQ(response.error_response().error_code(), Code::NOT_FOUND);
  EXPECT_EQ(response.valid_host(), "here");
  EXPECT_EQ(response.original_request().file_by_filename(), "no.proto");
  EXPECT_EQ(call.Ask({}).error_response().error_code(), Code::UNIMPLEMENTED);
  EXPECT_EQ(call.End(), Code::OK);
}

TEST(RpcReflection, AMessageThatIsNoRequestEndsTheCall) {
  RpcTestServer server;
  StreamCall<grpc::ByteBuffer, grpc::ByteBuffer> call(
      server, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  const grpc::Slice slice("no request");
  call.Ask(grpc::ByteBuffer(&slice, 1));
  EXPECT_EQ(call.End(), Code::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace ttfd::rpc_health_test
