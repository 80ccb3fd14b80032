// A card that runs our firmware.
#include "runtime/card/firmware_card.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "firmware/images.h"
#include "runtime/abi/l1_map.h"
#include "runtime/boot/boot.h"
#include "runtime/card/bounds_layout.h"
#include "runtime/card/execution_state.h"
#include "runtime/command/command_check.h"
#include "runtime/command/queue_encoder.h"
#include "runtime/command/trace_layout.h"
#include "runtime/command/transfer_encoder.h"
#include "runtime/hw/stream.h"

namespace ttfd {
namespace {

constexpr uint64_t kCheckedBankBytes = 4096;  // at the end of each bank, after a boot

// Selects `part` of each embedded image.
FirmwareSet EmbeddedFirmware(ByteSpan FirmwareImage::*part) {
  FirmwareSet set;
  const std::span<const FirmwareImage> images = FirmwareImages();
  for (const FirmwareImage& image : ImagesOfRole(images, abi::kRoleWorker)) {
    set.worker[image.hart] = image.*part;
  }
  for (const FirmwareImage& image : ImagesOfRole(images, abi::kRolePrefetch)) {
    set.prefetch = image.*part;
  }
  for (const FirmwareImage& image : ImagesOfRole(images, abi::kRoleDispatch)) {
    (image.hart == hw::kBrisc ? set.dispatch : set.dispatch_s) = image.*part;
  }
  return set;
}

std::vector<DramBank> DescribeBanks(const DeviceInfo& info, const std::vector<uint32_t>& worker_x) {
  std::vector<DramBank> banks;
  for (size_t i = 0; i < info.dram_port_xy[0].size() && i < info.dram_neighbors.size(); ++i) {
    const uint32_t port = info.dram_port_xy[0][i];
    const hw::Coordinate tile = info.dram_neighbors[i];
    // The column of dispatch tiles is the last one and no worker's: the one at its left is nearest then.
    const auto column = std::lower_bound(worker_x.begin(), worker_x.end() - 1, tile.x);
    banks.push_back(
        {{hw::NocX(port), hw::NocY(port)},
         {static_cast<uint32_t>(column - worker_x.begin()), tile.y - hw::kTensixFirstRow}});
  }
  return banks;
}

CardDescription Describe(const DeviceInfo& info, const CardGeometry& geometry,
                         uint64_t issue_ring_bytes) {
  // The records take at most 8 times the bytes of the transfer, and half of the ring (command_transfer_test.cc).
  constexpr uint64_t kRingPerByte = 16;
  CardDescription card;
  card.transfer_bytes = std::min(kMaxTransferBytes, issue_ring_bytes / kRingPerByte);
  card.grid = geometry.grid();
  card.dram_banks = geometry.Banks(MemoryKind::kDram);
  card.dram_base = 0;
  card.dram_bank_bytes = info.dram_bank_bytes - kCheckedBankBytes;
  card.l1_base = abi::kBufferAddress;
  card.l1_bytes = abi::kBufferBytes;
  card.dram_bank_size = info.dram_bank_bytes;
  for (uint32_t x = 0; x < card.grid.x; ++x) card.worker_x.push_back(geometry.WorkerTile(x).x);
  for (uint32_t y = 0; y < card.grid.y; ++y) {
    card.worker_y.push_back(geometry.WorkerTile(y * card.grid.x).y);
  }
  card.banks = DescribeBanks(info, card.worker_x);
  return card;
}

CardGeometry GeometryOf(const DeviceInfo& info, std::span<const BootPlan> plans) {
  CardGeometry::DispatchTiles tiles;
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    tiles[queue] = plans[queue].dispatch_tile;
  }
  return CardGeometry(plans.front().worker_columns, info.dram_port_xy[0], tiles,
                      plans.front().max_entry_bytes);
}

}  // namespace

StatusOr<std::unique_ptr<FirmwareCard>> FirmwareCard::Create(Device& device, Clock& clock,
                                                             const CardOptions& options) {
  return Create(device, clock, options, EmbeddedFirmware(&FirmwareImage::bytes),
                EmbeddedFirmware(&FirmwareImage::names));
}

StatusOr<std::unique_ptr<FirmwareCard>> FirmwareCard::Create(Device& device, Clock& clock,
                                                             const CardOptions& options,
                                                             const FirmwareSet& firmware,
                                                             const FirmwareSet& names) {
  // Checks sizes and card; the addresses of the host memory are filled in at boot.
  Plans plans;
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    ASSIGN_OR_RETURN(plans[queue], PlanQueue(device, OptionsFor(device, options), queue, 0));
  }
  RETURN_IF_ERROR(CheckFirmware(firmware));
  std::unique_ptr<FirmwareCard> card(
      new FirmwareCard(device, clock, options, firmware, names, plans));
  if (!options.record_path.empty()) {
    ASSIGN_OR_RETURN(card->capture_, RecordFileWriter::Create(options.record_path));
  }
  return card;
}

