// A session of libttfd as Python holds it, and its queues.
//
// Threads: everything is called with the GIL, which guards all members; calls of libttfd run without it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "client/python/native/gil.h"
#include "client/python/native/values.h"
#include "ttfd/queue.h"
#include "ttfd/session.h"

namespace ttfd::python {

// A Python function that libttfd calls. The session owns it: libttfd copies and drops its callbacks under its
// own lock, where nothing may ask for the GIL.
using Function = std::shared_ptr<py::object>;

class Session {
 public:
  static std::shared_ptr<Session> Connect(client::ConnectOptions options,
                                          const py::object& on_waiting);
  // Ends the session at once. On the thread of a callback, which the session may have to wait for, the main
  // thread does that later.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Calls libttfd without the GIL. Raises if that is a callback of this session.
  template <typename Function>
  auto Call(const Function& function) const {
    RefuseInCallback();
    return WithoutGil(function);
  }
  client::Session& client() const { return *client_; }
  const std::shared_ptr<client::Session>& shared_client() const { return client_; }

  // `function` gets each ttfd.KernelPrint.
  void OnPrint(const py::object& function);
  // Ends the session at once.
  void Abandon();

  // The array that a Read fills, until the queue has completed `value`.
  void Keep(const client::Queue& queue, uint64_t value, std::unique_ptr<BytesView> array);
  void DropCompleted(const client::Queue& queue);

 private:
  // Objects that the session's threads use until it has ended.
  struct Used {
    Function on_waiting;
    Function on_print;
    // By queue, in the order of their values.
    std::map<uint32_t, std::deque<std::pair<uint64_t, std::unique_ptr<BytesView>>>> reading;
  };
  // A session that ends, and what goes after it.
  struct Ending {
    Used used;
    std::shared_ptr<client::Session> client;
  };

  Session(client::Session session, Function on_waiting);
  void RefuseInCallback() const;
  // Takes an Ending; for Py_AddPendingCall.
  static int End(void* ending);

  Used used_;
  std::shared_ptr<client::Session> client_;
};

// A queue, which keeps its session.
struct Queue {
  std::shared_ptr<Session> session;
  client::Queue client;

  template <typename Function>
  auto Call(const Function& function) const {
    return session->Call(function);
  }
};

// By atexit: ends all sessions, together, and waits at most 3 s.
void EndSessionsAtExit();

}  // namespace ttfd::python
