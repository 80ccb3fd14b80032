// The Dispatcher of a card.
#include "runtime/dispatch/card_dispatcher.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "firmware/images.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/l1_map.h"
#include "runtime/boot/boot.h"
#include "runtime/boot/hart_state.h"
#include "runtime/command/command_check.h"
#include "runtime/command/control_encoder.h"
#include "runtime/command/transfer_encoder.h"
#include "runtime/dispatch/pipeline_report.h"

namespace ttfd {
namespace {

constexpr uint16_t kHardwareQueue = 0;
// Device time between two looks at the completion ring: short, so that a completion is seen soon
// while other tiles are busy.
constexpr uint64_t kSliceClocks = 2'000;
// tt-metal leaves the end of each bank alone (MEM_DRAM_SIZE, dev_mem_map.h); so does this.
constexpr uint64_t kUsableBankBytes = uint64_t{4177920} * 1024;

FirmwareSet EmbeddedFirmware() {
  FirmwareSet set;
  const std::span<const FirmwareImage> images = FirmwareImages();
  for (const FirmwareImage& image : ImagesOfRole(images, abi::kRoleWorker)) {
    set.worker[image.hart] = image.bytes;
  }
  for (const FirmwareImage& image : ImagesOfRole(images, abi::kRolePrefetch)) {
    set.prefetch = image.bytes;
  }
  for (const FirmwareImage& image : ImagesOfRole(images, abi::kRoleDispatch)) {
    (image.hart == hw::kBrisc ? set.dispatch : set.dispatch_s) = image.bytes;
  }
  return set;
}

RingSizes RingsOf(const DispatcherOptions& options) {
  RingSizes sizes;
  sizes.issue_ring_bytes = options.issue_ring_bytes;
  sizes.completion_ring_pages = options.completion_ring_pages;
  sizes.fetch_queue_entries = options.fetch_queue_entries;
  sizes.command_ring_bytes = options.command_ring_bytes;
  sizes.scratch_bytes = options.scratch_bytes;
  sizes.ringbuffer_bytes = options.ringbuffer_bytes;
  sizes.dispatch_ring_pages = options.dispatch_ring_pages;
  sizes.dispatch_s_ring_pages = options.dispatch_s_ring_pages;
  return sizes;
}

CardDescription Describe(const DeviceInfo& info, const CardGeometry& geometry) {
  CardDescription card;
  card.grid = geometry.grid();
  card.dram_banks = geometry.Banks(MemoryKind::kDram);
  card.dram_base = 0;
  card.dram_bank_bytes = std::min(info.dram_bank_bytes, kUsableBankBytes);
  card.l1_base = abi::kBufferAddress;
  card.l1_bytes = abi::kBufferBytes;
  return card;
}

uint64_t MaxRecordBytes(const Command& command, const CardGeometry& card, uint32_t max_record_bytes,
                        uint32_t max_piece_bytes) {
  // A WAIT and a STALL may come before any command.
  constexpr uint64_t kWaitBytes = 2 * abi::kEntryAlignment;
  if (const auto* write = std::get_if<WriteCommand>(&command)) {
    return kWaitBytes + WriteRecordBytes(write->region, write->offset, write->data.size(), card,
                                         max_record_bytes);
  }
  if (const auto* fill = std::get_if<FillCommand>(&command)) {
    return kWaitBytes +
           WriteRecordBytes(fill->region, fill->offset, fill->size, card, max_record_bytes);
  }
  if (const auto* read = std::get_if<ReadCommand>(&command)) {
    return kWaitBytes + ReadRecordBytes(*read, card, max_piece_bytes);
  }
  if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    return kWaitBytes + CopyRecordBytes(*copy, card);
  }
  if (!std::holds_alternative<LaunchCommand>(command)) return kWaitBytes;
  const auto& launch = std::get<LaunchCommand>(command);
  return kWaitBytes + MaxLaunchRecordBytes(*launch.program, launch.arguments);
}

}  // namespace

StatusOr<std::unique_ptr<Dispatcher>> Dispatcher::Create(Device& device, Clock& clock,
                                                         const DispatcherOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<CardDispatcher> dispatcher,
                   CardDispatcher::Create(device, clock, options, EmbeddedFirmware()));
  return std::unique_ptr<Dispatcher>(std::move(dispatcher));
}

