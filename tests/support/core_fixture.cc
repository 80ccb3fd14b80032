// A daemon's core on a fake card, without threads.
#include "tests/support/core_fixture.h"

#include <utility>

#include "runtime/abi/kernel_image.h"
#include "tests/support/plain_transport.h"

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
  if (session_ != nullptr && !abandoned_) session_->Abandon(/*lost=*/true);
}

bool TestClient::Ended(Status* status) {
  core_.HandleAllInput();
  session_->CheckEnd(true, status);  // has the session end if this was all that it waited for
  core_.HandleAllInput();
  return session_->CheckEnd(true, status) == SessionPort::Ending::kEnded;
}

Status TestClient::Open(const HelloRequest& hello, uint32_t uid) {
  PeerIdentity peer;
  peer.uid = uid;
  peer.pid = 42;
  ASSIGN_OR_RETURN(session_, core_.Open(peer, hello, this, std::make_shared<PlainTransport>()));
  window_bytes = session_->welcome().window_bytes;
  const bool opens = hello.attach == AttachKind::kNew || hello.attach == AttachKind::kLeaseToken;
  if (opens) OpenQueue(ComputeQueue(0));
  return OkStatus();
}

Status TestClient::Accept(MessageRequest message) {
  sent_cost += message.cost;
  const bool leaves = message.leave;
  RETURN_IF_ERROR(session_->Accept(std::move(message), [this] { ++accepted; }));
  core_.HandleAllInput();
  return leaves ? OkStatus() : session_->Accept({}, [] {});  // why it has ended, if it has
}

void TestClient::OpenQueue(OpenQueueRequest request) {
  MessageRequest message;
  message.open_queues.push_back(std::move(request));
  const Status status = Accept(std::move(message));
  EXPECT_TRUE(status.ok()) << StatusMessage(status);
}

Status TestClient::Submit(BatchRequest batch, uint32_t cost) {
  MessageRequest message;
  message.cost = cost;
  batch.costs = {cost};
  message.batches.push_back(std::move(batch));
  return Accept(std::move(message));
}

uint64_t TestClient::SendBatch(BatchRequest batch, uint32_t cost) {
  uint64_t& sent = queues_[batch.queue].sent;
  const uint64_t first = sent + 1;
  if (batch.first_value == 0) batch.first_value = first;
  sent += batch.commands.size();
  const Status status = Submit(std::move(batch), cost);
  EXPECT_TRUE(status.ok()) << StatusMessage(status);
  return first;
}

Status TestClient::Supply(uint32_t queue, uint64_t value, uint64_t offset, std::string bytes,
                          uint32_t cost) {
  MessageRequest message;
  message.cost = cost;
  message.data.push_back({queue, value, offset, std::move(bytes), cost});
  return Accept(std::move(message));
}

Status TestClient::Cancel(QueuePosition from) {
  MessageRequest message;
  message.cancels.push_back(from);
  return Accept(std::move(message));
}

void TestClient::Finish() {
  MessageRequest message;
  message.finish = true;
  EXPECT_TRUE(Accept(std::move(message)).ok());
}

void TestClient::Leave() {
  MessageRequest message;
  message.leave = true;
  EXPECT_TRUE(Accept(std::move(message)).ok());
}

void TestClient::Abandon(bool lost) {
  abandoned_ = true;
  session_->Abandon(lost);
  core_.HandleAllInput();
}

bool TestClient::Take(uint64_t max_bytes) {
  for (bool any = false;; any = true) {
    SessionOutputBatch batch = session_->TakeOutput(max_bytes);
    if (batch.empty()) return any;
    const bool last = batch.last;
    Keep(std::move(batch));
    if (last) return true;
  }
}

