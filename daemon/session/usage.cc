// The table of limits, and counting against it.
#include "daemon/session/usage.h"

#include <algorithm>

namespace ttfd {
namespace {

using L = SessionLimits;

constexpr std::array<CountedLimit, kResources> kCounted = {{
    {Resource::kQueues, "queues", [](const L& l) { return uint64_t{l.queues}; }, "queues_per_user",
     [](const L& l) { return uint64_t{l.queues_per_user}; }, "open queues"},
    {Resource::kHandles, "handles", [](const L& l) { return uint64_t{l.handles}; },
     "handles_per_user", [](const L& l) { return uint64_t{l.handles_per_user}; },
     "handles of all kinds, freed ones until their objects are gone"},
    {Resource::kBuffers, "buffers", [](const L& l) { return uint64_t{l.buffers}; },
     "buffers_per_user", [](const L& l) { return uint64_t{l.buffers_per_user}; }, "buffers"},
    {Resource::kKernels, "kernels", [](const L& l) { return uint64_t{l.kernels}; },
     "kernels_per_user", [](const L& l) { return uint64_t{l.kernels_per_user}; }, "kernels"},
    {Resource::kPrograms, "programs", [](const L& l) { return uint64_t{l.programs}; },
     "programs_per_user", [](const L& l) { return uint64_t{l.programs_per_user}; }, "programs"},
    {Resource::kDramBytes, "dram_bytes", [](const L& l) { return l.dram_bytes; },
     "dram_bytes_per_user", [](const L& l) { return l.dram_bytes_per_user; },
     "DRAM of buffers and traces"},
    {Resource::kL1Bytes, "l1_bytes", [](const L& l) { return l.l1_bytes; }, "l1_bytes_per_user",
     [](const L& l) { return l.l1_bytes_per_user; }, "L1 of buffers, in each worker"},
    {Resource::kTraceBytes, "trace_bytes", [](const L& l) { return l.trace_bytes; },
     "trace_bytes_per_user", [](const L& l) { return l.trace_bytes_per_user; }, "traces"},
    {Resource::kKernelBytes, "kernel_bytes", [](const L& l) { return l.kernel_bytes; },
     "kernel_bytes_per_user", [](const L& l) { return l.kernel_bytes_per_user; },
     "images that kernels and programs keep in the daemon"},
    {Resource::kWindowBytes, "window_bytes", [](const L& l) { return l.window_bytes; },
     "window_bytes_per_user", [](const L& l) { return l.window_bytes_per_user; },
     "commands and payload accepted and not done, or sent ahead of that"},
    {Resource::kUnacknowledgedBytes, "unacknowledged_bytes",
     [](const L& l) { return l.unacknowledged_bytes; }, "unacknowledged_bytes_per_user",
     [](const L& l) { return l.unacknowledged_bytes_per_user; },
     "answers kept until the client acknowledges them; of a user, also those not sent"},
}};

constexpr bool InOrder() {
  for (size_t i = 0; i < kCounted.size(); ++i) {
    if (static_cast<size_t>(kCounted[i].resource) != i) return false;
  }
  return true;
}
static_assert(InOrder(), "an entry for each resource, in their order");

bool Fits(uint64_t amount, uint64_t used, uint64_t most) {
  return amount <= most && used <= most - amount;
}

size_t IndexOf(Resource resource) { return static_cast<size_t>(resource); }

}  // namespace

std::span<const CountedLimit, kResources> CountedLimits() { return kCounted; }

std::vector<LimitInfoReply> DescribeLimits(const SessionLimits& limits) {
  std::vector<LimitInfoReply> infos;
  for (const CountedLimit& limit : kCounted) {
    infos.push_back(
        {limit.session_name, limit.of_session(limits), LimitScope::kSession, limit.text});
  }
  infos.push_back({"idle_ms", limits.idle_ms, LimitScope::kSession,
                   "without a command, then it is ended, unless it has a lease; 0: never"});
  infos.push_back(
      {"weight", limits.weight, LimitScope::kSession, "requested; role admin may request more"});
  infos.push_back({"priority", static_cast<uint64_t>(limits.priority), LimitScope::kSession,
                   "requested: 1 low, 2 normal, 3 high; role admin may request more"});
  infos.push_back({"reconnect_timeout_ms", limits.reconnect_timeout_ms, LimitScope::kSession,
                   "kept for a client whose connection was lost"});
  infos.push_back({"sessions_per_user", limits.sessions_per_user, LimitScope::kUser, "sessions"});
  for (const CountedLimit& limit : kCounted) {
    infos.push_back({limit.user_name, limit.of_user(limits), LimitScope::kUser, limit.text});
  }
  infos.push_back(
      {"leases_per_user", limits.leases_per_user, LimitScope::kUser, "leases held and waited for"});
  infos.push_back({"lease_ms", limits.lease_ms, LimitScope::kLease,
                   "held, then it and its sessions end; 0: never"});
  infos.push_back({"lease_idle_ms", limits.lease_idle_ms, LimitScope::kLease,
                   "without work, then it and its sessions end; 0: never"});
  infos.push_back({"lease_wait_ms", limits.lease_wait_ms, LimitScope::kLease, "waited for"});
  infos.push_back(
      {"message_bytes", limits.message_bytes, LimitScope::kMessage, "a gRPC message, both ways"});
  infos.push_back({"nested_messages", limits.nested_messages, LimitScope::kMessage,
                   "messages nested in a client's message, at any depth"});
  infos.push_back({"chunk_bytes", limits.chunk_bytes, LimitScope::kMessage, "payload of one Data"});
  infos.push_back(
      {"commands_per_batch", limits.commands_per_batch, LimitScope::kMessage, "commands"});
  infos.push_back(
      {"waits_per_batch", limits.waits_per_batch, LimitScope::kMessage, "waits of a batch"});
  infos.push_back({"client_name_bytes", limits.client_name_bytes, LimitScope::kMessage,
                   "the client's name in Hello"});
  infos.push_back(
      {"inline_bytes", limits.inline_bytes, LimitScope::kCommand, "payload within a command"});
  infos.push_back({"transfer_bytes", limits.transfer_bytes, LimitScope::kCommand,
                   "a write, read, copy or fill"});
  infos.push_back(
      {"kernel_elf_bytes", limits.kernel_elf_bytes, LimitScope::kCommand, "a kernel's ELF file"});
  return infos;
}

std::vector<LimitUseReply> UserUse::Describe(const SessionLimits& limits) const {
  std::vector<LimitUseReply> uses;
  for (const CountedLimit& limit : kCounted) {
    uses.push_back({limit.user_name, limit.of_user(limits), used(limit.resource)});
  }
  return uses;
}

uint64_t LeastOutput(const SessionLimits& limits) {
  const uint64_t chunk = limits.chunk_bytes;
  return std::max(limits.unacknowledged_bytes / 16, chunk + chunk / 2);
}

uint64_t UserUse::OutputLimit(const SessionLimits& limits, uint64_t most) const {
  if (used(Resource::kUnacknowledgedBytes) < limits.unacknowledged_bytes_per_user) return most;
  return std::min(most, LeastOutput(limits));
}

void OutputUse::Set(uint64_t bytes) {
  const uint64_t before = bytes_.exchange(bytes, std::memory_order_relaxed);
  // Unsigned numbers wrap: what is less than before is subtracted.
  user_->used_[IndexOf(Resource::kUnacknowledgedBytes)].fetch_add(bytes - before,
                                                                  std::memory_order_relaxed);
}

Refusal SessionUse::CheckSession(Resource resource, uint64_t amount, const char* field,
                                 const std::string& what) const {
  const CountedLimit& limit = kCounted[IndexOf(resource)];
  const uint64_t most = limit.of_session(limits_);
  if (Fits(amount, used(resource), most)) return std::nullopt;
  return LimitError(field, limit.session_name, most, used(resource), what);
}

Refusal SessionUse::Check(Resource resource, uint64_t amount, const char* field,
                          const std::string& what) const {
  if (Refusal refusal = CheckSession(resource, amount, field, what)) return refusal;
  return CheckUser(resource, amount, field, what);
}

Refusal SessionUse::Take(Resource resource, uint64_t amount, const char* field,
                         const std::string& what) {
  const size_t index = IndexOf(resource);
  const uint64_t most = kCounted[index].of_user(limits_);
  std::atomic<uint64_t>& all = user_->used_[index];
  uint64_t before = all.load(std::memory_order_relaxed);
  if (Refusal refusal = CheckSession(resource, amount, field, what)) return refusal;
  do {
    if (!Fits(amount, before, most))
      return LimitError(field, kCounted[index].user_name, most, before, what);
  } while (!all.compare_exchange_weak(before, before + amount, std::memory_order_relaxed));
  used_[index].fetch_add(amount, std::memory_order_relaxed);
  return std::nullopt;
}

Refusal SessionUse::CheckUser(Resource resource, uint64_t amount, const char* field,
                              const std::string& what) const {
  const CountedLimit& limit = kCounted[IndexOf(resource)];
  const uint64_t all = user_->used(resource);
  if (Fits(amount, all, limit.of_user(limits_))) return std::nullopt;
  return LimitError(field, limit.user_name, limit.of_user(limits_), all, what);
}

LimitUsageReply SessionUse::Describe(const SessionClient& client) const {
  LimitUsageReply reply;
  reply.scope = LimitScope::kSession;
  reply.session = client.session;
  reply.uid = client.uid;
  reply.user = client.user;
  reply.client_name = client.name;
  for (const CountedLimit& limit : kCounted) {
    reply.uses.push_back({limit.session_name, limit.of_session(limits_), used(limit.resource)});
  }
  return reply;
}

void SessionUse::Add(Resource resource, uint64_t amount) {
  used_[IndexOf(resource)].fetch_add(amount, std::memory_order_relaxed);
  user_->used_[IndexOf(resource)].fetch_add(amount, std::memory_order_relaxed);
}

void SessionUse::Remove(Resource resource, uint64_t amount) {
  used_[IndexOf(resource)].fetch_sub(amount, std::memory_order_relaxed);
  user_->used_[IndexOf(resource)].fetch_sub(amount, std::memory_order_relaxed);
}

void SessionUse::Set(Resource resource, uint64_t amount) {
  const uint64_t before = used(resource);
  if (amount > before) Add(resource, amount - before);
  if (amount < before) Remove(resource, before - amount);
}

void SessionUse::Clear() {
  for (const CountedLimit& limit : kCounted) Set(limit.resource, 0);
}

}  // namespace ttfd
