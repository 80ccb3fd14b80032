// The client's side of the yardstick: a synchronous stream to a server in a process of its own.
#include "tests/bench/bare_stream_case.h"

#include <grpcpp/grpcpp.h>

#include <memory>

#include "bare_stream.grpc.pb.h"
#include "tests/bench/child.h"

namespace ttfd::bench {
namespace {

// A blocking launch as libttfd sends it (queue, value, program) and the progress that answers it.
constexpr size_t kRequestBytes = 14;
constexpr size_t kReplyBytes = 6;
constexpr std::chrono::seconds kStartTimeout{10};
constexpr int kWarmUpExchanges = 200;

class Client {
 public:
  static StatusOr<std::unique_ptr<Client>> Connect(const std::string& server,
                                                   const std::string& folder) {
    auto client = std::unique_ptr<Client>(new Client);
    const std::string socket = folder + "/bare.sock";
    ASSIGN_OR_RETURN(client->child_, Child::Start({server, socket, std::to_string(kReplyBytes)},
                                                  folder + "/bare.log"));
    RETURN_IF_ERROR(client->child_->WaitForSocket(socket, kStartTimeout));
    client->stub_ = BareStream::NewStub(
        grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials()));
    client->stream_ = client->stub_->PingPong(&client->context_);
    client->request_.set_payload(std::string(kRequestBytes, 'x'));
    for (int i = 0; i < kWarmUpExchanges; ++i) RETURN_IF_ERROR(client->Exchange());
    return client;
  }

  ~Client() {
    if (stream_ == nullptr) return;
    stream_->WritesDone();
    stream_->Finish();
  }

  pid_t server() const { return child_->pid(); }

  Status Exchange() {
    if (stream_->Write(request_) && stream_->Read(&reply_)) return OkStatus();
    return Internal("the bare stream ended");
  }

 private:
  Client() = default;

  std::unique_ptr<Child> child_;
  std::unique_ptr<BareStream::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<Message, Message>> stream_;
  Message request_;
  Message reply_;
};

}  // namespace

Exchange BareStream(const std::string& server, const std::string& folder) {
  const auto client = std::make_shared<std::unique_ptr<Client>>();
  return {[=]() -> Status {
            if (*client == nullptr) {
              ASSIGN_OR_RETURN(*client, Client::Connect(server, folder));
            }
            return (*client)->Exchange();
          },
          [client] { return (*client)->server(); }};
}

}  // namespace ttfd::bench
