// How threads leave and enter the Python interpreter.
#include "client/python/native/gil.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace ttfd::python {
namespace {

// Threads that are about to take the GIL, and whether others still may. Never destroyed: threads that sleep
// until the process ends use it.
class Door {
 public:
  // False: closed, to all but the thread that closed it.
  bool BeginEntering() {
    const std::lock_guard<std::mutex> lock(mu_);
    if (closed_ && std::this_thread::get_id() != exiting_thread_) {
      return false;
    }
    ++entering_;
    return true;
  }
  void EndEntering() {
    const std::lock_guard<std::mutex> lock(mu_);
    --entering_;
    entered_.notify_all();
  }
  void Close() {
    const std::lock_guard<std::mutex> lock(mu_);
    closed_ = true;
    exiting_thread_ = std::this_thread::get_id();
  }
  bool closed() {
    const std::lock_guard<std::mutex> lock(mu_);
    return closed_;
  }
  void WaitForEntering(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock<std::mutex> lock(mu_);
    entered_.wait_until(lock, deadline, [this] { return entering_ == 0; });
  }

 private:
  std::mutex mu_;
  std::condition_variable entered_;
  int entering_ = 0;
  bool closed_ = false;
  std::thread::id exiting_thread_;
};

Door& TheDoor() {
  static auto* const door = new Door;
  return *door;
}

}  // namespace

PyThreadState* LeaveInterpreter() { return PyEval_SaveThread(); }

void EnterInterpreter(PyThreadState* state) {
  while (!TheDoor().BeginEntering()) {
    pause();
  }
  PyEval_RestoreThread(state);
  TheDoor().EndEntering();
}

CallbackGil::CallbackGil() : held_(TheDoor().BeginEntering()) {
  if (held_) {
    state_ = PyGILState_Ensure();
    TheDoor().EndEntering();
  }
}

CallbackGil::~CallbackGil() {
  if (held_) {
    PyGILState_Release(state_);
  }
}

bool HandleSignals() {
  const CallbackGil gil;
  return !gil.held() || PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
}

void StartExit() { TheDoor().Close(); }

bool exiting() { return TheDoor().closed(); }

void WaitForEntering(std::chrono::steady_clock::time_point deadline) {
  TheDoor().WaitForEntering(deadline);
}

}  // namespace ttfd::python