FirmwareCard::FirmwareCard(Device& device, Clock& clock, const CardOptions& options,
                           const FirmwareSet& firmware, const FirmwareSet& names,
                           const Plans& plans)
    : Card({card_, device.info(), geometry_, device.kernel_bounds(), inspector_}),
      device_(device),
      clock_(clock),
      options_(OptionsFor(device, options)),
      firmware_(firmware),
      plans_(plans),
      geometry_(GeometryOf(device.info(), plans_)),
      card_(Describe(device.info(), geometry_, options_.issue_ring_bytes)),
      // Half of the ring, so that one record can be written while the host takes the other.
      max_piece_bytes_(options_.completion_ring_pages / 2 * abi::kCompletionPageBytes -
                       abi::kCommandBytes),
      capture_start_(clock.Now()),
      lost_(Error(StatusCode::kFailedPrecondition, "the card is not booted")),
      prints_(device, clock, geometry_),
      queues_(geometry_),
      launches_(geometry_, queues_, prints_),
      code_(names, launches_.kernels(), launches_.programs()),
      inspector_({device, clock, firmware_, plans_, queues_, launches_, code_}),
      faults_(device, clock, plans_) {}

FirmwareCard::~FirmwareCard() = default;

Status FirmwareCard::Lose(const Status& status) {
  if (lost_.ok()) lost_ = status;
  return lost_;
}

Status FirmwareCard::PlaceRings() {
  const uint64_t bytes = HostQueueBytes(RingsOf(options_));
  for (uint32_t i = 0; i < kHardwareQueues; ++i) {
    if (host_memory_[i] == nullptr) {
      ASSIGN_OR_RETURN(host_memory_[i], device_.AllocateHostMemory(bytes));
    }
    ASSIGN_OR_RETURN(plans_[i], PlanQueue(device_, options_, i, host_memory_[i]->noc_address()));
  }
  return OkStatus();
}

Status FirmwareCard::OpenLinks() {
  CardLink::Settings settings;
  settings.rings = RingsOf(options_);
  settings.capture_start = capture_start_;
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    settings.hardware_queue = queue;
    // Discards what was in flight before the reset. Not before the reset: the card could still write here.
    const MutableByteSpan memory = host_memory_[queue]->bytes();
    if (boots_ > 1) std::memset(memory.data(), 0, memory.size());
    ASSIGN_OR_RETURN(queues_[queue].link,
                     CardLink::Open(device_, clock_, plans_[queue], *host_memory_[queue], settings,
                                    capture_.get()));
    EncodeStreams(queues_[queue].plan.batch);
    RETURN_IF_ERROR(queues_[queue].Commit().status());
  }
  return OkStatus();
}

Status FirmwareCard::Boot(ResetStrength strength, Tick tick) {
  lost_ = OkStatus();
  inspector_.Sample();  // while it is known which kernels lay where
  queues_.Forget();
  prints_.Restart();
  launches_.Restart(++boots_);
  const BootOptions boot = {boot_nonce(), options_.boot_timeout,
                            std::min(options_.advance_clocks, kSliceClocks)};
  const auto steps = [&]() -> Status {
    RETURN_IF_ERROR(ttfd::Reset(device_, strength, clock_, tick));  // host memory may move
    RETURN_IF_ERROR(PlaceRings());
    RETURN_IF_ERROR(BootCard(device_, clock_, plans_, firmware_, boot, tick));
    if (kernel_bounds() != nullptr) kernel_bounds()->SetLayout(BoundsOf(plans_[0], card_));
    RETURN_IF_ERROR(OpenLinks());
    return Annotate(VerifyCard(tick), "the card came up, but does not work");
  };
  const Status booted = steps();
  if (!booted.ok()) return Lose(booted);
  ++progress_;
  return OkStatus();
}

void FirmwareCard::PlanTransfer(const Route& route, const Command& command) {
  CardQueue& queue = queues_[route.hardware_queue];
  const Ordering::StreamMask kernels = launches_.KernelsOf(route);
  Ordering& ordering = queue.ordering.Change();
  RecordBatch& batch = queue.plan.batch;
  if (const auto* read = std::get_if<ReadCommand>(&command)) {
    ordering.BeforeRead(batch, kernels);
    EncodeRead(*read, max_piece_bytes_, geometry_, queue.reads.next_check(), &queue.plan.pieces,
               batch);
    queue.plan.sink = read->sink;
    return;
  }
  if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    ordering.BeforeRead(batch, kernels);
    ordering.BeforeWrite(batch, kernels);
    EncodeCopy(*copy, geometry_, batch);
  } else {
    ordering.BeforeWrite(batch, kernels);
    const auto* write = std::get_if<WriteCommand>(&command);
    if (write != nullptr) {
      EncodeWrite(*write, geometry_, batch);
    } else {
      EncodeFill(std::get<FillCommand>(command), geometry_, batch);
    }
  }
  ordering.Wrote();
}

