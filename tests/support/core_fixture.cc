// A daemon's core on a fake card, without threads.
#include "tests/support/core_fixture.h"

#include <utility>

#include "runtime/abi/kernel_image.h"

namespace ttfd {

WriteRequest InlineWrite(uint64_t buffer, uint64_t offset, std::string bytes) {
  WriteRequest request;
  request.buffer = buffer;
  request.offset = offset;
  request.size = bytes.size();
  request.is_inline = true;
  request.inline_bytes = std::move(bytes);
  return request;
}

WriteRequest StreamedWrite(uint64_t buffer, uint64_t offset, uint64_t size) {
  WriteRequest request;
  request.buffer = buffer;
  request.offset = offset;
  request.size = size;
  request.streamed = true;
  return request;
}

LoadKernelRequest InlineKernel(uint64_t handle, std::string elf) {
  LoadKernelRequest request;
  request.handle = handle;
  request.size = elf.size();
  request.is_inline = true;
  request.inline_bytes = std::move(elf);
  return request;
}

CreateProgramRequest OneKernelProgram(uint64_t handle, uint64_t kernel, CoreRange cores) {
  CreateProgramRequest request;
  request.handle = handle;
  request.kernels.push_back({kernel, true, hw::kBrisc, {cores}});
  return request;
}

std::string Pattern(size_t size, uint32_t seed) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<char>(seed >> 24);
  }
  return bytes;
}

// ---- TestClient

TestClient::~TestClient() {
  Status status;
  if (session_ != nullptr && !session_->finished(&status)) session_->Abandon();
}

Status TestClient::Open(const HelloRequest& hello, uint32_t uid) {
  PeerIdentity peer;
  peer.uid = uid;
  peer.pid = 42;
  ASSIGN_OR_RETURN(session_, core_.Open(peer, hello, this));
  credit = session_->welcome().credit;
  return OkStatus();
}

uint64_t TestClient::SendBatch(BatchRequest batch) {
  uint64_t& sent = sent_[batch.queue];
  const uint64_t first = sent + 1;
  if (batch.first_value == 0) batch.first_value = first;
  sent += batch.commands.size();
  const Status status = session_->Submit(std::move(batch));
  EXPECT_TRUE(status.ok()) << StatusMessage(status);
  return first;
}

Status TestClient::Supply(uint32_t queue, uint64_t value, uint64_t offset, std::string bytes) {
  return session_->Supply({queue, value, offset, std::move(bytes)});
}

bool TestClient::Take(uint64_t max_bytes) {
  for (bool any = false;; any = true) {
    SessionOutputBatch batch = session_->TakeOutput(max_bytes);
    if (batch.empty()) return any;
    for (KernelPrintReply& print : batch.prints) {
      EXPECT_GT(print.position.value, progress_[print.position.queue])
          << "prints come before the progress that covers them";
      prints.push_back(std::move(print));
    }
    hang_reports.insert(hang_reports.end(), batch.hang_reports.begin(), batch.hang_reports.end());
    for (DataChunk& chunk : batch.data) {
      std::string& data = data_[{chunk.queue, chunk.value}];
      EXPECT_EQ(chunk.offset, data.size()) << "chunks are ascending and gapless";
      EXPECT_GT(chunk.value, progress_[chunk.queue])
          << "data comes before the progress that covers it";
      data += chunk.payload;
    }
    for (CommandErrorReply& error : batch.errors) {
      EXPECT_GT(error.first_value, progress_[error.queue])
          << "errors come before the progress that covers them";
      errors.push_back(std::move(error));
    }
    for (const QueuePosition& position : batch.progress) {
      EXPECT_GT(position.value, progress_[position.queue]) << "progress goes forward";
      progress_[position.queue] = position.value;
    }
    if (batch.has_credit) credit = batch.credit;
    drain_notice |= batch.has_draining;
    if (batch.has_waiting) waiting = batch.waiting;
    if (batch.has_welcome) {
      EXPECT_FALSE(welcomed) << "once";
      welcomed = true;
      lease_token = batch.lease_token;
    }
  }
}

void TestClient::Run() {
  for (int quiet = 0; quiet < 1;) {
    const bool more = core_.RunOnce();
    const bool any = Take();
    quiet = more || any ? 0 : quiet + 1;
  }
}

uint64_t TestClient::Progress(uint32_t queue) const {
  const auto found = progress_.find(queue);
  return found == progress_.end() ? 0 : found->second;
}

std::string TestClient::Data(uint64_t value, uint32_t queue) const {
  const auto found = data_.find({queue, value});
  return found == data_.end() ? "" : found->second;
}

ErrorReply TestClient::ErrorOf(uint64_t value, uint32_t queue) const {
  for (const CommandErrorReply& error : errors) {
    if (error.queue == queue && error.first_value <= value && value <= error.last_value)
      return error.error;
  }
  ErrorReply none;
  none.code = StatusCode::kOk;
  return none;
}

// ---- CoreTest

namespace {

// "elf..." is a kernel, anything else is not.
StatusOr<std::shared_ptr<const KernelImage>> LoadFakeKernel(ByteSpan elf, const std::string& name) {
  const std::string text(reinterpret_cast<const char*>(elf.data()), elf.size());
  if (!text.starts_with("elf")) return InvalidArgument("{}: not an ELF file", name);
  auto image = std::make_shared<KernelImage>();
  image->name = name;
  image->bytes.resize(sizeof(abi::KernelImageHeader) + 64);
  return std::shared_ptr<const KernelImage>(std::move(image));
}

}  // namespace

void CoreTest::Start() {
  auto dispatcher = std::make_unique<FakeDispatcher>(behaviour);
  card = dispatcher.get();
  options.load_kernel = LoadFakeKernel;
  if (!options.process_ended) options.process_ended = [](uint32_t) { return false; };
  options.user_name = [](uint32_t uid) { return "user" + std::to_string(uid); };
  if (!options.random_bytes) {
    options.random_bytes = [drawn = 0](size_t bytes) mutable {
      std::string random = std::to_string(++drawn);
      random.resize(bytes, 'r');
      return random;
    };
  }
  auto created = DaemonCore::Create(std::move(dispatcher), clock, options);
  ASSERT_TRUE(created.ok());
  core = *std::move(created);
  ASSERT_TRUE(core->Boot().ok());
}

std::unique_ptr<TestClient> CoreTest::Connect(uint32_t uid) {
  auto client = std::make_unique<TestClient>(*core);
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  hello.client_name = "test";
  const Status status = client->Open(hello, uid);
  EXPECT_TRUE(status.ok()) << StatusMessage(status);
  return client;
}

void CoreTest::RunAll() {
  while (core->RunOnce()) continue;
}

MemoryUseReply CoreTest::Memory(const std::string& kind) {
  for (const MemoryUseReply& use : core->GetStatus().memory) {
    if (use.kind == kind) return use;
  }
  return {};
}

}  // namespace ttfd
