// The plans of a file, and results of its programs that run once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/ttmlir/src/file.h"
#include "client/ttmlir/src/golden.h"
#include "client/ttmlir/src/plan.h"
#include "client/ttmlir/src/recorded_trace.h"
#include "client/ttmlir/src/session_key.h"
#include "ttfd/tensor/card.h"
#include "ttfd/ttmlir/submit.h"

namespace ttfd::ttmlir {

// Belongs to a TTNN file, to whose bytes it refers. Any thread.
class Executable {
 public:
  explicit Executable(const File& file);

  const std::vector<Plan>& plans() const { return plans_; }
  std::optional<GoldenTensor> Golden(size_t program, std::string_view key) const {
    return GoldenOf(programs_.Child(static_cast<uint32_t>(program)), key);
  }
  // Problems of a program and those it calls, each program once.
  std::vector<Problem> ProblemsOf(size_t program, bool allow_native) const;

  // The results of program `program`, if it has run on the card of `session` with these inputs.
  std::vector<tensor::Tensor> Cached(SessionKey session, uint32_t program,
                                     std::span<const tensor::Tensor> inputs);
  void Keep(SessionKey session, uint32_t program, std::span<const tensor::Tensor> inputs,
            std::vector<tensor::Tensor> results);
  // That of a step of its plans.
  std::shared_ptr<RecordedTrace> TraceOf(const TraceStep& step);

 private:
  // Why a call cannot be made; "": it can.
  std::string ProblemOfCall(const ProgramStep& call) const;
  void ResolveTraces();
  // Finds the inputs that traces change in place. One that has a slot must not be: its slot would be changed.
  void FindChangesOfTraces();
  // Whether it found more inputs of the plan that are changed in place.
  bool AddChangesOfCalls(Plan* plan);

  struct Entry {
    SessionKey session = {};
    std::vector<std::pair<std::weak_ptr<tensor::Storage>, uint64_t>> inputs;  // with their versions
    std::vector<tensor::Tensor> results;
    std::vector<uint64_t> versions;  // of the results, which a program may change in place
  };

  List programs_;
  std::vector<Plan> plans_;
  std::mutex mutex_;
  std::map<uint32_t, Entry> cached_;                                   // by program; under mutex_
  std::map<const TraceStep*, std::shared_ptr<RecordedTrace>> traces_;  // under mutex_
};

// The binary's, which is made when it is first asked for; null: it is no TTNN file.
std::shared_ptr<Executable> ExecutableOf(const Binary& binary);

}  // namespace ttfd::ttmlir
