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

bool HasSlot(const TraceStep& step, uint64_t id) {
  return std::find(step.copied.begin(), step.copied.end(), id) != step.copied.end();
}

}  // namespace

Tensor CopyOf(const Tensor& x) {
  const auto extents = x.shape().extents();
  return tensor::Slice(x, std::vector<int64_t>(extents.size(), 0),
                       {extents.begin(), extents.end()});
}

bool RecordedTrace::Fits(Card& card, const TensorsById& tensors) const {
  if (!recording_ || session_ != card.session().id()) return false;
  return std::all_of(read_.begin(), read_.end(), [&tensors](const auto& read) {
    const Tensor& input = tensors.at(read.first);
    return input.buffer() != nullptr && read.second.lock() == input.storage();
  });
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
    is_too_large_ = true;
    return Status(Code::kFailedPrecondition, recording.status().message());
  }
  if (!recording.ok()) return recording.status();
  recording_ = *std::move(recording);
  session_ = card.session().id();
  for (const Value& result : step.results) slots_[result.id] = traced.at(result.id);
  return Status();
}

Status RecordedTrace::Run(Card& card, const TraceStep& step, const Call& call,
                          TensorsById* tensors) {
  const std::lock_guard lock(mutex_);
  if (is_too_large_) return Status(Code::kFailedPrecondition, "it is larger than a trace may be");
  if (!Fits(card, *tensors)) {
    if (Status status = Record(card, step, call, *tensors); !status.ok()) return status;
  } else {
    for (const uint64_t id : step.copied) {
      const Tensor written = tensor::CopyInto(slots_.at(id), tensors->at(id));
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
