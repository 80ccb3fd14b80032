// Use of the limits by a session, and by all sessions of its user together: one table of what is counted, one way to
// count it and to refuse more.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "daemon/api/errors.h"
#include "daemon/api/reply.h"
#include "daemon/api/session_port.h"
#include "daemon/session/receive_window.h"

namespace ttfd {

enum class Resource : size_t {
  kQueues,
  kHandles,
  kBuffers,
  kKernels,
  kPrograms,
  kDramBytes,
  kL1Bytes,
  kTraceBytes,
  kKernelBytes,
  kWindowBytes,
  kUnacknowledgedBytes,
};
inline constexpr size_t kResources = 11;

// How much a session's outbox, and its transport, each keep for the client even when the sessions of its user keep all
// of unacknowledged_bytes_per_user, so that none waits for another: a sixteenth of unacknowledged_bytes, and enough for
// a chunk.
uint64_t LeastOutput(const SessionLimits& limits);

// How much of a resource one session may have, and one user. The names are those of ttfd.toml and of errors.
struct CountedLimit {
  Resource resource;
  const char* session_name;
  uint64_t (*of_session)(const SessionLimits&);
  const char* user_name;
  uint64_t (*of_user)(const SessionLimits&);
  const char* text;
};
std::span<const CountedLimit, kResources> CountedLimits();

// Every limit there is, counted or not.
std::vector<LimitInfoReply> DescribeLimits(const SessionLimits& limits);

// Use of the limits by all sessions of a user together. Thread-safe.
class UserUse {
 public:
  uint64_t used(Resource resource) const {
    if (resource == Resource::kWindowBytes) return window_pool_.held();
    return used_[static_cast<size_t>(resource)].load(std::memory_order_relaxed);
  }
  std::vector<LimitUseReply> Describe(const SessionLimits& limits) const;
  WindowPool& window_pool() { return window_pool_; }
  // How much of the answers to its client one keeper of a session may hold: `most`, or LeastOutput while all sessions
  // of the user keep more than unacknowledged_bytes_per_user. A keeper that holds as much adds nothing until its client
  // reads, or acknowledges; the others of the user need not.
  uint64_t OutputLimit(const SessionLimits& limits, uint64_t most) const;

 private:
  friend class SessionUse;
  friend class OutputUse;
  std::array<std::atomic<uint64_t>, kResources> used_{};
  WindowPool window_pool_;
};

// Device thread, but for used and Describe, which any thread may call. What is left when it is destroyed the user gets
// back. What is checked first and added later may pass the user's limit by as much as other sessions of it add in
// between: Take does both. The window and output of a session are counted by its ReceiveWindow and OutputUse instead.
class SessionUse {
 public:
  SessionUse(const SessionLimits& limits, std::shared_ptr<UserUse> user)
      : limits_(limits), user_(std::move(user)) {}
  SessionUse(const SessionUse&) = delete;
  SessionUse& operator=(const SessionUse&) = delete;
  ~SessionUse() { Clear(); }

  // May so much more be had? `what` says what was asked for.
  Refusal Check(Resource resource, uint64_t amount, const char* field,
                const std::string& what) const;
  // The same, and counts it at once, so that sessions of a user cannot pass its limit side by side.
  Refusal Take(Resource resource, uint64_t amount, const char* field, const std::string& what);
  void Add(Resource resource, uint64_t amount);
  void Remove(Resource resource, uint64_t amount);
  void Set(Resource resource, uint64_t amount);
  void Clear();
  // All of its limits, of the session of this client.
  LimitUsageReply Describe(const SessionClient& client) const;

  uint64_t used(Resource resource) const {
    return used_[static_cast<size_t>(resource)].load(std::memory_order_relaxed);
  }
  const UserUse& user() const { return *user_; }
  uint64_t OutputLimit(uint64_t most) const { return user_->OutputLimit(limits_, most); }

 private:
  Refusal CheckSession(Resource resource, uint64_t amount, const char* field,
                       const std::string& what) const;
  Refusal CheckUser(Resource resource, uint64_t amount, const char* field,
                    const std::string& what) const;

  const SessionLimits& limits_;
  const std::shared_ptr<UserUse> user_;
  std::array<std::atomic<uint64_t>, kResources> used_{};
};

// Output that one keeper of a session holds for its client, counted among what its user has: the outbox until the
// transport takes it, the transport until the client acknowledges it.
class OutputUse final : public OutputBudget {
 public:
  OutputUse(const SessionLimits& limits, std::shared_ptr<UserUse> user)
      : limits_(limits), user_(std::move(user)) {}
  OutputUse(const OutputUse&) = delete;
  OutputUse& operator=(const OutputUse&) = delete;
  ~OutputUse() override { Set(0); }

  void Set(uint64_t bytes) override;
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // As UserUse::OutputLimit.
  uint64_t Limit(uint64_t most) const override { return user_->OutputLimit(limits_, most); }

 private:
  const SessionLimits limits_;  // a copy: the transport may outlive the daemon's sessions
  const std::shared_ptr<UserUse> user_;
  std::atomic<uint64_t> bytes_{0};
};

// An amount of a resource, counted while it lives. `use` outlives it.
class UseHold {
 public:
  UseHold() = default;
  // Holds an amount that was added or taken before.
  UseHold(SessionUse* use, Resource resource, uint64_t amount)
      : use_(use), resource_(resource), amount_(amount) {}
  UseHold(UseHold&& other) noexcept
      : use_(std::exchange(other.use_, nullptr)),
        resource_(other.resource_),
        amount_(other.amount_) {}
  UseHold& operator=(UseHold&& other) noexcept {
    std::swap(use_, other.use_);
    std::swap(resource_, other.resource_);
    std::swap(amount_, other.amount_);
    return *this;
  }
  ~UseHold() {
    if (use_ != nullptr) use_->Remove(resource_, amount_);
  }
  // Takes over another, which must be of the same use and resource, unless this one is empty.
  void Add(UseHold&& other) {
    if (use_ == nullptr) {
      *this = std::move(other);
    } else if (std::exchange(other.use_, nullptr) != nullptr) {
      amount_ += other.amount_;
    }
  }

 private:
  SessionUse* use_ = nullptr;
  Resource resource_ = Resource::kHandles;
  uint64_t amount_ = 0;
};

}  // namespace ttfd