StatusOr<std::unique_ptr<CardDispatcher>> CardDispatcher::Create(Device& device, Clock& clock,
                                                                 const DispatcherOptions& options,
                                                                 const FirmwareSet& firmware) {
  // Checks sizes and card; the address of the host memory is filled in at boot.
  ASSIGN_OR_RETURN(BootPlan plan, PlanBoot(device.info(), RingsOf(options), kHardwareQueue, 0));
  RETURN_IF_ERROR(CheckFirmware(firmware));
  std::unique_ptr<CardDispatcher> dispatcher(
      new CardDispatcher(device, clock, options, firmware, std::move(plan)));
  if (!options.record_path.empty()) {
    ASSIGN_OR_RETURN(dispatcher->capture_, RecordFileWriter::Create(options.record_path));
  }
  return dispatcher;
}

CardDispatcher::CardDispatcher(Device& device, Clock& clock, const DispatcherOptions& options,
                               const FirmwareSet& firmware, BootPlan plan)
    : device_(device),
      clock_(clock),
      options_(options),
      firmware_(firmware),
      plan_(std::move(plan)),
      geometry_(plan_.worker_columns, device.info().dram_port_xy[0], plan_.dispatch_tile),
      card_(Describe(device.info(), geometry_)),
      // Half of the ring, so that one record can be written while the host takes the other.
      max_piece_bytes_(options.completion_ring_pages / 2 * abi::kCompletionPageBytes -
                       abi::kCommandBytes),
      lost_(Error(StatusCode::kFailedPrecondition, "the card is not booted")),
      launches_(geometry_, ordering_) {}

CardDispatcher::~CardDispatcher() = default;

Status CardDispatcher::Lose(const Status& status) {
  if (lost_.ok()) lost_ = status;
  return lost_;
}

Status CardDispatcher::Boot() {
  lost_ = OkStatus();
  link_.reset();
  timeline_.Forget();
  reads_.Clear();
  ordering_ = Ordering();
  launches_.Clear();
  const RingSizes rings = RingsOf(options_);
  if (host_memory_ == nullptr) {
    StatusOr<std::unique_ptr<HostMemory>> memory =
        device_.AllocateHostMemory(HostQueueBytes(rings));
    if (!memory.ok()) return Lose(memory.status());
    host_memory_ = *std::move(memory);
  }
  StatusOr<BootPlan> plan =
      PlanBoot(device_.info(), rings, kHardwareQueue, host_memory_->noc_address());
  if (!plan.ok()) return Lose(plan.status());
  plan_ = *std::move(plan);
  std::memset(host_memory_->bytes().data(), 0, abi::kIssueRingOffset);

  BootOptions boot;
  // Any value but those of earlier boots and 0, what cleared memory holds.
  boot.nonce = 0x7E570000u + ++boots_;
  boot.timeout = options_.boot_timeout;
  boot.advance_clocks = options_.advance_clocks;
  const Status booted = BootCard(device_, clock_, plan_, firmware_, boot);
  if (!booted.ok()) return Lose(booted);

  CardLink::Settings settings;
  settings.rings = rings;
  settings.timeout = options_.operation_timeout;
  StatusOr<std::unique_ptr<CardLink>> link = CardLink::Open(
      device_, clock_, plan_, *host_memory_, settings, [this] { return Step(kSliceClocks); },
      capture_.get());
  if (!link.ok()) return Lose(link.status());
  link_ = *std::move(link);
  ++progress_;
  return OkStatus();
}

StatusOr<bool> CardDispatcher::HasRoomFor(const Route&, const Command& command) {
  RETURN_IF_ERROR(lost_);
  RETURN_IF_ERROR(CheckCommand(command, geometry_));
  StatusOr<bool> room = link_->HasRoom(
      MaxRecordBytes(command, geometry_, link_->max_record_bytes(), max_piece_bytes_));
  if (!room.ok()) return Lose(room.status());
  return room;
}

