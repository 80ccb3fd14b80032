// A tensor on a card.
//
//   Tensor y = Gelu(Linear(x, w, bias));                   // enqueued; an error of any of them is y's
//   Result<std::vector<float>> numbers = y.ToHost();       // waits
//
// A Tensor is a handle: copies share the elements, which nothing but operations in place changes after the operation
// that made them. Memory returns to the card's pool with the last copy. Any thread may use a Tensor; two
// threads may use the same one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ttfd/resources.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

class Storage;    // of the library
class CardState;  // of the library

class Tensor {
 public:
  Tensor();  // FAILED_PRECONDITION: no tensor
  // A tensor that could not be made. Operations pass the error on, ToHost returns it.
  Tensor(Status error);  // NOLINT: implicit like a return value
  // Constructor that the library uses.
  Tensor(TensorSpec spec, std::shared_ptr<Storage> storage);

  // OK, or why there is no such tensor: an argument of the operation that should have made it, or of one before it.
  // Errors of the card come from ToHost and Card::Finish.
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

  // Shape, type and layout of the elements. Empty: the tensor has an error.
  const TensorSpec& spec() const { return spec_; }
  const Shape& shape() const { return spec_.shape; }
  DType dtype() const { return spec_.dtype; }
  Layout layout() const { return spec_.layout; }

  // The elements, the last extent running fastest, without padding: exactly their values. Waits for all operations
  // enqueued before, for at most ConnectOptions::call_timeout. Element is uint32_t for kUInt32 and float for others;
  // INVALID_ARGUMENT: it is the other one.
  template <typename Element = float>
  Result<std::vector<Element>> ToHost() const {
    std::vector<Element> elements(shape().elements());
    if (Status status = ToHost(std::span(elements)); !status.ok()) return status;
    return elements;
  }
  // Into an array of shape().elements() numbers. INVALID_ARGUMENT: it has another size.
  Status ToHost(std::span<float> elements) const;
  Status ToHost(std::span<uint32_t> elements) const;

  // Frees the memory of this tensor and its copies, which are errors to use from now on; not while another thread uses
  // one of them. Operations that have been enqueued are not affected.
  void Deallocate();

  // Where the elements lie, for kernels of one's own on Card::queue(). Null: an error, or deallocated. Valid while a
  // copy of the tensor exists.
  const client::Buffer* buffer() const;

  // Changes with each operation such as update_cache that changes the elements, of this tensor and its copies, and with
  // each call of Recording::Replay that does. Launches of one's own do not count.
  uint64_t version() const;

  // Storage of the elements, for the library. Null: an error.
  const std::shared_ptr<Storage>& storage() const { return storage_; }

 private:
  Status Read(bool as_integers, std::span<float> elements) const;

  Status status_;
  TensorSpec spec_;
  std::shared_ptr<Storage> storage_;
};

}  // namespace ttfd::tensor
