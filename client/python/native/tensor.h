// Tensors and cards for Python, in the session they live in.
#pragma once

#include <memory>
#include <utility>

#include "client/python/native/in_session.h"
#include "client/python/native/values.h"
#include "ttfd/tensor/card.h"
#include "ttfd/tensor/recording.h"

namespace ttfd::python {

namespace tt = tensor;

using Tensor = InSession<tt::Tensor>;
using Recording = InSession<tt::Recording>;
using TaskRecording = InSession<tt::TaskRecording>;
using Card = InSession<tt::Card>;

// Raises the tensor's error.
inline std::unique_ptr<Tensor> Own(const std::shared_ptr<Session>& session, tt::Tensor tensor) {
  const client::Status status = tensor.status();
  auto owned = std::make_unique<Tensor>(session, std::move(tensor));
  Check(status);
  return owned;
}

}  // namespace ttfd::python
