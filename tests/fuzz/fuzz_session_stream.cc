// Fuzz target: any bytes as what a client sends on its Session stream, to a daemon's core on a fake card. Whatever it
// is, the client gets statuses, progress that goes forward and data in its order; then nothing of it is left, and
// another session's data is what it was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "daemon/rpc/reply_conversion.h"
#include "daemon/rpc/request_conversion.h"
#include "daemon/session/daemon_core.h"
#include "runtime/abi/kernel_image.h"
#include "tests/fuzz/message_source.h"
#include "tests/support/fake_dispatcher.h"

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

// The client's side of a stream: what comes is what may come.
class Listener final : public SessionOutput {
 public:
  void OutputReady() override {}

  // True: there was something. Every message fits what gRPC takes.
  bool Take(ClientSession& session) {
    SessionOutputBatch batch = session.TakeOutput(1 << 20);
    if (batch.empty()) return false;
    while (!batch.empty()) {
      v1::ServerMessage message;
      TakeMessage(&batch, 1 << 20, &message);
      Require(message.SerializeAsString().size() < size_t{4} << 20);
      Look(message);
    }
    return true;
  }
  std::string data;  // of all reads

 private:
  void Look(const v1::ServerMessage& message) {
    for (const v1::Data& chunk : message.data()) {
      Require(chunk.offset() == offsets_[{chunk.queue(), chunk.value()}]);
      Require(chunk.value() > progress_[chunk.queue()]);
      offsets_[{chunk.queue(), chunk.value()}] += chunk.payload().size();
      data += chunk.payload();
    }
    for (const v1::CommandError& error : message.errors()) {
      Require(error.first_value() > progress_[error.queue()]);
      Require(error.error().code() > 0 && error.error().code() <= 16 &&
              !error.error().reason().empty() && !error.error().message().empty());
    }
    for (const v1::QueuePosition& position : message.progress()) {
      Require(position.value() > progress_[position.queue()]);
      progress_[position.queue()] = position.value();
    }
  }
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
    auto created = DaemonCore::Create(std::make_unique<FakeDispatcher>(FakeDispatcher::Behaviour{}),
                                      clock_, std::move(options));
    Require(created.ok());
    core_ = *std::move(created);
    Require(core_->Boot().ok());
    witness_ = Open(&witness_output_, 1);
    for (size_t i = 0; i < kWitnessBytes; ++i) pattern_ += static_cast<char>(i * 7 + (i >> 8));
    AllocateRequest allocate;
    allocate.handle = 1;
    allocate.size_bytes = kWitnessBytes;
    allocate.page_bytes = 1000;
    allocate.place = BufferPlace::kDramInterleaved;
    WriteRequest write;
    write.buffer = 1;
    write.size = kWitnessBytes;
    write.is_inline = true;
    write.inline_bytes = pattern_;
    Submit(std::move(allocate));
    Submit(std::move(write));
    Settle(nullptr, nullptr);
    memory_ = core_->GetStatus().memory;
  }

  void Try(std::span<const uint8_t> bytes) {
    {
      Listener listener;
      std::shared_ptr<ClientSession> session;
      MessageSource source(bytes);
      Status status;
      for (int i = 0; i < kMessages && status.ok(); ++i) {
        std::optional<v1::ClientMessage> message = source.Next();
        if (!message) break;
        status = Handle(*message, &session, &listener);
        // A client that is ahead of its credit is not read.
        if (session != nullptr) Settle(session.get(), &listener);
        if (session != nullptr && !session->WantsInput()) break;
      }
      if (session != nullptr) {
        if (status.ok() && bytes.size() % 2 == 0) session->FinishInput();
        Settle(session.get(), &listener);
        Status end;
        if (!session->finished(&end)) session->Abandon();
      }
    }
    Settle(nullptr, nullptr);
    Check();
  }

 private:
  std::shared_ptr<ClientSession> Open(SessionOutput* output, uint32_t uid) {
    HelloRequest hello;
    hello.min_revision = hello.max_revision = 1;
    PeerIdentity peer;
    peer.uid = uid;
    auto opened = core_->Open(peer, hello, output);
    Require(opened.ok());
    return *std::move(opened);
  }

  // As the gRPC side hands a message on.
  Status Handle(v1::ClientMessage& message, std::shared_ptr<ClientSession>* session,
                Listener* listener) {
    if (message.has_hello()) {
      if (*session != nullptr) return InvalidArgument("a second Hello");
      PeerIdentity peer;
      peer.uid = 2;
      ASSIGN_OR_RETURN(*session, core_->Open(peer, HelloFromProto(message.hello()), listener));
    }
    if (*session == nullptr) return InvalidArgument("no Hello");
    const SessionLimits limits = core_->Limits();
    for (v1::Batch& batch : *message.mutable_batches()) {
      RETURN_IF_ERROR((*session)->Submit(BatchFromProto(batch, limits)));
    }
    for (v1::Data& data : *message.mutable_data()) {
      RETURN_IF_ERROR((*session)->Supply(DataFromProto(data)));
    }
    for (const v1::Cancel& cancel : message.cancels()) {
      RETURN_IF_ERROR(
          (*session)->Cancel({{cancel.queue(), cancel.from_value()}, cancel.sent_value()}));
    }
    return (*session)->Received(ReceivedFromProto(message.received(), message.received_data()));
  }

  void Submit(Request request) {
    BatchRequest batch;
    batch.first_value = ++witness_sent_;
    batch.commands.push_back(std::move(request));
    Require(witness_->Submit(std::move(batch)).ok());
  }

  // Until nothing moves.
  void Settle(ClientSession* session, Listener* listener) {
    for (int round = 0; round < kRounds; ++round) {
      const bool more = core_->RunOnce();
      bool any = witness_output_.Take(*witness_);
      if (session != nullptr) any = listener->Take(*session) || any;
      if (!more && !any) return;
    }
    std::abort();
  }

  void Check() {
    Require(core_->ListSessions().size() == 1);
    const StatusReply status = core_->GetStatus();
    for (size_t i = 0; i < memory_.size(); ++i) {
      Require(status.memory[i].used_bytes == memory_[i].used_bytes);
    }
    Require(status.state == "ready" && status.device_resets == 0);
    witness_output_.data.clear();
    Submit(ReadRequest{1, 0, kWitnessBytes});
    Settle(nullptr, nullptr);
    Require(witness_output_.data == pattern_);
  }

  ManualClock clock_;
  std::unique_ptr<DaemonCore> core_;
  Listener witness_output_;
  std::shared_ptr<ClientSession> witness_;
  uint64_t witness_sent_ = 0;
  std::string pattern_;
  std::vector<MemoryUseReply> memory_;
};

}  // namespace
}  // namespace ttfd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static ttfd::Target target;
  target.Try({data, size});
  return 0;
}
