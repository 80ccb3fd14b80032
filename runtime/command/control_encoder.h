// Records that carry no client's data: events and the end.
#pragma once

#include <cstdint>

#include "runtime/abi/control_block.h"
#include "runtime/command/record_batch.h"

namespace ttfd {

// An event record: the card answers with `event` in the completion ring. `check` comes back in the
// echoed command.
void EncodeEvent(uint32_t event, uint16_t hardware_queue, uint32_t check, RecordBatch& batch);

enum class Terminated { kDispatch, kDispatchS, kPrefetch };
// Ends one of the dispatch cores. Each belongs into a fetch entry of its own, in this order.
void EncodeTerminate(Terminated which, RecordBatch& batch);

// Records of abi::kEntryAlignment bytes that an event may take: a WAIT for each stream, and its own.
inline constexpr uint32_t kMaxEventRecords = abi::kMaxSubDevices + 1;

}  // namespace ttfd
