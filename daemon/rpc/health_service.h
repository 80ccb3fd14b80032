// The standard health service of gRPC (grpc.health.v1): which services of the daemon serve. Replaces gRPC's own, which
// polls with more threads.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "daemon/rpc/poller.h"
#include "daemon/rpc/reply_call.h"
#include "grpc/health/v1/health.pb.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Outlives the poller that has its methods.
class HealthService {
 public:
  // Calls whose request does not come within `request_timeout` end with DEADLINE_EXCEEDED.
  explicit HealthService(Duration request_timeout) : request_timeout_(request_timeout) {}
  HealthService(const HealthService&) = delete;
  HealthService& operator=(const HealthService&) = delete;

  // Adds Check, which ends with NOT_FOUND for a service that was never set, and Watch, which sends SERVICE_UNKNOWN for
  // it and stays open. Both end with INVALID_ARGUMENT for a name that is too long. Before the poller starts.
  void AddTo(Methods* methods);
  // Sets the status of a service, by its full name; "" is the whole server. Watch calls get the change soon after; slow
  // clients only the last of several. Any thread. Cannot fail.
  void SetServing(const std::string& service, bool serving) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using Request = grpc::health::v1::HealthCheckRequest;
  using Response = grpc::health::v1::HealthCheckResponse;
  class Watch;

  // Poller thread.
  void StartCheck(ReplyCall& call, const Request& request) ABSL_LOCKS_EXCLUDED(mu_);
  void StartWatch(ReplyCall& call, const Request& request) ABSL_LOCKS_EXCLUDED(mu_);

  // Nothing: the service was never set.
  std::optional<bool> IsServing(const std::string& service) ABSL_LOCKS_EXCLUDED(mu_);
  void Add(Watch* watch) ABSL_LOCKS_EXCLUDED(mu_);
  void Remove(Watch* watch) ABSL_LOCKS_EXCLUDED(mu_);

  const Duration request_timeout_;
  Mutex mu_;
  std::unordered_map<std::string, bool> serving_ ABSL_GUARDED_BY(mu_);
  // The calls under way. They remove themselves when they end.
  std::unordered_set<Watch*> watches_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
