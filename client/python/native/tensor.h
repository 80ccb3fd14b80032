// Tensors and cards for Python, in the session they live in.
#pragma once

#include <memory>
#include <utility>

#include "client/python/native/gil.h"
#include "client/python/native/session.h"
#include "client/python/native/values.h"
#include "ttfd/tensor/card.h"
#include "ttfd/tensor/recording.h"

namespace ttfd::python {

namespace tt = tensor;

// A value of the tensor library and the session it lives in. Its end may wait for the lock of the card, under which
// a call of another thread waits for the GIL: it comes without the GIL.
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

using Tensor = InSession<tt::Tensor>;
using Recording = InSession<tt::Recording>;
using Card = InSession<tt::Card>;

// Raises the tensor's error.
inline std::unique_ptr<Tensor> Own(const std::shared_ptr<Session>& session, tt::Tensor tensor) {
  const client::Status status = tensor.status();
  auto owned = std::make_unique<Tensor>(session, std::move(tensor));
  Check(status);
  return owned;
}

}  // namespace ttfd::python
