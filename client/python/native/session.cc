// A session of libttfd as Python holds it, and its queues.
#include "client/python/native/session.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace ttfd::python {
namespace {

// For all sessions together to end when the interpreter exits.
constexpr std::chrono::seconds kExitTimeout{3};

// The sessions that Python holds. Guarded by the GIL, never destroyed.
std::set<const Session*>& OpenSessions() {
  static auto* const sessions = new std::set<const Session*>;
  return *sessions;
}

// The thread is inside a callback, of this session if there is one already.
thread_local bool in_callback = false;
thread_local const void* callback_session = nullptr;

// Calls `function` with a copy of `value`, for a session that it must not call. What it raises goes to
// sys.unraisablehook.
template <typename Value>
void CallPython(const std::weak_ptr<py::object>& function, const void* session,
                const Value& value) {
  const CallbackGil gil;
  if (!gil.held()) {
    return;
  }
  const Function owned = function.lock();  // the session may have ended
  if (owned == nullptr) {
    return;
  }
  const bool was_in_callback = std::exchange(in_callback, true);
  const void* const outer = std::exchange(callback_session, session);
  try {
    (*owned)(py::cast(value));
  } catch (py::error_already_set& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) {
      PyErr_SetInterrupt();  // for a call that waits
    } else {
      error.discard_as_unraisable(*owned);
    }
  }
  callback_session = outer;
  in_callback = was_in_callback;
}

}  // namespace

Session::Session(client::Session session, Function on_waiting)
    : used_{.on_waiting = std::move(on_waiting), .on_print = nullptr, .reading = {}},
      client_(std::make_shared<client::Session>(std::move(session))) {
  OpenSessions().insert(this);
}

std::shared_ptr<Session> Session::Connect(client::ConnectOptions options,
                                          const py::object& on_waiting) {
  options.background_thread = true;
  options.interrupted = HandleSignals;
  Function function;
  if (!on_waiting.is_none()) {
    function = std::make_shared<py::object>(on_waiting);
    options.on_waiting = [weak = std::weak_ptr(function)](const client::LeaseWait& wait) {
      CallPython(weak, nullptr, wait);
    };
  }
  client::Result<client::Session> session =
      WithoutGil([&] { return client::Session::Connect(std::move(options)); });
  const client::Status status = session.status();
  std::shared_ptr<Session> connected;  // ends without the GIL if a signal handler has raised
  if (session.ok()) {
    connected.reset(new Session(*std::move(session), std::move(function)));
  }
  Check(status);
  return connected;
}

Session::~Session() {
  OpenSessions().erase(this);
  auto* const ending = new Ending{std::move(used_), std::move(client_)};
  if (exiting()) {
    return;  // EndSessionsAtExit has ended it; what is left goes with the process
  }
  if (!in_callback) {
    End(ending);
  } else if (Py_AddPendingCall(End, ending) != 0) {
    PySys_WriteStderr("[ttfd] a session that was dropped in a callback ends with the process\n");
  }
}

int Session::End(void* ending) {
  const std::unique_ptr<Ending> owned(static_cast<Ending*>(ending));
  WithoutGil([&] { owned->client.reset(); });
  return 0;
}

void Session::RefuseInCallback() const {
  if (in_callback && callback_session == this) {
    Check(client::Status(client::Code::kFailedPrecondition,
                         "a callback must not call the session that calls it"));
  }
}

void Session::OnPrint(const py::object& function) {
  used_.on_print = std::make_shared<py::object>(function);
  Call([&] {
    client_->OnPrint([this, weak = std::weak_ptr(used_.on_print)](
                         const client::KernelPrint& print) { CallPython(weak, this, print); });
  });
}

void Session::Abandon() {
  Call([this] { client_->Abandon(); });
}

void Session::Keep(const client::Queue& queue, uint64_t value, std::unique_ptr<BytesView> array) {
  used_.reading[queue.id()].emplace_back(value, std::move(array));
}

void Session::DropCompleted(const client::Queue& queue) {
  const auto found = used_.reading.find(queue.id());
  if (found == used_.reading.end()) {
    return;
  }
  const uint64_t completed = WithoutGil([&] { return queue.completed(); });
  auto& arrays = found->second;
  while (!arrays.empty() && arrays.front().first <= completed) {
    arrays.pop_front();
  }
}

void EndSessionsAtExit() {
  struct Shared {
    std::mutex mu;
    std::condition_variable ended;
    size_t left = 0;
  };
  StartExit();
  const auto deadline = std::chrono::steady_clock::now() + kExitTimeout;
  std::vector<std::shared_ptr<client::Session>> sessions;
  for (const Session* session : OpenSessions()) {
    sessions.push_back(session->shared_client());
  }
  WithoutGil([&] {
    // Outlives this function if a session does not end in time.
    const auto shared = std::make_shared<Shared>();
    shared->left = sessions.size();
    for (const auto& session : sessions) {
      std::thread([session, shared] {
        session->Abandon();
        const std::lock_guard<std::mutex> lock(shared->mu);
        --shared->left;
        shared->ended.notify_all();
      }).detach();
    }
    std::unique_lock<std::mutex> lock(shared->mu);
    shared->ended.wait_until(lock, deadline, [&] { return shared->left == 0; });
    WaitForEntering(deadline);
  });
}

}  // namespace ttfd::python
