// See the header.
#include "tests/fault/injection_scenario.h"

#include <cstring>
#include <utility>

#include "firmware/kernel_elfs.h"
#include "runtime/base/bytes.h"
#include "tests/support/one_card.h"

namespace ttfd {
namespace {

constexpr uint64_t kPageBytes = 1024;
constexpr uint64_t kTiles = 4;
constexpr uint64_t kBytes = kTiles * kPageBytes;
constexpr uint64_t kStreamBytes = 96 << 10;
constexpr CoreRange kCores = {0, 0, 1, 1};
constexpr uint32_t kTransferQueue = 1;
constexpr int kMostRounds = 2'000'000;  // of the device thread: more is a wait without an end

std::string Sum(const std::string& a, const std::string& b) {
  std::string sum(a.size(), '\0');
  for (size_t at = 0; at < a.size(); at += 4) {
    const uint32_t word = LoadAt<uint32_t>(a.data() + at) + LoadAt<uint32_t>(b.data() + at);
    std::memcpy(sum.data() + at, &word, sizeof(word));
  }
  return sum;
}

LoadKernelRequest AdderKernel(uint64_t handle) {
  const ByteSpan elf = KernelElf("vector_add");
  EXPECT_FALSE(elf.empty());
  return InlineKernel(handle, std::string(reinterpret_cast<const char*>(elf.data()), elf.size()));
}

CreateProgramRequest AdderProgram(uint64_t handle, uint64_t kernel) {
  CreateProgramRequest request = OneKernelProgram(handle, kernel, kCores);
  request.circular_buffers.push_back({0, 4, kPageBytes, {kCores}});
  request.semaphores.push_back({0, 0, {kCores}});
  return request;
}

// Buffer `to` = buffer 1 + buffer 2.
LaunchRequest AddInto(uint64_t program, uint64_t to) {
  LaunchRequest launch = Launch(program);
  ArgumentsRequest arguments;
  arguments.common = {0, 0, 0, kPageBytes};
  arguments.words_per_core = 2;
  for (uint32_t core = 0; core < kTiles; ++core) {
    arguments.per_core.push_back(core);
    arguments.per_core.push_back(1);
  }
  arguments.buffers = {{0, 1, 0}, {1, 2, 0}, {2, to, 0}};
  launch.arguments.push_back(std::move(arguments));
  return launch;
}

}  // namespace

CardOptions InjectionScenario::Rings() {
  CardOptions options;
  options.issue_ring_bytes = 512 << 10;
  options.completion_ring_pages = 64;
  options.advance_clocks = 2'000;  // many operations
  options.boot_timeout = std::chrono::milliseconds(200);
  return options;
}

InjectionScenario::InjectionScenario(std::unique_ptr<Device> device)
    : clock_(std::chrono::microseconds(10)), device_(std::move(device)) {
  auto firmware_card = FirmwareCard::Create(*device_, clock_, Rings());
  EXPECT_TRUE(firmware_card.ok()) << firmware_card.status().ToString();
  DaemonOptions options;
  options.user_name = [](uint32_t uid) { return "user" + std::to_string(uid); };
  options.timeouts.operation_ms = options.timeouts.kernel_ms = 50;
  auto core = Daemon::Create(OneCard(*std::move(firmware_card)), clock_, std::move(options));
  EXPECT_TRUE(core.ok()) << core.status().ToString();
  core_ = *std::move(core);
}

InjectionScenario::~InjectionScenario() {
  witness_.reset();
  core_.reset();  // before the device
}

std::unique_ptr<TestClient> InjectionScenario::Connect(uint32_t uid) {
  auto client = std::make_unique<TestClient>(*core_);
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  hello.client_name = "injection";
  const Status status = client->Open(hello, uid);
  EXPECT_TRUE(status.ok()) << StatusMessage(status);
  return client;
}

void InjectionScenario::OpenWitness() {
  witness_ = Connect(1000);
  witness_errors_ = 0;
  dram_ = Pattern(32 << 10, 11);
  l1_ = Pattern(8 << 10, 12);
  AllocateRequest l1 = Allocate(2, l1_.size());
  l1.place = BufferPlace::kL1Interleaved;
  witness_->Send(Allocate(1, dram_.size()), l1, Allocate(3, 4096));
  witness_sent_ = witness_->Send(InlineWrite(1, 0, dram_), InlineWrite(2, 0, l1_)) + 1;
  Settle(witness_.get(), {{0, witness_sent_}});
  ASSERT_TRUE(witness_->errors.empty()) << witness_->errors[0].error.message;
  memory_ = core_->admin().GetStatus().devices[0].memory;
}

uint64_t InjectionScenario::SendEverything(TestClient* client, Reads* expected) {
  const std::string a = Pattern(kBytes, 1), b = Pattern(kBytes, 2),
                    stream = Pattern(kStreamBytes, 3);
  AllocateRequest l1 = Allocate(9, kBytes);
  l1.place = BufferPlace::kL1Interleaved;
  client->OpenQueue(TransferQueue(kTransferQueue));
  client->Send(Allocate(1, kBytes), Allocate(2, kBytes), Allocate(3, kBytes),
               Allocate(7, kStreamBytes), Allocate(8, kBytes), l1, AdderKernel(4),
               AdderProgram(5, 4));
  // Beside the launches; after the objects are there.
  const uint64_t write =
      client->SendOn(kTransferQueue, {{0, 8}}, StreamedWrite(7, 0, kStreamBytes));
  for (uint64_t at = 0; at < kStreamBytes; at += 32 << 10) {
    EXPECT_TRUE(client->Supply(kTransferQueue, write, at, stream.substr(at, 32 << 10)).ok());
  }
  (*expected)[{kTransferQueue, client->SendOn(kTransferQueue, {}, Read(7, 0, kStreamBytes))}] =
      stream;
  uint64_t last = 0;
  // Step by step, so that there are more operations than one round of the device thread has.
  const auto read = [&](uint64_t buffer, const std::string& bytes) {
    last = client->Send(Read(buffer, 0, kBytes));
    (*expected)[{0, last}] = bytes;
    WitnessWorks();
    Settle(client, {{0, last}});
    return !Ended(client);
  };
  for (int round = 0; round < 3; ++round) {
    client->Send(FillRequest{3, 0, kBytes, 7}, InlineWrite(1, 0, a), InlineWrite(2, 0, b),
                 AddInto(5, 3));
    if (!read(3, Sum(a, b))) return last;
  }
  RecordTraceRequest record;
  record.handle = 6;
  record.launches = {AddInto(5, 8), AddInto(5, 3)};
  client->Send(record, ReplayTraceRequest{6, {}});
  if (!read(8, Sum(a, b))) return last;
  client->Send(CopyRequest{1, 0, 9, 0, kBytes});
  read(9, a);
  return last;
}

bool InjectionScenario::Ended(TestClient* client) {
  Status status;
  if (!client->Ended(&status)) return false;
  EXPECT_EQ(status.code(), StatusCode::kUnavailable) << StatusMessage(status);
  EXPECT_EQ(core_->admin().GetStatus().state, DaemonState::kFailed);
  return true;
}

void InjectionScenario::Settle(TestClient* client, const std::map<uint32_t, uint64_t>& sent) {
  for (int round = 0; round < kMostRounds; ++round) {
    core_->RunOnce();
    client->Take();
    if (witness_ != nullptr && !witness_lost_) witness_->Take();
    bool all = true;
    for (const auto& [queue, value] : sent) all &= client->Progress(queue) >= value;
    all = all || Ended(client);
    if (witness_ != nullptr && !witness_lost_ && witness_->Progress() < witness_sent_) {
      witness_lost_ = Ended(witness_.get());
      all &= witness_lost_;
    }
    if (!all) continue;
    if (witness_ != nullptr && !witness_lost_ &&
        core_->admin().GetStatus().state == DaemonState::kFailed) {
      witness_lost_ = Ended(witness_.get());
    }
    return;
  }
  ADD_FAILURE() << "a command neither ended nor failed";
}

// True: everything ended well. What ended well must be right.
bool InjectionScenario::CheckEnded(const TestClient& client, const Reads& expected) {
  std::map<uint32_t, uint64_t> told;  // errors of a queue are told once, in order
  for (const CommandErrorReply& error : client.errors) {
    EXPECT_GT(error.first_value, told[error.queue]) << "an error told twice";
    EXPECT_GE(error.last_value, error.first_value);
    told[error.queue] = error.last_value;
    EXPECT_TRUE(error.error.code == StatusCode::kUnavailable ||
                error.error.code == StatusCode::kAborted)
        << static_cast<int>(error.error.code) << " " << error.error.message;
  }
  for (const auto& [position, bytes] : expected) {
    if (client.ErrorOf(position.second, position.first).code != StatusCode::kOk) continue;
    if (client.Progress(position.first) < position.second) continue;  // its session has ended
    EXPECT_TRUE(client.Data(position.second, position.first) == bytes)
        << "read " << position.second << " of queue " << position.first << " is wrong and no error";
  }
  bool all = client.errors.empty();
  for (const auto& [position, bytes] : expected)
    all &= client.Progress(position.first) >= position.second;
  return all;
}

bool InjectionScenario::Run() {
  auto client = Connect(2000);
  Reads expected;
  witness_reads_.clear();
  const uint64_t errors = witness_errors_;
  WitnessWorks();
  const uint64_t last = SendEverything(client.get(), &expected);
  Settle(client.get(), {{0, last}, {kTransferQueue, 2}});
  const bool well = CheckEnded(*client, expected) && !witness_lost_;
  CountWitnessErrors();
  for (const uint64_t value : witness_reads_) {
    if (witness_lost_ || witness_->ErrorOf(value).code != StatusCode::kOk) continue;
    EXPECT_TRUE(witness_->Data(value) == dram_) << "the witness reads what is not its own";
  }
  return well && witness_errors_ == errors;
}

// Sends a write and a read, which are on the card together with what the client sends next.
void InjectionScenario::WitnessWorks() {
  if (witness_lost_) return;
  CountWitnessErrors();
  BatchRequest batch;
  batch.clears_error = std::exchange(witness_error_, 0);
  batch.commands = {InlineWrite(3, 0, Pattern(4096, 5)), Read(1, 0, dram_.size())};
  witness_sent_ = witness_->SendBatch(std::move(batch)) + 1;
  witness_operations_ += 2;
  witness_reads_.push_back(witness_sent_);
}

// Those since the last call; what follows from another error, or ends the session, is no retry.
void InjectionScenario::CountWitnessErrors() {
  for (; witness_errors_ < witness_->errors.size(); ++witness_errors_) {
    const CommandErrorReply& error = witness_->errors[witness_errors_];
    if (error.error.reason == "CAUSED_BY") continue;
    EXPECT_TRUE(error.error.retryable) << error.error.message;
    witness_error_ = error.first_value;
    if (!witness_lost_) ++witness_retries_;
  }
}

void InjectionScenario::BackToReady() {
  if (core_->admin().GetStatus().state != DaemonState::kReady) Reset(true);
}

void InjectionScenario::Reset(bool must_work) {
  bool done = false;
  EXPECT_TRUE(core_->admin()
                  .ResetDevice(0,
                               [&](const Status& status) {
                                 EXPECT_TRUE(status.ok() || !must_work) << StatusMessage(status);
                                 done = true;
                               })
                  .ok());
  for (int round = 0; round < kMostRounds && !done; ++round) core_->RunOnce();
  EXPECT_TRUE(done) << "a reset that does not end";
  const bool ready = core_->admin().GetStatus().state == DaemonState::kReady;
  EXPECT_TRUE(ready || !must_work);
  if (!ready && witness_ != nullptr && !witness_lost_) witness_lost_ = Ended(witness_.get());
}

void InjectionScenario::Check() {
  BackToReady();
  for (int round = 0; round < 100'000 && core_->RunOnce(); ++round) continue;
  if (std::exchange(witness_lost_, false)) {  // a session ends with its card, its data too
    witness_.reset();
    while (core_->RunOnce()) continue;
    const std::vector<MemoryUseReply> before = memory_;
    ASSERT_NO_FATAL_FAILURE(OpenWitness());
    memory_ = before;
    witness_error_ = 0;
  }
  EXPECT_EQ(core_->admin().ListSessions().size(), 1u) << "the client's session is gone";
  const StatusReply status = core_->admin().GetStatus();
  for (size_t i = 0; i < memory_.size(); ++i) {
    EXPECT_EQ(status.devices[0].memory[i].used_bytes, memory_[i].used_bytes)
        << static_cast<int>(memory_[i].kind) << " leaked";
  }
  for (const LimitUsageReply& uses : core_->admin().GetLimits().usage) {
    if (uses.uid != 2000) continue;
    for (const LimitUseReply& use : uses.uses) EXPECT_EQ(use.used, 0u) << use.name << " leaked";
  }
  // What was corrupted may be noticed only now, and then costs whoever is there one retry.
  if (!WitnessReads()) {
    EXPECT_TRUE(WitnessReads()) << witness_->errors.back().error.message;
  }
}

// True: it could; then the data must be right.
bool InjectionScenario::WitnessReads() {
  const uint64_t errors = witness_errors_;
  BatchRequest batch;
  batch.clears_error = std::exchange(witness_error_, 0);
  batch.commands = {Read(1, 0, dram_.size()), Read(2, 0, l1_.size())};
  const uint64_t value = witness_->SendBatch(std::move(batch));
  witness_sent_ = value + 1;
  witness_operations_ += 2;
  Settle(witness_.get(), {{0, witness_sent_}});
  CountWitnessErrors();
  if (witness_errors_ > errors) return false;
  const bool dram = witness_->Data(value) == dram_, l1 = witness_->Data(value + 1) == l1_;
  if (!astray_allowed_) {
    EXPECT_TRUE(dram) << "the witness's DRAM";
    EXPECT_TRUE(l1) << "the witness's L1";
  } else if (!dram || !l1) {
    ++astray_;
    witness_sent_ = witness_->Send(InlineWrite(1, 0, dram_), InlineWrite(2, 0, l1_)) + 1;
    Settle(witness_.get(), {{0, witness_sent_}});
  }
  return true;
}

}  // namespace ttfd