Status CardDispatcher::Encode(const Command& command) {
  if (const auto* write = std::get_if<WriteCommand>(&command)) {
    RETURN_IF_ERROR(ordering_.BeforeWrite(*link_));
    RETURN_IF_ERROR(EncodeWrite(*write, geometry_, *link_));
    ordering_.Wrote();
    return OkStatus();
  }
  if (const auto* fill = std::get_if<FillCommand>(&command)) {
    RETURN_IF_ERROR(ordering_.BeforeWrite(*link_));
    RETURN_IF_ERROR(EncodeFill(*fill, geometry_, *link_));
    ordering_.Wrote();
    return OkStatus();
  }
  if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    RETURN_IF_ERROR(ordering_.BeforeRead(*link_));
    RETURN_IF_ERROR(ordering_.BeforeWrite(*link_));
    RETURN_IF_ERROR(EncodeCopy(*copy, geometry_, *link_));
    ordering_.Wrote();
    return OkStatus();
  }
  if (const auto* read = std::get_if<ReadCommand>(&command)) {
    RETURN_IF_ERROR(ordering_.BeforeRead(*link_));
    reads_.BeginRead(read->sink);
    RETURN_IF_ERROR(EncodeRead(
        *read, max_piece_bytes_, geometry_,
        [this](const ReadPiece& piece) { return reads_.ExpectPiece(piece); }, *link_));
    reads_.EndRead();
    return OkStatus();
  }
  return launches_.Launch(std::get<LaunchCommand>(command), *link_);
}

Status CardDispatcher::Wait(uint32_t, const Ticket&) { return OkStatus(); }

StatusOr<uint64_t> CardDispatcher::Submit(const Route&, const Command& command) {
  RETURN_IF_ERROR(lost_);
  RETURN_IF_ERROR(CheckCommand(command, geometry_));
  const Status encoded = Encode(command);
  if (!encoded.ok()) return Lose(encoded);
  return timeline_.Submit();
}

Status CardDispatcher::Event(uint32_t, uint64_t) {
  RETURN_IF_ERROR(lost_);
  const auto encode = [this]() -> Status {
    RETURN_IF_ERROR(ordering_.BeforeEvent(*link_));
    return EncodeEvent(timeline_.next_event(), kHardwareQueue, reads_.ExpectEvent(), *link_);
  };
  const Status encoded = encode();
  if (!encoded.ok()) return Lose(encoded);
  timeline_.Ask({ordering_.Now(), link_->entries_appended()});
  const Status flushed = link_->Flush();
  return flushed.ok() ? flushed : Lose(flushed);
}

Status CardDispatcher::Seen(const CompletionQueue::Record& record) {
  RETURN_IF_ERROR(reads_.CheckTurn(record));
  if (record.command.is_event == 0) return reads_.Deliver(record);
  const auto id = record.first.size() >= sizeof(uint32_t) ? LoadAt<uint32_t>(record.first.data())
                                                          : ~timeline_.due();
  const auto event = timeline_.Seen(id);
  if (!event.has_value()) {
    return Internal("the card reported event {} where {} is due", id, timeline_.due());
  }
  ordering_.Happened(event->mark.ordering);
  link_->ring().FreeBelow(event->mark.entries);
  return OkStatus();
}

StatusOr<uint32_t> CardDispatcher::Collect() {
  CompletionQueue& completions = link_->completions();
  uint32_t records = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<CompletionQueue::Record> record, completions.Next());
    if (!record.has_value()) break;
    RETURN_IF_ERROR(Seen(*record));
    completions.Pop(*record);
    RETURN_IF_ERROR(completions.Acknowledge(false));
    ++records;
  }
  progress_ += records;
  if (records > 0 && timeline_.idle()) RETURN_IF_ERROR(completions.Acknowledge(true));
  return records;
}

StatusOr<bool> CardDispatcher::Step(uint64_t clocks) {
  StatusOr<AdvanceResult> advanced = device_.Advance(clocks);
  if (!advanced.ok()) {
    // What ended before the fault did end: who runs the card must know what it was doing.
    Collect().status().IgnoreError();
    return advanced.status();
  }
  const bool owed = link_->completions().unacknowledged() > 0;
  ASSIGN_OR_RETURN(const uint32_t records, Collect());
  if (records > 0 || !advanced->quiescent) return true;
  // The card may wait for pages that the host has read but kept to itself.
  RETURN_IF_ERROR(link_->completions().Acknowledge(true));
  return owed;
}

Status CardDispatcher::Poll() {
  RETURN_IF_ERROR(lost_);
  const Status polled = PollOrFail().status();
  return polled.ok() ? polled : Lose(polled);
}

