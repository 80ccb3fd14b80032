// Decodes requests.
#include "daemon/session/decoder.h"

#include <algorithm>
#include <utility>

#include "daemon/session/launch_arguments.h"
#include "daemon/session/program_parts.h"

namespace ttfd {
namespace {

constexpr uint32_t kTransferQueue = 2;  // QueueKind of the API; 0 and 1 are compute

Refusal CheckDevice(uint32_t device, const SessionCards& cards, const char* field) {
  if (device >= cards.all.size()) {
    return NoDeviceError(field, device, cards.all.size());
  }
  if (!cards.leased.empty() &&
      !std::binary_search(cards.leased.begin(), cards.leased.end(), device)) {
    return InvalidError(field,
                        "device {}; the lease under which this session works is of device {}",
                        device, fmt::join(cards.leased, ", "));
  }
  return std::nullopt;
}

Refusal DecodeCommand(const DecodeContext& context, BarrierRequest&) {
  context.op.body = BarrierOperation{};
  return std::nullopt;
}

Refusal DecodeCommand(const DecodeContext&, UnknownRequest&) {
  return UnsupportedError("command.op",
                          "a command that is not set, or that this daemon does not know");
}

}  // namespace

Refusal Decoder::Decode(Request& request, Operation* op, DecodeProgress* progress,
                        InputBudget* budget) {
  const TraceObject* const recording = op->queue->recording.get();
  const auto* const record = std::get_if<RecordTraceRequest>(&request);
  if (recording != nullptr && (record == nullptr || record->handle != recording->handle)) {
    return InvalidError("record_trace.more",
                        "trace {} was to continue in this command, which does something else",
                        recording->handle);
  }
  if (!std::exchange(progress->partly, false)) {
    if (Refusal refusal = CheckAnyWords(request)) return refusal;
  }
  const DecodeContext context{limits_, cards_, *op->queue->card, handles_,
                              frees_,  *op,    *progress,        *budget};
  return std::visit([&context](auto& one) { return DecodeCommand(context, one); }, request);
}

uint64_t Decoder::CreatedHandle(const Request& request) {
  if (const auto* allocate = std::get_if<AllocateRequest>(&request)) return allocate->handle;
  if (const auto* load = std::get_if<LoadKernelRequest>(&request)) return load->handle;
  if (const auto* create = std::get_if<CreateProgramRequest>(&request)) return create->handle;
  if (const auto* record = std::get_if<RecordTraceRequest>(&request)) return record->handle;
  return 0;
}

Refusal Decoder::DecodeQueue(const OpenQueueRequest& request, CardResources** card,
                             Route* route) const {
  const uint32_t device = request.device.value_or(cards_.device);
  if (Refusal refusal = CheckDevice(device, cards_, "open_queue.device")) return refusal;
  *card = cards_.all[device];
  const GridSize grid = (*card)->description.grid;
  if (request.kind > kTransferQueue) {
    return UnsupportedError(
        "open_queue.kind",
        fmt::format("queue kind {}; COMPUTE and TRANSFER are known", request.kind));
  }
  route->hardware_queue = request.kind == kTransferQueue ? 1 : 0;
  if (!request.workers.empty()) {
    if (Refusal refusal = CheckCores(request.workers, grid, "open_queue.workers")) return refusal;
  }
  for (const CoreRange& range : request.workers) {
    const TileSet tiles = TilesOf(range, grid);
    if ((route->workers & tiles).any()) {
      return InvalidError("open_queue.workers",
                          "core range ({},{})-({},{}) overlaps another; name each worker once",
                          range.x0, range.y0, range.x1, range.y1);
    }
    route->workers |= tiles;
  }
  const TileSet& leased = cards_.workers;
  if (leased.any() && (route->workers & ~leased).any()) {
    return InvalidError("open_queue.workers",
                        "{} of these workers are not in the lease under which this session works",
                        (route->workers & ~leased).count());
  }
  if (route->workers.none()) route->workers = leased;
  return std::nullopt;
}

}  // namespace ttfd
