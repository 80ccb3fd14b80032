// How threads leave and enter the Python interpreter: every call of libttfd that may wait runs without the
// GIL, every callback takes it.
//
// At the interpreter's exit Python ends threads that ask for the GIL by unwinding their stacks, which C++
// frames do not survive. StartExit closes this door first: after it only the exiting thread enters; another
// thread that returns from a call sleeps until the process ends, and callbacks are dropped.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <chrono>
#include <type_traits>

namespace ttfd::python {

// PyEval_SaveThread and PyEval_RestoreThread.
PyThreadState* LeaveInterpreter();
void EnterInterpreter(PyThreadState* state);

// Runs `call` without the GIL; returns what it returns.
template <typename Call>
auto WithoutGil(const Call& call) {
  PyThreadState* const state = LeaveInterpreter();
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    EnterInterpreter(state);
  } else {
    auto result = call();
    EnterInterpreter(state);
    return result;
  }
}

// The GIL for a callback, on any thread, with or without it.
class CallbackGil {
 public:
  CallbackGil();
  ~CallbackGil();
  CallbackGil(const CallbackGil&) = delete;
  CallbackGil& operator=(const CallbackGil&) = delete;

  // False: the interpreter exits, and the callback is dropped.
  bool held() const { return held_; }

 private:
  bool held_;
  PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

// For ConnectOptions::interrupted: handles signals. True: a handler has raised, or the interpreter exits.
bool HandleSignals();

// On the thread that exits, with the GIL. From here on no other thread enters.
void StartExit();
bool exiting();
// Without the GIL: until the threads that were entering have entered, or `deadline`.
void WaitForEntering(std::chrono::steady_clock::time_point deadline);

}  // namespace ttfd::python
