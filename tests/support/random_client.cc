// See random_client.h.
#include "tests/support/random_client.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "tests/support/client_daemon.h"

namespace ttfd::testing {

using client::Code;
using client::LaunchRequest;
using client::Position;
using client::Result;
using client::Status;

namespace {

constexpr uint32_t kPageBytes = 64;
constexpr client::CoreRange kShared = {2, 1, 3, 2};
constexpr client::CoreRange kLeased = {8, 8, 9, 9};
constexpr size_t kRemembered = 10;
constexpr size_t kMostBuffers = 6;
constexpr size_t kUnit = 64;
constexpr size_t kLargest = 300'000 / kUnit * kUnit;

bool IsLoss(const Status& status) { return status.code() == Code::kUnavailable; }

Status Wrong(const std::string& what) { return Status(Code::kDataLoss, what); }

}  // namespace

RandomClient::RandomClient(client::ConnectOptions options, uint64_t seed)
    : options_(std::move(options)),
      tiles_(options_.lease ? kLeased : kShared),
      state_(seed * 0x9E3779B97F4A7C15 + 1) {}

uint64_t RandomClient::Draw(uint64_t below) {
  state_ = state_ * 6364136223846793005 + 1442695040888963407;
  return (state_ >> 33) % below;
}

std::vector<std::byte> RandomClient::Bytes(size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(Draw(256));
  return bytes;
}

uint64_t RandomClient::reconnects() const {
  return reconnects_ + (session_ ? session_->reconnects() : 0);
}

void RandomClient::Forget() {
  if (session_) reconnects_ += session_->reconnects();
  held_.clear();
  program_ = {};
  counter_ = {};
  trace_ = {};
  sum_ = trace_adds_ = 0;
  session_.reset();
}

Status RandomClient::Step() {
  const Status status = session_ ? Play() : Connect();
  if (status.ok()) {
    ++steps_;
    return status;
  }
  if (!IsLoss(status)) return Explained(status);
  ++losses_;
  last_loss_ = status.ToString();
  Forget();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return Status();
}

Status RandomClient::Explained(const Status& status) {
  std::string text = status.ToString() + "; steps " + std::to_string(steps_);
  if (session_) {
    text += ", session " + std::to_string(session_->id()) + ", reconnects " +
            std::to_string(session_->reconnects()) +
            ", first error of queue 1: " + session_->queue().error().ToString() + ", sent " +
            std::to_string(session_->queue().submitted()) + "; done last (lot at value):";
  }
  for (const Done& done : done_) {
    text += " " + std::to_string(done.drawn) + "@" + std::to_string(done.first_value);
  }
  return Status(status.code(), text);
}

Status RandomClient::Close() {
  const Status status = session_ ? session_->Close() : Status();
  Forget();
  return IsLoss(status) ? Status() : status;
}

Status RandomClient::Connect() {
  Result<client::Session> session = client::Session::Connect(options_);
  if (!session.ok()) return session.status();
  session_.emplace(std::move(*session));
  Result<client::Kernel> kernel = session_->LoadKernelFile(KernelPath("bump_brisc"));
  if (!kernel.ok()) return kernel.status();
  client::ProgramBuilder builder;
  builder.AddKernel(*kernel, client::Processor::kBrisc,
                    {{tiles_.x0, tiles_.y0, tiles_.x0, tiles_.y0}});
  Result<client::Program> program = session_->CreateProgram(builder);
  if (!program.ok()) return program.status();
  program_ = std::move(*program);
  Result<client::Buffer> counter = session_->AllocateDram(kPageBytes, {.page_bytes = kPageBytes});
  if (!counter.ok()) return counter.status();
  counter_ = std::move(*counter);
  return Status();
}

Status RandomClient::Play() {
  const uint64_t drawn = Draw(100);
  if (done_.size() == kRemembered) done_.pop_front();
  done_.push_back({drawn, session_->queue().submitted() + 1});
  return Do(drawn);
}

Status RandomClient::Do(uint64_t drawn) {
  if (held_.empty() || drawn < 10) return Allocate();
  Held& held = held_[Draw(held_.size())];
  if (drawn < 25) return Write(held);
  if (drawn < 40) return Check(held);
  if (drawn < 50) return CopyBetween(held, held_[Draw(held_.size())]);
  if (drawn < 65) return Count();
  if (drawn < 78) return Replay();
  if (drawn < 83) return Err(held);
  if (drawn < 93) return OtherQueue(held);
  if (drawn < 97) {
    held_.pop_front();
    return Status();
  }
  if (drawn < 99) return Close();
  Forget();  // without a goodbye
  return Status();
}

Status RandomClient::Allocate() {
  if (held_.size() == kMostBuffers) held_.pop_front();
  const bool large = Draw(8) == 0;
  const size_t size = large ? kLargest : kUnit * (1 + Draw(512));
  const bool l1 = !large && Draw(4) == 0;
  Result<client::Buffer> buffer =
      l1 ? session_->AllocateL1(size, {.page_bytes = 1024, .cores = {tiles_}})
         : session_->AllocateDram(size, {.page_bytes = 2048});
  if (!buffer.ok()) return buffer.status();
  held_.push_back({std::move(*buffer), std::vector<std::byte>(size)});
  return Check(held_.back());  // new memory is zero
}

Status RandomClient::Write(Held& held) {
  const size_t units = held.bytes.size() / kUnit;
  const size_t first = Draw(units);
  const size_t count = 1 + Draw(units - first);
  const std::vector<std::byte> bytes = Bytes(count * kUnit);
  const Result<Position> written =
      session_->queue().EnqueueWrite(held.buffer, first * kUnit, bytes);
  if (!written.ok()) return written.status();
  std::copy(bytes.begin(), bytes.end(), held.bytes.begin() + static_cast<ptrdiff_t>(first * kUnit));
  return Draw(2) == 0 ? session_->queue().Wait(*written) : Status();
}

Status RandomClient::Check(const Held& held) {
  std::vector<std::byte> bytes(held.bytes.size());
  const Status read = session_->queue().Read(held.buffer, 0, bytes);
  if (!read.ok()) return read;
  return bytes == held.bytes ? Status() : Wrong("a buffer holds something else than was written");
}

Status RandomClient::CopyBetween(Held& from, Held& to) {
  if (&from == &to) return Check(from);
  const size_t size = std::min({from.bytes.size(), to.bytes.size(), size_t{1024}});
  const Status copied = session_->queue().Copy(from.buffer, 0, to.buffer, 0, size);
  if (!copied.ok()) return copied;
  std::copy_n(from.bytes.begin(), size, to.bytes.begin());
  return Check(to);
}

LaunchRequest RandomClient::Add(uint32_t value) const {
  return LaunchRequest(program_)
      .Common(0, {0, kPageBytes, value, 0})
      .PerCore(0, 1, {0})
      .Address(0, 0, counter_);
}

Status RandomClient::CheckSum() {
  std::vector<uint32_t> words(kPageBytes / 4);
  const Status read = session_->queue().Read(counter_, 0, std::as_writable_bytes(std::span(words)));
  if (!read.ok()) return read;
  return words[0] == sum_ ? Status()
                          : Wrong("the kernel has counted to " + std::to_string(words[0]) +
                                  " instead of " + std::to_string(sum_));
}

Status RandomClient::Count() {
  for (uint64_t left = 1 + Draw(100); left > 0; --left) {
    const auto value = static_cast<uint32_t>(1 + Draw(1000));
    const Result<Position> launched = session_->queue().EnqueueLaunch(Add(value));
    if (!launched.ok()) return launched.status();
    sum_ += value;
  }
  return CheckSum();
}

Status RandomClient::Replay() {
  if (trace_.launches() == 0 || Draw(4) == 0) {
    std::vector<LaunchRequest> launches;
    trace_adds_ = 0;
    for (uint64_t left = 1 + Draw(10); left > 0; --left) {
      const auto value = static_cast<uint32_t>(1 + Draw(1000));
      launches.push_back(Add(value));
      trace_adds_ += value;
    }
    Result<client::Trace> trace = session_->queue().RecordTrace(launches);
    if (!trace.ok()) return trace.status();
    trace_ = std::move(*trace);
  }
  for (uint64_t left = 1 + Draw(10); left > 0; --left) {
    const Result<Position> replayed =
        session_->queue().EnqueueReplay(client::ReplayRequest(trace_));
    if (!replayed.ok()) return replayed.status();
    sum_ += trace_adds_;
  }
  return CheckSum();
}

// The error comes where it belongs, and the queue goes on after it.
Status RandomClient::Err(Held& held) {
  std::vector<std::byte> bytes(kUnit);
  const Status status = session_->queue().Read(held.buffer, held.bytes.size(), bytes);
  if (IsLoss(status)) return status;
  if (status.ok() || status.code() == Code::kDeadlineExceeded) {
    return Wrong("a read beyond the end: " + status.ToString());
  }
  return Check(held);
}

Status RandomClient::OtherQueue(Held& held) {
  Result<client::Queue> queue = session_->OpenQueue({.kind = client::QueueKind::kTransfer});
  if (!queue.ok()) {
    return queue.status().code() == Code::kResourceExhausted ? Close() : queue.status();
  }
  const Result<Position> before = session_->queue().EnqueueBarrier();
  if (!before.ok()) return before.status();
  if (Status status = session_->queue().Flush(); !status.ok()) return status;
  if (Status status = queue->After(std::span(&*before, 1)); !status.ok()) return status;
  const std::vector<std::byte> bytes = Bytes(kUnit);
  if (Status status = queue->Write(held.buffer, 0, bytes); !status.ok()) return status;
  std::copy(bytes.begin(), bytes.end(), held.bytes.begin());
  return Check(held);
}

}  // namespace ttfd::testing
