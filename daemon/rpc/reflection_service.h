// Server reflection of gRPC (grpc.reflection): the services of the daemon and the .proto files behind them, for clients
// that have none. Replaces gRPC's plugin, which polls with more threads.
#pragma once

#include <google/protobuf/descriptor.h>

#include <set>
#include <string>
#include <unordered_map>

#include "daemon/rpc/poller.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"

namespace ttfd {

// Outlives the poller that has its methods. Poller thread, once that has started.
class ReflectionService {
 public:
  using Request = grpc::reflection::v1alpha::ServerReflectionRequest;
  using Response = grpc::reflection::v1alpha::ServerReflectionResponse;

  // `services`: full names of all services of the server; those of reflection are added.
  explicit ReflectionService(std::set<std::string> services);
  ReflectionService(const ReflectionService&) = delete;
  ReflectionService& operator=(const ReflectionService&) = delete;

  // Adds the method in its versions v1 and v1alpha, which differ in nothing but names. Calls stay open until clients
  // end them; a message that is no request ends its call with INVALID_ARGUMENT. Before the poller starts.
  void AddTo(Methods* methods);
  // The response to one request. Errors are part of it.
  Response Answer(const Request& request);

 private:
  using FileDescriptor = google::protobuf::FileDescriptor;

  // Adds version v1 to pool_.
  void DescribeV1();
  // Null: there is no such extension.
  const FileDescriptor* FileOf(const grpc::reflection::v1alpha::ExtensionRequest& extension) const;
  // The file, if there is one, and all that it imports.
  void AddFiles(const FileDescriptor* file, Response* response);
  void AddExtensionNumbers(const std::string& type, Response* response) const;
  const std::string& Encoded(const FileDescriptor& file);

  std::set<std::string> services_;
  // Everything that is linked into the daemon, and version v1.
  google::protobuf::DescriptorPool pool_{google::protobuf::DescriptorPool::generated_pool()};
  // Grows up to the files of pool_.
  std::unordered_map<const FileDescriptor*, std::string> encoded_;
};

}  // namespace ttfd
