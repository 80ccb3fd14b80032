// A program of a TTNN file as a recording on a card.
#include "client/ttmlir/src/recorded_trace.h"

#include <algorithm>

#include "ttfd/tensor/ops.h"

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Status;
using tensor::Card;
using tensor::Tensor;
using tensor::TensorSpec;

Tensor ZerosOf(Card& card, const TensorSpec& spec) {
  const uint64_t elements = spec.shape.elements();
  if (spec.dtype == tensor::DType::kUInt32) {
    return card.FromHost(std::vector<uint32_t>(elements), spec.shape, spec.layout);
  }
  return card.FromHost(std::vector<float>(elements), spec.shape, spec.dtype, spec.layout);
}

bool Has(const std::vector<uint64_t>& ids, uint64_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

Tensor CopyOf(const Tensor& x) {
  const auto extents = x.shape().extents();
  return tensor::Slice(x, std::vector<int64_t>(extents.size(), 0),
                       {extents.begin(), extents.end()});
}

bool RecordedTrace::HasSlot(const TraceStep& step, uint64_t id) const {
  return Has(step.copied, id) || moved_.contains(id);
}

bool RecordedTrace::Fits(Card& card, const TraceStep& step, const TensorsById& tensors) {
  if (!recording_ || session_ != SessionKeyOf(card)) return false;
  bool fits = true;
  for (const auto& [id, storage] : read_) {
    const Tensor& input = tensors.at(id);
    if (input.buffer() != nullptr && storage.lock() == input.storage()) continue;
    fits = false;
    if (!Has(step.changed, id)) moved_.insert(id);
  }
  return fits;
}

Status RecordedTrace::Record(Card& card, const TraceStep& step, const Call& call,
                             const TensorsById& tensors) {
  recording_.reset();
  slots_.clear();
  read_.clear();
  TensorsById traced;
  for (const Value& input : step.inputs) {
    const Tensor& given = tensors.at(input.id);
    if (HasSlot(step, input.id)) {
      slots_[input.id] = CopyOf(given);
      traced[input.id] = slots_[input.id];
    } else {
      read_.emplace_back(input.id, given.storage());
      traced[input.id] = given;
    }
    if (!traced[input.id].ok()) return traced[input.id].status();
  }
  for (const Value& slot : step.slots) traced[slot.id] = ZerosOf(card, slot.spec);
  Status called;
  tensor::Result<tensor::Recording> recording =
      card.Record([&call, &called, &traced] { called = call(&traced); });
  if (!called.ok()) return called;
  if (recording.status().code() == Code::kResourceExhausted) {
    too_large_for_ = SessionKeyOf(card);
    return Status(Code::kFailedPrecondition, recording.status().message());
  }
  if (!recording.ok()) return recording.status();
  recording_ = *std::move(recording);
  session_ = SessionKeyOf(card);
  for (const Value& result : step.results) slots_[result.id] = traced.at(result.id);
  return Status();
}

Status RecordedTrace::Run(Card& card, const TraceStep& step, const Call& call,
                          TensorsById* tensors) {
  const std::lock_guard lock(mutex_);
  if (too_large_for_ == SessionKeyOf(card)) {
    return Status(Code::kFailedPrecondition, "it is larger than a trace may be");
  }
  if (!Fits(card, step, *tensors)) {
    if (Status status = Record(card, step, call, *tensors); !status.ok()) return status;
  } else {
    for (const Value& input : step.inputs) {
      if (!HasSlot(step, input.id)) continue;
      const Tensor written = tensor::CopyInto(slots_.at(input.id), tensors->at(input.id));
      if (!written.ok()) return written.status();
    }
  }
  if (Status status = recording_->Replay(); !status.ok()) return status;
  for (const Value& result : step.results) {
    (*tensors)[result.id] = CopyOf(slots_.at(result.id));
    if (!(*tensors)[result.id].ok()) return (*tensors)[result.id].status();
  }
  return Status();
}

}  // namespace ttfd::ttmlir
