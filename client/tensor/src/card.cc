// Opening a card, and tensors from the host's numbers.
#include "ttfd/tensor/card.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "client/tensor/src/card_state.h"
#include "client/tensor/src/elements.h"
#include "client/tensor/src/error.h"

namespace ttfd::tensor {

Result<Card> Card::Open(Options options) {
  Result<client::Session> session = client::Session::Connect(options.connect);
  if (!session.ok()) return session.status();
  return In(std::make_shared<client::Session>(std::move(*session)), options);
}

Result<Card> Card::In(std::shared_ptr<client::Session> session, const Options& options) {
  if (options.launch_products == 0) {
    return Invalid("launch_products", "launch_products is 0; a launch has at least 1 product");
  }
  std::vector<client::CoreRange> cores = options.cores;
  if (cores.empty() && options.connect.lease) cores = options.connect.lease->workers;
  const client::DeviceInfo& device = session->device();
  Result<CoreSet> set = CoreSet::Make(cores, device.grid_x, device.grid_y);
  if (!set.ok()) return set.status();
  const CardLimits limits = {.cores = set->size(),
                             .circular_buffer_bytes = device.circular_buffer_bytes,
                             .launch_products = options.launch_products};
  return Card(std::make_shared<CardState>(std::move(session), std::move(*set), limits));
}

Card::Card(std::shared_ptr<CardState> state) : state_(std::move(state)) {}

Tensor Card::FromHost(std::span<const float> elements, Shape shape, DType dtype, Layout layout) {
  if (dtype == DType::kUInt32) {
    return Invalid("dtype", "a tensor of dtype uint32 is made of uint32_t elements, not of float");
  }
  return Write(elements, {std::move(shape), dtype, layout});
}

Tensor Card::FromHost(std::span<const uint32_t> elements, Shape shape, Layout layout) {
  std::vector<float> bits(elements.size());
  std::memcpy(bits.data(), elements.data(), elements.size_bytes());
  return Write(bits, {std::move(shape), DType::kUInt32, layout});
}

Tensor Card::Write(std::span<const float> elements, TensorSpec spec) {
  if (Status status = spec.Check(); !status.ok()) return status;
  if (elements.size() != spec.shape.elements()) {
    return Invalid("elements", "a tensor of " + spec.shape.ToString() + " has " +
                                   std::to_string(spec.shape.elements()) + " elements, not " +
                                   std::to_string(elements.size()));
  }
  Result<std::shared_ptr<Allocation>> allocation = state_->AllocateForHost(spec);
  if (!allocation.ok()) return allocation.status();
  const std::vector<std::byte> pages = PagesOf(elements, spec);
  const Result<client::Position> written =
      state_->queue().EnqueueWrite((*allocation)->buffer(), 0, pages);
  if (!written.ok()) return written.status();
  return Tensor(std::move(spec), std::make_shared<Storage>(std::move(*allocation)));
}

Status Card::Finish() { return state_->queue().Finish(); }
Status Card::ClearError() { return state_->queue().ClearError(); }
client::Session& Card::session() { return state_->session(); }
client::Queue Card::queue() { return state_->queue(); }
uint32_t Card::cores() const { return state_->limits().cores; }
Card::Counts Card::counts() const { return state_->counts(); }

}  // namespace ttfd::tensor
