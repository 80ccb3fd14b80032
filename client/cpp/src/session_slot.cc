// Opens sessions, and another when one was lost.
#include "client/cpp/src/session_slot.h"

#include <utility>

#include "client/cpp/src/options.h"

namespace ttfd::client {
namespace {

Result<std::shared_ptr<SessionCore>> OpenCore(const ConnectOptions& options,
                                              uint64_t handles_before) {
  v1::Hello hello;
  if (Status status = FillHello(options, &hello); !status.ok()) {
    return status;
  }
  auto core = std::make_shared<SessionCore>(options, std::move(hello), handles_before);
  if (Status status = core->Connect(); !status.ok()) {
    return status;
  }
  return core;
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
  const uint64_t handles = core_->WithHandles([](const Handles& h) { return h.last(); });
  Result<std::shared_ptr<SessionCore>> next = OpenCore(options_, handles);
  if (next.ok()) {
    core_->Shutdown();
    core_ = *next;
    core_->SetCallbacks(callbacks_);
  }
  return next;
}

void SessionSlot::SetCallbacks(const std::function<void(Callbacks*)>& change) {
  MutexLock lock(&mu_);
  change(&callbacks_);
  core_->SetCallbacks(callbacks_);
}

}  // namespace ttfd::client
