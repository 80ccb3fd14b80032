// gRPC's log lines in our log. Every malformed header of a client makes it print one, with the
// client's text in it.
#include <grpc/support/log.h>

#include <chrono>
#include <utility>

#include "daemon/rpc/rpc_server.h"
#include "runtime/base/log.h"
#include "runtime/base/mutex.h"
#include "runtime/base/utf8.h"

namespace ttfd {
namespace {

constexpr int kLinesPerSecond = 5;
constexpr size_t kMaxLineBytes = 300;

class LineBudget {
 public:
  // How many lines were dropped since the last one; negative: drop this one too.
  int Take(std::chrono::steady_clock::time_point now) {
    MutexLock lock(&mu_);
    if (now - second_began_ >= std::chrono::seconds(1)) {
      second_began_ = now;
      used_ = 0;
    }
    if (used_ >= kLinesPerSecond) {
      ++dropped_;
      return -1;
    }
    ++used_;
    return std::exchange(dropped_, 0);
  }

 private:
  Mutex mu_;
  std::chrono::steady_clock::time_point second_began_ ABSL_GUARDED_BY(mu_);
  int used_ ABSL_GUARDED_BY(mu_) = 0;
  int dropped_ ABSL_GUARDED_BY(mu_) = 0;
};

void OnGrpcLine(gpr_log_func_args* args) {
  static LineBudget& budget = *new LineBudget;  // gRPC's threads may outlive statics
  const int dropped = budget.Take(std::chrono::steady_clock::now());
  if (dropped < 0) return;
  if (dropped > 0) LogWarning("gRPC: {} lines dropped", dropped);
  // Nothing of gRPC's is an error of the daemon: its errors are mostly those of clients.
  LogWarning("gRPC: {}", Printable(args->message, kMaxLineBytes));
}

}  // namespace

void RouteGrpcLog() {
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  gpr_set_log_function(&OnGrpcLine);
}

}  // namespace ttfd
