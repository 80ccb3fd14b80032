// Tensors as handles of their storage.
#include "ttfd/tensor/tensor.h"

#include <cstddef>
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
  return storage_ == nullptr ? nullptr : storage_->buffer();
}

Result<std::vector<float>> Tensor::ToHost() const {
  if (!ok()) return status_;
  if (buffer() == nullptr) return Invalid("tensor", "the tensor has been deallocated");
  std::vector<std::byte> pages(spec_.size_bytes());
  if (Status status = storage_->card()->queue().Read(*buffer(), 0, pages); !status.ok()) {
    return status;
  }
  return ElementsOf(pages, spec_);
}

void Tensor::Deallocate() {
  if (storage_ != nullptr) storage_->Deallocate();
}

}  // namespace ttfd::tensor
