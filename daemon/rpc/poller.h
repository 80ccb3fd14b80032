// The thread of the gRPC server: it takes messages from the sockets, and handles the calls that they belong to.
//
// There is one completion queue and one thread for all calls: the thread that finds a message also handles it. With
// more of them, every message wakes two threads. Handlers are short and never wait; each call has at most one message
// read and one written at a time, and gRPC reports them in the order in which they came.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

#include "daemon/rpc/poller_tasks.h"
#include "daemon/rpc/server_call.h"
#include "runtime/base/clock.h"

namespace ttfd {

// Starts the handling of a call of one method.
using MethodHandler = std::function<std::shared_ptr<CallHandler>(ServerCall& call)>;
// By the path of the method: "/package.Service/Method".
using Methods = std::unordered_map<std::string, MethodHandler>;

class Poller {
 public:
  // Functions that the poller thread calls: when it starts and ends, and after everything that it has handled.
  struct Hooks {
    std::function<void(bool runs)> runs;
    std::function<void()> handled;
  };
  // Times that calls wait for are gathered: one may be so much later.
  static constexpr Duration kRound = std::chrono::milliseconds(5);

  // `clock` outlives the poller.
  explicit Poller(Clock& clock) : clock_(clock) {}
  ~Poller() { Stop(); }

  // Before the server is built, which outlives the poller's Stop.
  void Register(grpc::ServerBuilder* builder);
  // After that. Calls of methods that are not in `methods` end with UNIMPLEMENTED.
  void Start(Methods methods, Hooks hooks);
  // After the server was shut down: handles what is left of its calls, and ends the thread.
  void Stop();

  // Outlives the poller in the hands of others.
  const std::shared_ptr<PollerTasks>& tasks() const { return tasks_; }
  // The calling thread is the poller thread.
  bool IsThisThread() const { return std::this_thread::get_id() == thread_id_.load(); }

 private:
  friend class ServerCall;

  struct WakeUp final : CompletionTag {
    explicit WakeUp(PollerTasks& of) : tasks(of) {}
    void Complete(bool) override { tasks.RunAll(); }
    PollerTasks& tasks;
  };

  void Wake();
  void ThreadMain();
  void Loop();
  // Has gRPC start a call with the next of a client.
  void AwaitClient();
  std::shared_ptr<CallHandler> Handle(ServerCall& call);
  void RunDue(TimePoint now);

  Clock& clock_;
  Methods methods_;
  Hooks hooks_;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  grpc::Alarm alarm_;  // set by tasks_
  const std::shared_ptr<PollerTasks> tasks_ = std::make_shared<PollerTasks>([this] { Wake(); });
  WakeUp wake_up_{*tasks_};
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_{};

  // Poller thread.
  std::unordered_map<ServerCall*, std::unique_ptr<ServerCall>> calls_;
  TimePoint next_due_ = TimePoint::max();
  TimePoint next_round_ = TimePoint::min();  // of what is due
  bool closing_ = false;                     // it ends with the last call
};

}  // namespace ttfd
