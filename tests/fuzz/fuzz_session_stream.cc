// Fuzz target: any bytes as what a client sends on its Session stream, to a daemon's core on a fake card. Whatever it
// is, the client gets statuses, messages numbered without gaps, progress that goes forward and data in its order; then
// nothing of it is left, and another session's data is what it was.
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "daemon/core/daemon.h"
#include "daemon/rpc/session_stream.h"
#include "runtime/abi/kernel_image.h"
#include "tests/fuzz/message_source.h"
#include "tests/support/fake_card.h"
#include "tests/support/one_card.h"

namespace ttfd {
namespace {

constexpr int kMessages = 64;     // of one input
constexpr int kRounds = 100'000;  // until nothing moves: more is a loop without an end
constexpr size_t kWitnessBytes = 8192;

void Require(bool holds) {
  if (!holds) std::abort();
}

StatusOr<std::shared_ptr<const KernelImage>> LoadFakeKernel(ByteSpan elf, const std::string& name) {
  const std::string text(reinterpret_cast<const char*>(elf.data()), elf.size());
  if (!text.starts_with("elf")) return InvalidArgument("{}: not an ELF file", name);
  auto image = std::make_shared<KernelImage>();
  image->name = name;
  image->bytes.resize(sizeof(abi::KernelImageHeader) + 64);
  return std::shared_ptr<const KernelImage>(std::move(image));
}

// The client's end: what comes is what may come.
class Receiver final : public SessionOutput {
 public:
  void OutputReady() override {}

  // True: there was something. Every message fits what gRPC takes.
  bool Take(SessionStream& stream, TimePoint now) {
    grpc::ByteBuffer bytes;
    if (!stream.Next(now, &bytes)) return false;
    Require(bytes.Length() < size_t{4} << 20);
    v1::ServerMessage message;
    grpc::ProtoBufferReader reader(&bytes);
    Require(message.ParseFromZeroCopyStream(&reader));
    Check(message);
    return true;
  }
  uint64_t received() const { return received_; }  // messages
  std::string data;                                // of all reads

 private:
  void Check(const v1::ServerMessage& message) {
    Require(message.window_bytes() == 0 || message.window_bytes() > window_);
    window_ = std::max(window_, message.window_bytes());
    if (message.sequence() == 0) {
      Require(message.data_size() + message.errors_size() + message.progress_size() == 0);
      return;
    }
    Require(message.sequence() == ++received_);
    for (const v1::Data& chunk : message.data()) {
      Require(chunk.offset() == offsets_[{chunk.queue(), chunk.value()}]);
      Require(chunk.value() > progress_[chunk.queue()]);
      offsets_[{chunk.queue(), chunk.value()}] += chunk.payload().size();
      data += chunk.payload();
    }
    for (const v1::CommandError& error : message.errors()) {
      Require(error.first_value() == 0 || error.first_value() > progress_[error.queue()]);
      Require(error.status().code() > 0 && error.status().code() <= 16 &&
              error.status().details_size() > 0 && !error.status().message().empty());
    }
    for (const v1::QueuePosition& position : message.progress()) {
      Require(position.value() > progress_[position.queue()]);
      progress_[position.queue()] = position.value();
    }
  }
  uint64_t received_ = 0;
  uint64_t window_ = 0;
  std::map<uint32_t, uint64_t> progress_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> offsets_;
};

class Target {
 public:
  Target() {
    DaemonOptions options;
    options.load_kernel = LoadFakeKernel;
    options.user_name = [](uint32_t) { return std::string("somebody"); };
    options.random_bytes = [](size_t bytes) { return std::string(bytes, 'r'); };
    // Small, so that inputs reach them.
    options.limits.handles = 64;
    options.limits.dram_bytes = 2 << 20;
    options.limits.trace_bytes = 64 << 10;
    options.limits.window_bytes = 200'000;
    options.limits.unacknowledged_bytes = 100'000;
    options.limits.nested_messages = 1000;
    auto created = Daemon::Create(OneCard(std::make_unique<FakeCard>(FakeCard::Behaviour{})),
                                  clock_, std::move(options));
    Require(created.ok());
    core_ = *std::move(created);
    Require(core_->Boot().ok());
    environment_ = {core_.get(), core_->admin().ListDevices().limits};
    witness_ = std::make_unique<SessionStream>(environment_, Peer(1), &witness_output_);
    v1::ClientMessage hello;
    hello.mutable_hello()->set_max_revision(1);
    Require(Read(*witness_, hello.SerializeAsString()).ok());
    v1::ClientMessage open;
    open.add_open_queues();
    Send(std::move(open));
    for (size_t i = 0; i < kWitnessBytes; ++i) pattern_ += static_cast<char>(i * 7 + (i >> 8));
    v1::Command command;
    command.mutable_allocate()->set_handle(1);
    command.mutable_allocate()->set_size_bytes(kWitnessBytes);
    command.mutable_allocate()->set_page_bytes(1000);
    command.mutable_allocate()->mutable_dram();
    Submit(command);
    command.mutable_write()->set_buffer(1);
    command.mutable_write()->set_size(kWitnessBytes);
    command.mutable_write()->set_inline_(pattern_);
    Submit(command);
    Settle(nullptr, nullptr);
    memory_ = core_->admin().GetStatus().devices[0].memory;
  }

