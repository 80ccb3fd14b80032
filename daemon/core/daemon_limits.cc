// Limits, and their use by sessions and users.
#include <map>
#include <utility>

#include "daemon/core/daemon_core.h"
#include "daemon/session/usage.h"

namespace ttfd {

LimitsReply DaemonCore::GetLimits() {
  LimitsReply reply;
  reply.limits = DescribeLimits(environment_.limits);
  std::map<uint32_t, std::pair<std::string, uint64_t>> users;  // name, sessions
  for (const auto& session : sessions_.All()) {
    reply.usage.push_back(session->LimitUsage());
    auto& [name, sessions] = users[session->uid()];
    name = session->user();
    ++sessions;
  }
  for (const auto& [uid, known] : users) {
    LimitUsageReply uses;
    uses.scope = LimitScope::kUser;
    uses.uid = uid;
    uses.user = known.first;
    uses.uses = sessions_.UseOf(uid)->Describe(environment_.limits);
    uses.uses.push_back({"sessions_per_user", environment_.limits.sessions_per_user, known.second});
    uses.uses.push_back(
        {"leases_per_user", environment_.limits.leases_per_user, leases_.CountOf(uid)});
    reply.usage.push_back(std::move(uses));
  }
  return reply;
}

}  // namespace ttfd