void TestClient::Keep(SessionOutputBatch batch) {
  for (KernelPrintReply& print : batch.prints) {
    EXPECT_GT(print.position.value, queues_[print.position.queue].completed)
        << "prints come before the progress that covers them";
    prints.push_back(std::move(print));
  }
  for (DataChunk& chunk : batch.data) {
    std::string& data = queues_[chunk.queue].data[chunk.value];
    EXPECT_EQ(chunk.offset, data.size()) << "chunks are ascending and gapless";
    EXPECT_GT(chunk.value, queues_[chunk.queue].completed)
        << "data comes before the progress that covers it";
    data += chunk.payload;
  }
  for (CommandErrorReply& error : batch.errors) {
    EXPECT_TRUE(error.first_value == 0 || error.first_value > queues_[error.queue].completed)
        << "errors come before the progress that covers them";
    errors.push_back(std::move(error));
  }
  for (const QueuePosition& position : batch.progress) {
    uint64_t& completed = queues_[position.queue].completed;
    EXPECT_GT(position.value, completed) << "progress goes forward";
    completed = position.value;
  }
  if (batch.window_bytes != 0) {
    EXPECT_GT(batch.window_bytes, window_bytes) << "the window never shrinks";
    window_bytes = batch.window_bytes;
  }
  if (batch.has_waiting) lease_waits.push_back(batch.waiting);
  if (!batch.has_welcome) return;
  EXPECT_FALSE(welcomed) << "once";
  welcomed = true;
  lease_token = batch.lease_token;
  OpenQueue(ComputeQueue(0));
}

void TestClient::Run() {
  for (int quiet = 0; quiet < 1;) {
    const bool more = core_.RunOnce();
    const bool any = Take();
    quiet = more || any ? 0 : quiet + 1;
  }
}

uint64_t TestClient::Progress(uint32_t queue) const {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? 0 : found->second.completed;
}

std::string TestClient::Data(uint64_t value, uint32_t queue) const {
  const auto timeline = queues_.find(queue);
  if (timeline == queues_.end()) return "";
  const auto found = timeline->second.data.find(value);
  return found == timeline->second.data.end() ? "" : found->second;
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

// "elf..." is a kernel, anything else is not.
StatusOr<std::shared_ptr<const KernelImage>> LoadFakeKernel(ByteSpan elf, const std::string& name) {
  const std::string text(reinterpret_cast<const char*>(elf.data()), elf.size());
  if (!text.starts_with("elf")) return InvalidArgument("{}: not an ELF file", name);
  auto image = std::make_shared<KernelImage>();
  image->name = name;
  image->bytes.resize(sizeof(abi::KernelImageHeader) + 64);
  return std::shared_ptr<const KernelImage>(std::move(image));
}

void CoreTest::Create() {
  cards.clear();
  std::vector<ServedCard> served;
  for (size_t i = 0; i < card_count; ++i) {
    auto fake = std::make_unique<FakeCard>(behaviour);
    cards.push_back(fake.get());
    served.emplace_back().card = std::move(fake);
    served.back().set_in_use = set_in_use;
  }
  change_served(&served);
  card = cards.front();
  if (!options.load_kernel) options.load_kernel = LoadFakeKernel;
  if (!options.process_ended) options.process_ended = [](uint32_t) { return false; };
  options.user_name = [](uint32_t uid) { return "user" + std::to_string(uid); };
  if (!options.random_bytes) {
    options.random_bytes = [drawn = 0](size_t bytes) mutable {
      std::string random = std::to_string(++drawn);
      random.resize(bytes, 'r');
      return random;
    };
  }
  auto created = Daemon::Create(std::move(served), *core_clock, options);
  ASSERT_TRUE(created.ok());
  core = *std::move(created);
}

void CoreTest::Start() {
  ASSERT_NO_FATAL_FAILURE(Create());
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

MemoryUseReply CoreTest::Memory(MemoryKind kind) {
  const StatusReply status = core->admin().GetStatus();
  for (const MemoryUseReply& use : status.devices[0].memory) {
    if (use.kind == kind) return use;
  }
  return {};
}

}  // namespace ttfd