  void Try(std::span<const uint8_t> bytes) {
    {
      Receiver receiver;
      SessionStream stream(environment_, Peer(2), &receiver);
      MessageSource source(bytes);
      Status status;
      for (int i = 0; i < kMessages && status.ok(); ++i) {
        const std::optional<std::string> message = source.Next();
        // A session that waits for its lease is not read.
        if (!message || stream.waits_for_lease()) break;
        status = Read(stream, *message);
        if (stream.open()) Settle(&stream, &receiver);
      }
      if (stream.open()) stream.Abandon(/*lost=*/status.ok() && bytes.size() % 2 == 0);
    }
    Settle(nullptr, nullptr);               // the loss is handled before
    clock_.Advance(std::chrono::hours(1));  // no session is kept so long for its client
    Settle(nullptr, nullptr);
    Check();
  }

 private:
  static PeerIdentity Peer(uint32_t uid) {
    PeerIdentity peer;
    peer.uid = uid;
    return peer;
  }
  Status Read(SessionStream& stream, const std::string& bytes) {
    grpc::Slice slice(bytes);
    grpc::ByteBuffer buffer(&slice, 1);
    return stream.Read(&buffer, clock_.Now());
  }
  // As the witness.
  void Send(v1::ClientMessage message) {
    message.set_sequence(++witness_messages_);
    Require(Read(*witness_, message.SerializeAsString()).ok());
  }
  void Submit(const v1::Command& command) {
    v1::ClientMessage message;
    message.set_ack(witness_output_.received());
    message.add_batches()->set_first_value(++witness_sent_);
    *message.mutable_batches(0)->add_commands() = command;
    Send(std::move(message));
  }

  // Until nothing moves.
  void Settle(SessionStream* stream, Receiver* receiver) {
    for (int round = 0; round < kRounds; ++round) {
      const bool more = core_->RunOnce();
      bool any = witness_output_.Take(*witness_, clock_.Now());
      if (stream != nullptr) any = receiver->Take(*stream, clock_.Now()) || any;
      if (!more && !any) return;
    }
    std::abort();
  }

  void Check() {
    Require(core_->admin().ListSessions().size() == 1);
    const StatusReply status = core_->admin().GetStatus();
    for (size_t i = 0; i < memory_.size(); ++i) {
      Require(status.devices[0].memory[i].used_bytes == memory_[i].used_bytes);
    }
    Require(status.state == DaemonState::kReady && status.devices[0].stats.resets == 0);
    witness_output_.data.clear();
    v1::Command read;
    read.mutable_read()->set_buffer(1);
    read.mutable_read()->set_size(kWitnessBytes);
    Submit(read);
    Settle(nullptr, nullptr);
    Require(witness_output_.data == pattern_);
  }

  ManualClock clock_;
  std::unique_ptr<Daemon> core_;
  SessionStreamEnvironment environment_;
  Receiver witness_output_;
  std::unique_ptr<SessionStream> witness_;
  uint64_t witness_messages_ = 0;
  uint64_t witness_sent_ = 0;
  std::string pattern_;
  std::vector<MemoryUseReply> memory_;
};

}  // namespace
}  // namespace ttfd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const google::protobuf::LogSilencer silencer;  // of strings that are not UTF-8
  static ttfd::Target target;
  target.Try({data, size});
  return 0;
}
