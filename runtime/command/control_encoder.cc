// Records that carry no client's data: events and the end.
#include "runtime/command/control_encoder.h"

#include <cstring>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/host_queue.h"
#include "runtime/command/record_writer.h"

namespace ttfd {

void EncodeEvent(uint32_t event, uint16_t hardware_queue, uint32_t check, RecordBatch& batch) {
  constexpr uint32_t kBytes = sizeof(abi::EventRecord);
  constexpr uint32_t kPayload = kBytes - sizeof(abi::WriteLinearHHost);
  const MutableByteSpan memory = batch.Append(InlineRecordBytes(kBytes));
  RecordWriter writer(memory);
  abi::WriteLinearHHost header{};
  header.id = abi::DispatchId::kWriteLinearHHost;
  header.is_event = 1;
  header.tag = hardware_queue;
  header.check = check;
  header.length = kBytes;
  MutableByteSpan payload = writer.Dispatch(header, kPayload);
  std::memset(payload.data(), 0, payload.size());
  StoreAt(payload.data(), event);
}

void EncodeTerminate(Terminated which, RecordBatch& batch) {
  const MutableByteSpan memory = batch.Append(abi::kEntryAlignment);
  RecordWriter writer(memory);
  abi::BareDispatch terminate{};
  terminate.id = abi::DispatchId::kTerminate;
  switch (which) {
    case Terminated::kDispatch:
      writer.Dispatch(terminate);
      break;
    case Terminated::kDispatchS:
      writer.DispatchS(terminate);
      break;
    case Terminated::kPrefetch:
      writer.Terminate();
      break;
  }
}

}  // namespace ttfd
