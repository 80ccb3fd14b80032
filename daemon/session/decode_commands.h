// Requests into operations: one function for each kind of command checks what can be known when it arrives, resolves
// handles, and fills in the operation. Handles that the command creates or frees are so when the function returns.
//
// Objects that are still to come are checked when the operation begins (Preparer).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "daemon/api/reply.h"
#include "daemon/api/request.h"
#include "daemon/session/card_resources.h"
#include "daemon/session/deferred_frees.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/input_budget.h"
#include "daemon/session/operation.h"

namespace ttfd {

// Progress of a command with more parts than are decoded in one turn: launches of a trace, patches of a replay.
struct DecodeProgress {
  size_t parts = 0;     // so many are decoded
  bool partly = false;  // but not all
};

// The session of a command, and the command that is being decoded. Device thread.
struct DecodeContext {
  const SessionLimits& limits;
  const SessionCards& cards;
  CardResources& card;  // of the command's queue
  HandleTable& handles;
  const DeferredFrees& frees;
  Operation& op;
  DecodeProgress& progress;
  InputBudget& budget;

  Refusal GetBuffer(uint64_t handle, const char* field, std::shared_ptr<Buffer>* buffer) const;
  // A command on another queue waits for the one that makes the object.
  void DependOn(const Object& object) const { DependOn(object.creator); }
  void DependOn(QueuePosition creator) const;
};

// These fill in op.body and op.waits, and take what they can of the request. With progress.partly the budget is spent:
// to be called again with the same.

// decode_transfers.cc
Refusal DecodeCommand(const DecodeContext& context, WriteRequest& request);
Refusal DecodeCommand(const DecodeContext& context, ReadRequest& request);
Refusal DecodeCommand(const DecodeContext& context, CopyRequest& request);
Refusal DecodeCommand(const DecodeContext& context, FillRequest& request);
// decode_buffers.cc
Refusal DecodeCommand(const DecodeContext& context, AllocateRequest& request);
// decode_objects.cc
Refusal DecodeCommand(const DecodeContext& context, FreeRequest& request);
Refusal DecodeCommand(const DecodeContext& context, LoadKernelRequest& request);
Refusal DecodeCommand(const DecodeContext& context, CreateProgramRequest& request);
// decode_links.cc
Refusal DecodeCommand(const DecodeContext& context, ConnectLinksRequest& request);
// decode_launches.cc
Refusal DecodeCommand(const DecodeContext& context, LaunchRequest& request);
Refusal DecodeCommand(const DecodeContext& context, RecordTraceRequest& request);
Refusal DecodeCommand(const DecodeContext& context, ReplayTraceRequest& request);

}  // namespace ttfd
