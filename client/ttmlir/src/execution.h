// One run of a program: its tensors by id.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/ttmlir/src/executable.h"

namespace ttfd::ttmlir {

// Runs a program without problems; one thread.
class Execution {
 public:
  Execution(tensor::Card& card, Executable& executable, size_t program,
            const SubmitOptions& options)
      : card_(card),
        executable_(executable),
        program_(program),
        plan_(executable.plans()[program]),
        options_(options) {}

  client::Result<std::vector<tensor::Tensor>> Run(std::span<const tensor::Tensor> inputs);

 private:
  client::Status Do(const CallStep& step);
  client::Status Do(const CopyStep& step);
  client::Status Do(const FillStep& step);
  client::Status Do(const DataStep& step);
  client::Status Do(const FreeStep& step);
  client::Status Do(const ProgramStep& step);
  client::Status Do(const TraceStep& step);
  client::Status Do(const NativeStep& step);
  // Elements of the host's. In a recording, each replay makes them anew: an operation may change them in place.
  client::Status DefineConstant(const Value& value, const std::vector<double>& numbers);
  // The tensor, with the shape, type and layout of `spec`.
  tensor::Tensor Settled(tensor::Tensor made, const tensor::TensorSpec& spec);
  client::Status Define(const Value& value, const tensor::Tensor& made);
  // Compares with the golden tensor of the key, if the file has one.
  client::Status CheckGolden(std::string_view key, const std::string& name, const Value& value,
                             const tensor::Tensor& made);
  // The first result of an operation; none: it has no result.
  std::optional<Value> ResultOf(const PlannedOperation& operation) const;
  tensor::Tensor FromWords(const std::vector<uint32_t>& words, const tensor::TensorSpec& spec);
  tensor::Tensor FromNumbers(const std::vector<double>& numbers, const tensor::TensorSpec& spec);

  tensor::Card& card_;
  Executable& executable_;
  const size_t program_;
  const Plan& plan_;
  const SubmitOptions& options_;
  TensorsById tensors_;
};

}  // namespace ttfd::ttmlir
