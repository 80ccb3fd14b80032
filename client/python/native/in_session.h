// Values of libraries above libttfd for Python, in the session they live in.
#pragma once

#include <memory>
#include <utility>

#include "client/python/native/gil.h"
#include "client/python/native/session.h"

namespace ttfd::python {

// A value of a library and the session it lives in. Its end may wait for a lock under which a call of another thread
// waits for the GIL: it comes without the GIL.
template <typename Value>
class InSession {
 public:
  InSession(std::shared_ptr<Session> session, Value value)
      : session_(std::move(session)), value_(std::make_unique<Value>(std::move(value))) {}
  InSession(InSession&&) noexcept = default;
  InSession& operator=(InSession&&) = delete;
  ~InSession() {
    if (value_ == nullptr) {
      return;
    }
    if (exiting()) {
      static_cast<void>(value_.release());  // goes with the process
    } else {
      WithoutGil([this] { value_.reset(); });
    }
  }

  const std::shared_ptr<Session>& session() const { return session_; }
  Value& operator*() const { return *value_; }
  Value* operator->() const { return value_.get(); }

  template <typename Function>
  auto Call(const Function& function) const {
    return session_->Call(function);
  }

 private:
  std::shared_ptr<Session> session_;
  std::unique_ptr<Value> value_;
};

}  // namespace ttfd::python
