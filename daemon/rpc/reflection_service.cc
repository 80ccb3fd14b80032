// Answers from the descriptors that protoc's code carries.
#include "daemon/rpc/reflection_service.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/text_format.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "runtime/base/status.h"

namespace ttfd {
namespace {

// A request, its response, the next request.
class ReflectionCall final : public CallHandler {
 public:
  ReflectionCall(ServerCall& call, ReflectionService& service) : call_(call), service_(service) {
    call_.Read();
  }

  void OnRead(grpc::ByteBuffer* message) override {
    if (message == nullptr) return call_.Finish(OkStatus());
    ReflectionService::Request request;
    using Reading = grpc::SerializationTraits<ReflectionService::Request>;
    if (!Reading::Deserialize(message, &request).ok()) {
      return call_.Finish(InvalidArgument("the message is not a {}", request.GetTypeName()));
    }
    bool own = false;
    grpc::ByteBuffer response;
    // Cannot fail: no message has a required field, and all are far smaller than 2 GiB.
    const grpc::Status encoded = grpc::SerializationTraits<ReflectionService::Response>::Serialize(
        service_.Answer(request), &response, &own);
    static_cast<void>(encoded);
    call_.Write(response);
  }

  // A lost call ends by itself.
  void OnWritten(bool ok) override {
    if (ok) call_.Read();
  }

  void OnCancelled() override {}
  void OnDue(TimePoint) override {}
  void OnEnd() override {}

 private:
  ServerCall& call_;
  ReflectionService& service_;
};

void SetReflectionError(StatusCode code, std::string_view message,
                        ReflectionService::Response* response) {
  response->mutable_error_response()->set_error_code(static_cast<int>(code));
  response->mutable_error_response()->set_error_message(std::string(message));
}

}  // namespace

ReflectionService::ReflectionService(std::set<std::string> services)
    : services_(std::move(services)) {
  services_.insert("grpc.reflection.v1.ServerReflection");
  services_.insert("grpc.reflection.v1alpha.ServerReflection");
  DescribeV1();
}

// Version v1 is v1alpha with another name.
void ReflectionService::DescribeV1() {
  google::protobuf::FileDescriptorProto file;
  Request::descriptor()->file()->CopyTo(&file);
  std::string text;
  google::protobuf::TextFormat::PrintToString(file, &text);
  text = absl::StrReplaceAll(text, {{"v1alpha", "v1"}});
  if (google::protobuf::TextFormat::ParseFromString(text, &file)) pool_.BuildFile(file);
}

void ReflectionService::AddTo(Methods* methods) {
  for (const char* const version : {"v1", "v1alpha"}) {
    const std::string service = fmt::format("grpc.reflection.{}.ServerReflection", version);
    (*methods)[fmt::format("/{}/ServerReflectionInfo", service)] = [this](ServerCall& call) {
      return std::make_shared<ReflectionCall>(call, *this);
    };
  }
}

ReflectionService::Response ReflectionService::Answer(const Request& request) {
  Response response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case Request::kFileByFilename:
      AddFiles(pool_.FindFileByName(request.file_by_filename()), &response);
      break;
    case Request::kFileContainingSymbol:
      AddFiles(pool_.FindFileContainingSymbol(request.file_containing_symbol()), &response);
      break;
    case Request::kFileContainingExtension:
      AddFiles(FileOf(request.file_containing_extension()), &response);
      break;
    case Request::kAllExtensionNumbersOfType:
      AddExtensionNumbers(request.all_extension_numbers_of_type(), &response);
      break;
    case Request::kListServices:
      for (const std::string& name : services_) {
        response.mutable_list_services_response()->add_service()->set_name(name);
      }
      break;
    case Request::MESSAGE_REQUEST_NOT_SET:
      SetReflectionError(StatusCode::kUnimplemented, "this daemon has no answer to such requests",
                         &response);
      break;
  }
  return response;
}

const google::protobuf::FileDescriptor* ReflectionService::FileOf(
    const grpc::reflection::v1alpha::ExtensionRequest& extension) const {
  const auto* const type = pool_.FindMessageTypeByName(extension.containing_type());
  if (type == nullptr) return nullptr;
  const auto* const found = pool_.FindExtensionByNumber(type, extension.extension_number());
  return found == nullptr ? nullptr : found->file();
}

void ReflectionService::AddFiles(const FileDescriptor* file, Response* response) {
  if (file == nullptr) {
    return SetReflectionError(StatusCode::kNotFound, "no file has or defines this", response);
  }
  std::vector<const FileDescriptor*> files = {file};
  std::unordered_set<const FileDescriptor*> seen = {file};
  for (size_t i = 0; i < files.size(); ++i) {
    const FileDescriptor* const next = files[i];
    for (int j = 0; j < next->dependency_count(); ++j) {
      if (seen.insert(next->dependency(j)).second) files.push_back(next->dependency(j));
    }
  }
  for (const FileDescriptor* const one : files) {
    response->mutable_file_descriptor_response()->add_file_descriptor_proto(Encoded(*one));
  }
}

void ReflectionService::AddExtensionNumbers(const std::string& type, Response* response) const {
  const auto* const message = pool_.FindMessageTypeByName(type);
  if (message == nullptr) {
    return SetReflectionError(StatusCode::kNotFound, "no message has this name", response);
  }
  std::vector<const google::protobuf::FieldDescriptor*> extensions;
  pool_.FindAllExtensions(message, &extensions);
  auto* const numbers = response->mutable_all_extension_numbers_response();
  numbers->set_base_type_name(message->full_name());
  for (const auto* const extension : extensions) {
    numbers->add_extension_number(extension->number());
  }
}

const std::string& ReflectionService::Encoded(const FileDescriptor& file) {
  std::string& encoded = encoded_[&file];
  if (encoded.empty()) {
    google::protobuf::FileDescriptorProto proto;
    file.CopyTo(&proto);
    encoded = proto.SerializeAsString();
  }
  return encoded;
}

}  // namespace ttfd