StatusOr<uint64_t> CardDispatcher::PollOrFail() {
  RETURN_IF_ERROR(link_->Flush());
  const uint64_t before = progress_;
  RETURN_IF_ERROR(Collect().status());
  uint64_t left = options_.advance_clocks;
  while (progress_ == before && left > 0 && !timeline_.idle()) {
    const uint64_t slice = std::min(left, kSliceClocks);
    left -= slice;
    ASSIGN_OR_RETURN(const bool can_move, Step(slice));
    if (!can_move) {
      RETURN_IF_ERROR(CheckHang());
      break;
    }
  }
  return timeline_.completed();
}

Status CardDispatcher::CheckHang() {
  const uint32_t freed = link_->ring().entries_freed();
  RETURN_IF_ERROR(link_->ReadFetched());
  if (link_->ring().entries_freed() != freed) ++progress_;
  const bool all_taken = link_->ring().entries_freed() == link_->ring().entries_closed();
  if (all_taken && !timeline_.waits_for_events() && !reads_.waits()) return OkStatus();
  std::string stages;
  for (const HartReport& report : Report()) {
    stages += fmt::format("; {} {}", report.where, report.text);
    if (stages.size() > 600) break;
  }
  return Error(StatusCode::kDeadlineExceeded,
               "nothing can move any more: event {} is due, {} of {} entries taken{}",
               timeline_.due(), link_->ring().entries_freed(), link_->ring().entries_closed(),
               stages);
}

std::vector<HartReport> CardDispatcher::Report() { return ReportPipeline(device_, plan_); }

Status CardDispatcher::Drain() {
  RETURN_IF_ERROR(Dispatcher::Event());
  TimePoint deadline = clock_.Now() + options_.operation_timeout;
  uint64_t seen = progress_;
  while (!idle()) {
    RETURN_IF_ERROR(Poll());
    if (progress_ != seen) {
      seen = progress_;
      deadline = clock_.Now() + options_.operation_timeout;
    } else if (clock_.Now() >= deadline) {
      return Error(StatusCode::kDeadlineExceeded, "work in flight did not end within {} ms",
                   std::chrono::duration_cast<std::chrono::milliseconds>(options_.operation_timeout)
                       .count());
    }
  }
  return OkStatus();
}

Status CardDispatcher::TerminateAll() {
  for (const Terminated which :
       {Terminated::kDispatch, Terminated::kDispatchS, Terminated::kPrefetch}) {
    RETURN_IF_ERROR(EncodeTerminate(which, *link_));
    RETURN_IF_ERROR(link_->Flush());
  }
  return AwaitStopped();
}

Status CardDispatcher::AwaitStopped() {
  const TimePoint deadline = clock_.Now() + options_.operation_timeout;
  bool quiescent = false;
  for (;;) {
    ASSIGN_OR_RETURN(const TileStatus prefetch, ReadTileStatus(link_->prefetch_tile()));
    ASSIGN_OR_RETURN(const TileStatus dispatch, ReadTileStatus(link_->dispatch_tile()));
    const struct {
      const char* name;
      uint32_t state;
    } stages[] = {{"prefetch", prefetch[hw::kBrisc].state},
                  {"dispatch", dispatch[hw::kBrisc].state},
                  {"dispatch_s", dispatch[hw::kNcrisc].state}};
    const auto* running = std::find_if(std::begin(stages), std::end(stages), [](const auto& stage) {
      return stage.state != abi::kHartStopped;
    });
    if (running == std::end(stages)) return OkStatus();
    if (quiescent || clock_.Now() >= deadline) {
      return Error(StatusCode::kDeadlineExceeded, "{} did not stop when told to: it is {}",
                   running->name, HartStateName(running->state));
    }
    ASSIGN_OR_RETURN(const AdvanceResult advanced, device_.Advance(options_.advance_clocks));
    quiescent = advanced.quiescent;
  }
}

Status CardDispatcher::Shutdown() {
  Status result = OkStatus();
  if (link_ != nullptr) {
    result = lost_;
    if (result.ok()) result = Drain();
    if (result.ok()) result = TerminateAll();
  }
  // Whatever happened before: nothing runs any more.
  const Status reset = device_.Reset();
  if (result.ok()) result = reset;
  if (capture_ != nullptr && result.ok()) result = capture_->Finish();
  lost_ = Error(StatusCode::kFailedPrecondition, "the card was shut down");
  link_.reset();
  timeline_.Forget();
  reads_.Clear();
  return result;
}

}  // namespace ttfd
