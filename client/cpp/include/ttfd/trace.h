// Traces: launches compiled once, kept in device memory and replayed by one command.
//
//   #include <ttfd/queue.h>
//   using namespace ttfd::client;
//
//   // Replays twice; the second time kernel 0 of the first step has other arguments.
//   Status ReplayTwice(Queue& queue, std::vector<LaunchRequest> steps) {
//     const Result<Trace> trace = queue.RecordTrace(steps);
//     if (!trace.ok()) return trace.status();
//     if (Status status = queue.Replay(ReplayRequest(*trace)); !status.ok()) return status;
//     return queue.Replay(ReplayRequest(*trace).Patch(0, steps[0].Common(0, {7, 8})));
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ttfd/resources.h"

namespace ttfd::client {

// Made by Queue::RecordTrace. Replayed on the queue it was recorded on, or one of the same card and kind
// with the same workers. It keeps the programs and the memory its arguments name, even if those are
// freed.
class Trace : public Resource {
 public:
  Trace() = default;
  Trace(std::shared_ptr<SessionCore> core, uint64_t handle, size_t launches)
      : Resource(std::move(core), handle), launches_(launches) {}

  size_t launches() const { return launches_; }

 private:
  size_t launches_ = 0;
};

// One replay of a trace, and what is different from the replay before.
class ReplayRequest {
 public:
  struct KernelPatch {
    uint32_t launch = 0;
    LaunchRequest::Arguments arguments = {};
  };

  explicit ReplayRequest(const Trace& trace) : trace_(trace.handle()) {}

  // From this replay on, launch `launch` of the trace (counted from 0) has the arguments in
  // `arguments`: of whole kernels, each as many words as recorded. Kernels without an entry keep
  // theirs; the program and the timeout in it are ignored.
  ReplayRequest& Patch(uint32_t launch, const LaunchRequest& arguments);

  uint64_t trace() const { return trace_; }
  const std::vector<KernelPatch>& patches() const { return patches_; }

 private:
  uint64_t trace_ = 0;
  std::vector<KernelPatch> patches_;
};

}  // namespace ttfd::client
