// Records that carry no client's data: events and the end.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/command/record_sink.h"

namespace ttfd {

// An event record: the card answers with `event` in the completion ring. `check` comes back in the
// echoed command.
Status EncodeEvent(uint32_t event, uint16_t hardware_queue, uint32_t check, RecordSink& sink);

enum class Terminated { kDispatch, kDispatchS, kPrefetch };
// Ends one of the dispatch cores. Each belongs into a fetch entry of its own, in this order.
Status EncodeTerminate(Terminated which, RecordSink& sink);

// Bytes of an event with the WAIT before it.
inline constexpr uint32_t kMaxEventRecordBytes = 2 * abi::kEntryAlignment;

}  // namespace ttfd
