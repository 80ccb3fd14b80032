// Tensors as handles of their storage.
#include "ttfd/tensor/tensor.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "client/tensor/src/card_state.h"
#include "client/tensor/src/elements.h"
#include "client/tensor/src/error.h"

namespace ttfd::tensor {

Tensor::Tensor() : Tensor(Status(Code::kFailedPrecondition, "there is no tensor")) {}
Tensor::Tensor(Status error) : status_(std::move(error)) {}
Tensor::Tensor(TensorSpec spec, std::shared_ptr<Storage> storage)
    : spec_(std::move(spec)), storage_(std::move(storage)) {}

uint64_t Tensor::version() const { return storage_ == nullptr ? 0 : storage_->version(); }

const client::Buffer* Tensor::buffer() const {
  if (storage_ == nullptr || storage_->allocation() == nullptr) return nullptr;
  return &storage_->allocation()->buffer();
}

Status Tensor::ToHost(std::span<float> elements) const { return Read(false, elements); }

Status Tensor::ToHost(std::span<uint32_t> elements) const {
  std::vector<float> numbers(elements.size());
  Status status = Read(true, numbers);
  if (status.ok()) std::memcpy(elements.data(), numbers.data(), elements.size_bytes());
  return status;
}

// Integers as numbers of the same bits.
Status Tensor::Read(bool as_integers, std::span<float> elements) const {
  if (!ok()) return status_;
  if (as_integers != (spec_.dtype == DType::kUInt32)) {
    return Invalid("tensor", "the tensor is " + spec_.ToString() + "; its elements are read as " +
                                 (as_integers ? "float" : "uint32_t"));
  }
  const std::shared_ptr<Allocation> allocation = storage_->allocation();
  if (allocation == nullptr) return Invalid("tensor", "the tensor has been deallocated");
  if (allocation->recording() != nullptr && !allocation->recording()->has_run) {
    return Status(Code::kFailedPrecondition,
                  "the tensor is made by a recording that has not been replayed");
  }
  if (elements.size() != shape().elements()) {
    return Invalid("elements", "a tensor of " + shape().ToString() + " has " +
                                   std::to_string(shape().elements()) + " elements, not " +
                                   std::to_string(elements.size()));
  }
  std::vector<std::byte> pages(spec_.size_bytes());
  client::Queue queue = allocation->card()->queue();
  if (Status status = queue.Read(allocation->buffer(), 0, pages); !status.ok()) return status;
  StoreElements(pages, spec_, elements);
  return Status();
}

void Tensor::Deallocate() {
  if (storage_ != nullptr) storage_->Deallocate();
}

}  // namespace ttfd::tensor
