// Answers every message of a stream with one of a fixed size, as a callback server would at its leanest.
//
// usage: bench_stream_server UNIX_SOCKET REPLY_BYTES. Prints "ready" when it listens; runs until its
// standard input is closed.
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "bare_stream.grpc.pb.h"

namespace ttfd::bench {
namespace {

// One stream: a read, then its answer, then the next read. Deletes itself when the call is over.
class PingPongReactor final : public grpc::ServerBidiReactor<Message, Message> {
 public:
  explicit PingPongReactor(const std::string& payload) {
    reply_.set_payload(payload);
    StartRead(&request_);
  }
  void OnReadDone(bool ok) override {
    if (ok) {
      StartWrite(&reply_);
    } else {
      Finish(grpc::Status::OK);
    }
  }
  void OnWriteDone(bool ok) override {
    if (ok) {
      StartRead(&request_);
    } else {
      Finish(grpc::Status::CANCELLED);
    }
  }
  void OnDone() override { delete this; }

 private:
  Message request_;
  Message reply_;
};

class Service final : public BareStream::CallbackService {
 public:
  explicit Service(size_t reply_bytes) : payload_(reply_bytes, 'x') {}
  grpc::ServerBidiReactor<Message, Message>* PingPong(grpc::CallbackServerContext*) override {
    return new PingPongReactor(payload_);
  }

 private:
  const std::string payload_;
};

int Main(const std::string& socket, size_t reply_bytes) {
  Service service(reply_bytes);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  std::puts("ready");
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  server->Shutdown(std::chrono::system_clock::now());
  return 0;
}

}  // namespace
}  // namespace ttfd::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s UNIX_SOCKET REPLY_BYTES\n", argv[0]);
    return 2;
  }
  return ttfd::bench::Main(argv[1], std::strtoul(argv[2], nullptr, 10));
}
