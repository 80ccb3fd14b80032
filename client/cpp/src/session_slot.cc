// Opens sessions, and another when one was lost.
#include "client/cpp/src/session_slot.h"

#include <utility>

#include "client/cpp/src/session_core.h"

namespace ttfd::client {
namespace {

constexpr char kGraceField[] = "hello.resume_grace_ms";
constexpr int kShorter = 4;

// A daemon may allow less time to come back than this client would like, or none.
Result<std::shared_ptr<SessionCore>> OpenCore(ConnectOptions options, uint64_t handles_before) {
  while (true) {
    auto core = std::make_shared<SessionCore>(options, handles_before);
    Status status = core->Connect();
    if (status.ok()) {
      return core;
    }
    if (status.error().field != kGraceField || options.reconnect_for.count() == 0) {
      return status;
    }
    options.reconnect_for /= kShorter;
    if (options.reconnect_for < std::chrono::seconds(1)) {
      options.reconnect_for = std::chrono::milliseconds(0);
    }
  }
}

}  // namespace

SessionSlot::SessionSlot(const ConnectOptions& options, std::shared_ptr<SessionCore> core)
    : options_(options), core_(std::move(core)) {}

Result<std::shared_ptr<SessionSlot>> SessionSlot::Open(const ConnectOptions& options) {
  Result<std::shared_ptr<SessionCore>> core = OpenCore(options, 0);
  if (!core.ok()) {
    return core.status();
  }
  return std::shared_ptr<SessionSlot>(new SessionSlot(options, *std::move(core)));
}

std::shared_ptr<SessionCore> SessionSlot::core() const {
  MutexLock lock(&mu_);
  return core_;
}

Result<std::shared_ptr<SessionCore>> SessionSlot::Live() {
  MutexLock lock(&mu_);
  if (!core_->lost()) {
    return core_;
  }
  if (options_.lease.has_value()) {
    return core_->status();
  }
  Result<std::shared_ptr<SessionCore>> next = OpenCore(options_, core_->last_handle());
  if (next.ok()) {
    core_->Shutdown();
    core_ = *next;
    GiveCallbacks();
  }
  return next;
}

void SessionSlot::GiveCallbacks() {
  core_->OnProgress(on_progress_);
  core_->OnTransfer(on_transfer_);
  core_->OnPrint(on_print_);
}

void SessionSlot::OnProgress(std::function<void(Position)> callback) {
  MutexLock lock(&mu_);
  on_progress_ = std::move(callback);
  core_->OnProgress(on_progress_);
}

void SessionSlot::OnTransfer(std::function<void(uint64_t, uint64_t)> callback) {
  MutexLock lock(&mu_);
  on_transfer_ = std::move(callback);
  core_->OnTransfer(on_transfer_);
}

void SessionSlot::OnPrint(std::function<void(const KernelPrint&)> callback) {
  MutexLock lock(&mu_);
  on_print_ = std::move(callback);
  core_->OnPrint(on_print_);
}

}  // namespace ttfd::client