Status FirmwareCard::Plan(const Route& route, const Command& command) {
  if (const auto* launch = std::get_if<LaunchCommand>(&command)) {
    return launches_.PlanLaunch(route, *launch);
  }
  if (const auto* record = std::get_if<RecordTraceCommand>(&command)) {
    return launches_.PlanRecord(route, *record);
  }
  if (const auto* replay = std::get_if<ReplayTraceCommand>(&command)) {
    return launches_.PlanReplay(route, *replay);
  }
  PlanTransfer(route, command);
  return OkStatus();
}

StatusOr<CardQueue::Begin> FirmwareCard::Commit(uint32_t hardware_queue,
                                                std::unique_ptr<TraceUndo>* undo) {
  *undo = launches_.Commit({hardware_queue, submitted(hardware_queue) + 1});
  return queues_.Commit(hardware_queue);
}

StatusOr<std::optional<uint64_t>> FirmwareCard::TrySubmit(const Route& route,
                                                          const Command& command,
                                                          std::span<const Ticket> after) {
  RETURN_IF_ERROR(lost_);
  RETURN_IF_ERROR(CheckCommand(route, command, geometry_));
  for (const Ticket& ticket : after) RETURN_IF_ERROR(CheckTicket(ticket));
  CardQueue& queue = queues_[route.hardware_queue];
  // The worker counters stay comparable; an event makes space.
  if (std::holds_alternative<LaunchCommand>(command) &&
      !queue.ordering->HasCompletionsFor(geometry_.worker_count())) {
    return std::nullopt;
  }
  for (const Ticket& ticket : after) {
    const CardQueue::Pending* const awaited = queues_[ticket.hardware_queue].Find(ticket.number);
    if (awaited == nullptr) continue;
    queues_.PlanAwait(route.hardware_queue, queue.plan.waits, ticket.hardware_queue, awaited->mark);
  }
  Status planned = Plan(route, command);
  if (planned.ok()) planned = queues_.CheckSize(route.hardware_queue);
  if (!planned.ok()) {
    Drop();
    return planned;
  }
  const StatusOr<bool> fits = queues_.Fit(route.hardware_queue);
  if (!fits.ok() || !*fits) {
    Drop();
    if (!fits.ok()) return Lose(fits.status());
    return std::nullopt;
  }
  std::unique_ptr<TraceUndo> undo;
  const StatusOr<CardQueue::Begin> begin = Commit(route.hardware_queue, &undo);
  if (!begin.ok() && undo != nullptr) undo->Restore();
  if (!begin.ok()) return Lose(begin.status());
  faults_.Restart();
  const bool kernels = std::holds_alternative<LaunchCommand>(command) ||
                       std::holds_alternative<ReplayTraceCommand>(command);
  return queue.Submitted(*begin, kernels && route.workers.any(), std::move(undo));
}

Status FirmwareCard::CheckTicket(const Ticket& ticket) const {
  const uint32_t queue = ticket.hardware_queue;
  if (queue >= kHardwareQueues) {
    return InvalidArgument("hardware queue {}; there are {}", queue, kHardwareQueues);
  }
  if (ticket.number <= submitted(queue)) return OkStatus();
  return InvalidArgument("command {} of CQ{}, which has {}", ticket.number, queue,
                         submitted(queue));
}

StatusOr<bool> FirmwareCard::RequestEvent(const Ticket& ticket) {
  RETURN_IF_ERROR(lost_);
  RETURN_IF_ERROR(CheckTicket(ticket));
  const StatusOr<bool> asked =
      queues_[ticket.hardware_queue].Event(ticket.hardware_queue, ticket.number);
  return asked.ok() ? asked : Lose(asked.status());
}

bool FirmwareCard::idle() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const CardQueue& queue) { return queue.idle(); });
}

bool FirmwareCard::settled() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const CardQueue& queue) { return queue.settled(); });
}

StatusOr<uint32_t> FirmwareCard::Collect() {
  uint32_t records = 0;
  for (CardQueue& queue : queues_) {
    ASSIGN_OR_RETURN(const uint32_t own, queue.Collect());
    records += own;
  }
  progress_ += records;
  return records;
}

