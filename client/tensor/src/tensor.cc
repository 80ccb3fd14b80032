// Tensors as handles of their storage.
#include "ttfd/tensor/tensor.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "client/tensor/src/card_state.h"
#include "client/tensor/src/elements.h"
#include "client/tensor/src/error.h"

namespace ttfd::tensor {

Tensor::Tensor() : Tensor(Status(Code::kFailedPrecondition, "there is no tensor")) {}
Tensor::Tensor(Status error) : status_(std::move(error)) {}
Tensor::Tensor(TensorSpec spec, std::shared_ptr<Storage> storage)
    : spec_(std::move(spec)), storage_(std::move(storage)) {}

const client::Buffer* Tensor::buffer() const {
  if (storage_ == nullptr || storage_->allocation() == nullptr) return nullptr;
  return &storage_->allocation()->buffer();
}

template <>
Result<std::vector<float>> Tensor::ToHost<float>() const {
  return Read(false);
}

template <>
Result<std::vector<uint32_t>> Tensor::ToHost<uint32_t>() const {
  const Result<std::vector<float>> numbers = Read(true);
  if (!numbers.ok()) return numbers.status();
  std::vector<uint32_t> elements(numbers->size());
  std::memcpy(elements.data(), numbers->data(), elements.size() * sizeof(uint32_t));
  return elements;
}

Result<std::vector<float>> Tensor::Read(bool is_integer) const {
  if (!ok()) return status_;
  if (is_integer != (spec_.dtype == DType::kUInt32)) {
    return Invalid("tensor", "the tensor is " + spec_.ToString() + "; its elements are read as " +
                                 (is_integer ? "float" : "uint32_t"));
  }
  const std::shared_ptr<Allocation> allocation = storage_->allocation();
  if (allocation == nullptr) return Invalid("tensor", "the tensor has been deallocated");
  if (allocation->recording() != nullptr && !allocation->recording()->has_run) {
    return Status(Code::kFailedPrecondition,
                  "the tensor is made by a recording that has not been replayed");
  }
  std::vector<std::byte> pages(spec_.size_bytes());
  client::Queue queue = allocation->card()->queue();
  if (Status status = queue.Read(allocation->buffer(), 0, pages); !status.ok()) return status;
  return ElementsOf(pages, spec_);
}

void Tensor::Deallocate() {
  if (storage_ != nullptr) storage_->Deallocate();
}

}  // namespace ttfd::tensor
