// DECODE: turns a request into an operation with its handles resolved and everything checked that can be
// known when it arrives. Every error a client can make is found here or, where an object is still
// to come, by the issuer.
#pragma once

#include <memory>

#include "daemon/session/deferred_frees.h"
#include "daemon/session/environment.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/input_budget.h"
#include "daemon/session/operation.h"
#include "daemon/session/session_queue.h"

namespace ttfd {

// Progress of a command with more parts than are decoded in one turn: launches of a trace, patches of a replay.
struct DecodeProgress {
  size_t parts = 0;     // so many are
  bool partly = false;  // but not all
};

class Decoder {
 public:
  // All outlive the decoder. `workers`: all that the session may launch on; none: all there are.
  Decoder(const SessionEnvironment& environment, HandleTable& handles, const DeferredFrees& frees,
          const TileSet& workers)
      : environment_(environment), handles_(handles), frees_(frees), workers_(workers) {}

  // Fills in op->body and waits; takes what it can of the request. Handles that the command
  // creates or frees are so when it returns. With progress->partly the budget is spent: to be called again.
  Refusal Decode(Request& request, Operation* op, DecodeProgress* progress, InputBudget* budget);
  // The hardware queue and the workers of a queue that is to be opened.
  Refusal DecodeQueue(const OpenQueueRequest& request, Route* route) const;

  // Handles a refused or unexecuted request would have created, which name nothing from then on; 0: none.
  static uint64_t CreatedHandle(const Request& request);

 private:
  Refusal DecodeOne(AllocateRequest& request, Operation* op);
  Refusal DecodeOne(FreeRequest& request, Operation* op);
  Refusal DecodeOne(LoadKernelRequest& request, Operation* op);
  Refusal DecodeOne(CreateProgramRequest& request, Operation* op);
  Refusal DecodeOne(WriteRequest& request, Operation* op);
  Refusal DecodeOne(ReadRequest& request, Operation* op);
  Refusal DecodeOne(CopyRequest& request, Operation* op);
  Refusal DecodeOne(FillRequest& request, Operation* op);
  Refusal DecodeOne(LaunchRequest& request, Operation* op);
  Refusal DecodeOne(BarrierRequest& request, Operation* op);
  Refusal DecodeOne(RecordTraceRequest& request, Operation* op);
  Refusal DecodeOne(ReplayTraceRequest& request, Operation* op);
  Refusal DecodeOne(UnknownRequest& request, Operation* op);
  Refusal BeginReplay(const ReplayTraceRequest& request, Operation* op);

  Refusal CheckPlace(const AllocateRequest& request, Buffer* buffer) const;
  Refusal CheckL1(const AllocateRequest& request, Buffer* buffer) const;
  Refusal ListWorkers(const std::vector<CoreRange>& ranges, const char* field,
                      std::vector<uint32_t>* workers) const;
  Refusal CheckDevice(uint32_t device, const char* field) const;
  // Parts of one launch: the objects that it names, resolved, and the bytes of its arguments, added up.
  struct LaunchParts {
    std::shared_ptr<ProgramObject> program;
    std::vector<std::shared_ptr<Buffer>> buffers;
    uint64_t held_bytes = 0;  // of host memory, by its arguments
  };
  Refusal ResolveLaunch(const LaunchRequest& request, Operation* op, LaunchParts* parts) const;
  Refusal ResolveBuffers(const ArgumentsRequest& arguments, const char* field, Operation* op,
                         std::vector<std::shared_ptr<Buffer>>* buffers) const;
  Refusal AddLaunch(LaunchRequest& request, Operation* op, TraceObject* trace) const;
  Refusal CheckWorkers(const ProgramObject& program, const SessionQueue& queue,
                       const char* field) const;
  Refusal GetBuffer(uint64_t handle, const char* field, Operation* op,
                    std::shared_ptr<Buffer>* buffer) const;
  // A command on another queue waits for the one that makes the object.
  static void DependOn(const Object& object, Operation* op) { DependOn(object.creator, op); }
  static void DependOn(QueuePosition creator, Operation* op);

  const SessionEnvironment& environment_;
  HandleTable& handles_;
  const DeferredFrees& frees_;
  const TileSet workers_;
  // Belong to the command being decoded.
  DecodeProgress* progress_ = nullptr;
  InputBudget* budget_ = nullptr;
};

}  // namespace ttfd