StatusOr<bool> FirmwareCard::Step(uint64_t clocks) {
  StatusOr<AdvanceResult> advanced = device_.Advance(clocks);
  if (!advanced.ok()) {
    // Commands that ended before the fault did end: the caller that runs the card must see what it was doing.
    Collect().status().IgnoreError();
    return advanced.status();
  }
  ASSIGN_OR_RETURN(const uint32_t records, Collect());
  if (records > 0 || !advanced->quiescent) return true;
  // The card may wait for pages that the host has read but kept to itself, or for room to print.
  ASSIGN_OR_RETURN(bool owed, prints_.Drain());
  if (owed) ++progress_;
  for (CardQueue& queue : queues_) {
    ASSIGN_OR_RETURN(const bool pages, queue.link->completions().AcknowledgeRest());
    owed |= pages;
  }
  return owed;
}

StatusOr<bool> FirmwareCard::Poll(absl::FunctionRef<bool()> interrupted, CardOutput* output) {
  RETURN_IF_ERROR(lost_);
  const StatusOr<bool> polled = PollOrFail(interrupted);
  inspector_.Sample();
  TakeOutput(output);
  return polled.ok() ? polled : Lose(polled.status());
}

StatusOr<bool> FirmwareCard::PollOrFail(absl::FunctionRef<bool()> interrupted) {
  ASSIGN_OR_RETURN(const bool moves, PollCard(interrupted));
  if (!prints_.active()) return moves;
  // Before the end of a launch is reported.
  RETURN_IF_ERROR(prints_.Ended([this](const Ticket& ticket) { return IsDone(ticket); }));
  return moves;
}

void FirmwareCard::TakeOutput(CardOutput* output) {
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    for (const uint64_t number : queues_[queue].ended()) output->ended.push_back({queue, number});
    queues_[queue].ClearEnded();
  }
  prints_.TakePrints(&output->prints);
}

StatusOr<bool> FirmwareCard::PollCard(absl::FunctionRef<bool()> interrupted) {
  for (CardQueue& queue : queues_) RETURN_IF_ERROR(queue.link->Flush());
  const uint64_t before = progress_;
  RETURN_IF_ERROR(Collect().status());
  // Where the card comes back for completions alone, the caller has other things to see to meanwhile.
  uint64_t left = device_.info().reports_quiescence ? options_.advance_clocks : kSliceClocks;
  for (uint64_t next = FirstSliceClocks(device_);
       progress_ == before && left > 0 && !(settled() && idle()); next *= 2) {
    const uint64_t slice = std::min({left, next, kSliceClocks});
    left -= slice;
    ASSIGN_OR_RETURN(const bool can_move, Step(slice));
    if (!can_move) return HasSettled();
    if (prints_.active()) {
      ASSIGN_OR_RETURN(const bool printed, prints_.DrainIfDue());
      if (printed) ++progress_;
    }
    if (interrupted()) break;
  }
  RETURN_IF_ERROR(faults_.Look(progress_ != before || (settled() && idle())));
  return true;
}

bool FirmwareCard::HasSettled() {
  for (CardQueue& queue : queues_) {
    const uint32_t freed = queue.link->ring().entries_freed();
    queue.link->FreeFetched();
    if (queue.link->ring().entries_freed() != freed) ++progress_;
  }
  // The end of an independent launch would have been published; for others the caller asks for an event.
  const bool waits = std::any_of(queues_.begin(), queues_.end(), [](const CardQueue& queue) {
    return queue.HasIndependentLaunches();
  });
  return settled() && !waits;
}

std::string FirmwareCard::Explain() {
  return ToString(inspector_.Examine(ReadCard(device_, plans_), boot_nonce(), nullptr));
}

CardStop FirmwareCard::Halt(CardOutput* output) {
  StoppedCard stopped;
  CardStop stop;
  stop.stall = inspector_.Examine(inspector_.Halt(), boot_nonce(), &stopped);
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    const QueueState& host = stopped.hosts[queue];
    const QueueSnapshot* const shown =
        queue < stopped.card.queues.size() ? &stopped.card.queues[queue] : nullptr;
    for (const CommandState& command : host.in_flight) {
      stop.in_flight.push_back({{queue, command.ticket}, StateOf(shown, host, command)});
    }
  }
  UndoUnstarted(stop);
  HoldHarts();
  TakeOutput(output);
  return stop;
}

CardStop FirmwareCard::Halt() {
  CardOutput unused;
  return Halt(&unused);
}

void FirmwareCard::UndoUnstarted(const CardStop& stop) {
  for (auto command = stop.in_flight.rbegin(); command != stop.in_flight.rend(); ++command) {
    if (command->state != ExecutionState::kNotStarted) continue;
    queues_[command->ticket.hardware_queue].Undo(command->ticket.number);
  }
}

void FirmwareCard::HoldHarts() {
  const bool drained = !prints_.active() || prints_.Drain().ok();
  const bool held = (!drained || device_info().memory_survives_reset) && device_.Reset().ok();
  if (held && !drained) prints_.Drain().status().IgnoreError();
  prints_.Forget();
}

}  // namespace ttfd
