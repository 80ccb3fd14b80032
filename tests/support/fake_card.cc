// A card in a few lines.
#include "tests/support/fake_card.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/command/trace_layout.h"

namespace ttfd {

namespace {

Status CheckAligned(const WriteCommand& write) {
  const auto boundary = [&write](uint64_t at) {
    return IsUnitBoundary(write.region.page_bytes, write.region.size_bytes, at);
  };
  const bool aligned = boundary(write.offset) && boundary(write.offset + write.data.size()) &&
                       write.data.size() <= kMaxTransferBytes;
  return aligned ? OkStatus() : InvalidArgument("a misaligned write");
}

// The id; 0: it runs no kernels.
uint32_t FirstProgram(const Command& command) {
  if (const auto* const launch = std::get_if<LaunchCommand>(&command)) return launch->program->id;
  const auto* const replay = std::get_if<ReplayTraceCommand>(&command);
  return replay == nullptr ? 0 : replay->trace->segments[replay->segment].programs.front()->id;
}

}  // namespace

FakeCard::FakeCard(const Behaviour& behaviour)
    : Card({card_, info_, geometry_, nullptr, *this}),
      memory(behaviour.dram_banks, behaviour.grid),
      geometry_(std::vector<uint32_t>{1, 2, 3, 4}, std::vector<uint32_t>(behaviour.dram_banks, 0),
                {{{16, 3}, {16, 5}}}) {
  card_.grid = behaviour.grid, card_.dram_banks = behaviour.dram_banks;
  card_.dram_bank_bytes = info_.dram_bank_bytes = behaviour.dram_bank_bytes;
  card_.l1_base = 0xB0000, card_.l1_bytes = behaviour.l1_bytes;
  info_.board = "p150", info_.backend = "fake";
  info_.memory_is_zero_after_power_on = behaviour.memory_is_zero_after_power_on;
  info_.memory_survives_reset = behaviour.memory_survives_reset;
  info_.runs_by_itself = behaviour.runs_by_itself, info_.resets_chip = behaviour.resets_chip;
}

Status FakeCard::Boot(ResetStrength strength, Tick tick) {
  ++boots;
  if (strength == ResetStrength::kChip) log.emplace_back("chip reset");
  if (on_boot) on_boot();
  halted = false;
  RETURN_IF_ERROR(presence);
  while (boot_lasts && boot_lasts()) RETURN_IF_ERROR(tick());
  booted_ = false;
  for (Queue& queue : queues_) {
    queue.pending.clear();
    queue.running.clear();
    queue.passed = queue.submitted;
    for (auto* of : {&queue.open, &queue.unseen, &queue.independent}) of->clear();
    queue.programs.clear();
  }
  if (failing_boots > 0) {
    --failing_boots;
    return Error(StatusCode::kDeadlineExceeded, "prefetch (16,2) BRISC is not ready");
  }
  booted_ = true;
  ++progress_;
  return OkStatus();
}

void FakeCard::Log(uint32_t queue, std::string entry) {
  if (keep_log) log.push_back(queue == 0 ? std::move(entry) : fmt::format("{}: {}", queue, entry));
}

StatusOr<std::optional<uint64_t>> FakeCard::TrySubmit(const Route& route, const Command& command,
                                                      std::span<const Ticket> after) {
  if (!booted_) return Error(StatusCode::kFailedPrecondition, "not booted");
  for (const Ticket& one : after) {
    if (one.number > submitted(one.hardware_queue)) return InvalidArgument("no such ticket");
  }
  Queue& queue = queues_[route.hardware_queue];
  const auto commands =
      std::count_if(queue.pending.begin(), queue.pending.end(),
                    [](const Pending& one) { return one.kind == Pending::Kind::kCommand; });
  if (queue.running.size() + static_cast<size_t>(commands) >= room) return std::nullopt;
  for (const Ticket& one : after) {
    Log(route.hardware_queue, fmt::format("wait for {}:{}", one.hardware_queue, one.number));
    queue.pending.push_back({Pending::Kind::kWait, {}, one, {}, ""});
  }
  routes.push_back(route);
  if (on_submit) RETURN_IF_ERROR(on_submit(command));
  const Ticket ticket{route.hardware_queue, queue.submitted + 1};
  Pending pending{Pending::Kind::kCommand, route, ticket, command, ""};
  std::string entry = "launch";
  if (const auto* write = std::get_if<WriteCommand>(&command)) {
    RETURN_IF_ERROR(CheckAligned(*write));
    pending.payload.assign(reinterpret_cast<const char*>(write->data.data()), write->data.size());
    entry = fmt::format("write {}", write->data.size());
  } else if (const auto* fill = std::get_if<FillCommand>(&command)) {
    entry = fmt::format("fill {}", fill->size);
  } else if (const auto* read = std::get_if<ReadCommand>(&command)) {
    entry = fmt::format("read {}", read->size);
  } else if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    entry = fmt::format("copy {}", copy->size);
  }
  if (const auto* record = std::get_if<RecordTraceCommand>(&command)) {
    if (record->region.size_bytes != TraceBytes(*record->trace) ||
        record->region.page_bytes != TracePageBytes(*record->trace)) {
      return InvalidArgument("a region that is not the trace's");
    }
    recorded_.emplace(record->trace.get(), record->segment);
    entry = fmt::format("record {}", record->trace->segments[record->segment].launches);
  } else if (const auto* replay = std::get_if<ReplayTraceCommand>(&command)) {
    if (!recorded_.contains({replay->trace.get(), replay->segment})) return InvalidArgument("new");
    patches.insert(patches.end(), replay->patches.begin(), replay->patches.end());
    entry = fmt::format("replay {}", replay->trace->segments[replay->segment].launches);
  }
  Log(route.hardware_queue, std::move(entry));
  queue.pending.push_back(std::move(pending));
  ++queue.submitted;
  queue.open.insert(queue.submitted);
  if (const uint32_t program = FirstProgram(command); program != 0) {
    queue.programs[queue.submitted] = program;
    if (route.workers.any()) queue.independent.insert(queue.submitted);
  }
  return queue.submitted;
}

StatusOr<bool> FakeCard::RequestEvent(const Ticket& last) {
  const auto [queue, ticket] = last;
  if (!booted_) return Error(StatusCode::kFailedPrecondition, "not booted");
  Queue& of = queues_[queue];
  if (ticket > of.submitted) return InvalidArgument("an event for ticket {}", ticket);
  std::set<uint64_t> tickets(of.open.begin(), of.open.upper_bound(ticket));
  std::erase_if(tickets, [&of](uint64_t one) { return of.independent.contains(one); });
  if (tickets.empty()) return true;
  Log(queue, "event");
  of.pending.push_back({Pending::Kind::kEvent, {}, {queue, 0}, {}, "", std::move(tickets)});
  return true;
}

void FakeCard::EndKernels(Queue& queue) {
  std::erase_if(queue.running, [&](const Pending& launch) {
    if (runs_on && runs_on(std::get<LaunchCommand>(launch.command))) return false;
    if (queue.independent.contains(launch.ticket.number)) queue.unseen.insert(launch.ticket.number);
    ++progress_;
    if (clock != nullptr) clock->Advance(launch.cost);
    return true;
  });
}

bool FakeCard::MayGoOn(const Queue& queue) const {
  const Pending& next = queue.pending.front();
  const uint64_t number = next.ticket.number;
  switch (next.kind) {
    case Pending::Kind::kWait:
      return queues_[next.ticket.hardware_queue].Done() >= number;
    case Pending::Kind::kEvent:
      return std::none_of(queue.running.begin(), queue.running.end(), [&next](const Pending& one) {
        return next.tickets.contains(one.ticket.number);
      });
    case Pending::Kind::kCommand:
      break;
  }
  return std::none_of(queue.running.begin(), queue.running.end(), [&](const Pending& launch) {
    return launch.route.workers.none() || next.route.workers.none() ||
           (launch.route.workers & next.route.workers).any();
  });
}

Status FakeCard::GoOn(Queue& queue, size_t* left) {
  EndKernels(queue);
  while (!queue.pending.empty() && MayGoOn(queue)) {
    const bool command = queue.pending.front().kind == Pending::Kind::kCommand;
    if (command && *left == 0) break;
    Pending pending = std::move(queue.pending.front());
    queue.pending.pop_front();
    ++progress_;
    if (pending.kind == Pending::Kind::kEvent) {
      queue.unseen.insert(pending.tickets.begin(), pending.tickets.end());
    }
    if (!command) continue;
    --*left;
    queue.passed = pending.ticket.number;
    if (cost) pending.cost = cost(pending.command);
    RETURN_IF_ERROR(Act(pending));
    if (std::holds_alternative<LaunchCommand>(pending.command)) {
      queue.running.push_back(std::move(pending));
      EndKernels(queue);
    } else if (clock != nullptr) {
      clock->Advance(pending.cost);
    }
  }
  return OkStatus();
}

StatusOr<bool> FakeCard::Poll(absl::FunctionRef<bool()> /*interrupted*/, CardOutput* output) {
  if (!booted_) return Error(StatusCode::kFailedPrecondition, "not booted");
  Status status = std::exchange(next_poll, OkStatus());
  size_t left = completes_per_poll;
  const uint64_t before = progress_;
  if (status.ok() && !hold) {
    for (Queue& queue : queues_) {
      if (status.ok()) status = GoOn(queue, &left);
    }
    // What one queue waited for of a later one.
    if (status.ok() && progress_ != before) status = GoOn(queues_[0], &left);
  }
  for (uint32_t i = 0; i < kHardwareQueues; ++i) {
    Queue& queue = queues_[i];
    if (late_completions && late_completions(i)) continue;
    for (const uint64_t ticket : std::exchange(queue.unseen, {})) {
      for (std::set<uint64_t>* of : {&queue.open, &queue.independent}) of->erase(ticket);
      output->ended.push_back({i, ticket});
      queue.programs.erase(ticket);
    }
  }
  std::move(prints_.begin(), prints_.end(), std::back_inserter(output->prints));
  prints_.clear();
  booted_ = status.ok();
  RETURN_IF_ERROR(status);
  return !stalled || !output->ended.empty();
}

StatusOr<uint64_t> FakeCard::LookAt(uint32_t) {
  if (moves > 0) {
    --moves;
    ++look_;
  }
  return look_;
}

StallReport FakeCard::Diagnose(uint32_t hardware_queue) {
  StallReport report = stall;
  report.waits_for_queue = waits_for_queue && waits_for_queue(hardware_queue);
  return report;
}

CardStop FakeCard::Halt(CardOutput* output) {
  halted = true;
  CardStop stop;
  stop.stall = Explain();
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    for (const uint64_t open : queues_[queue].open) {
      stop.in_flight.push_back({{queue, open}, StateOf({queue, open})});
    }
  }
  if (on_halt) on_halt();
  std::move(prints_.begin(), prints_.end(), std::back_inserter(output->prints));
  prints_.clear();
  return stop;
}

StallReport FakeCard::Explain() {
  if (on_diagnose) on_diagnose();
  StallReport report = stall;
  if (!report.harts.empty()) return report;
  report.harts = Harts();
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    for (const auto& [ticket, program] : queues_[queue].programs) {
      const ExecutionState of = StateOf({queue, ticket});
      if (of != ExecutionState::kRunning && of != ExecutionState::kUnknown) continue;
      HartReport& hart = report.harts.emplace_back(report.harts[1]);
      hart.worker = 0;
      hart.program = program;
    }
  }
  return report;
}

HostQueueRecord FakeCard::HostRecord(uint32_t queue) {
  HostQueueRecord record;
  record.submitted = queues_[queue].submitted;
  record.completed = completed(queue);
  return record;
}

// A launch that faulted is the last that left `pending`, and runs no more.
ExecutionState FakeCard::StateOf(const Ticket& ticket) {
  if (state) {
    if (const std::optional<ExecutionState> told = state(ticket)) return *told;
  }
  const Queue& queue = queues_[ticket.hardware_queue];
  if (!queue.open.contains(ticket.number)) return ExecutionState::kCompleted;
  const auto is = [&ticket](const Pending& one) { return one.ticket.number == ticket.number; };
  if (std::any_of(queue.running.begin(), queue.running.end(), is)) return ExecutionState::kRunning;
  if (ticket.number < queue.passed) return ExecutionState::kCompleted;
  if (ticket.number == queue.passed)
    return booted_ ? ExecutionState::kCompleted : ExecutionState::kRunning;
  const bool next = ticket.number == queue.passed + 1 && queue.running.empty();
  return next ? ExecutionState::kUnknown : ExecutionState::kNotStarted;
}

Status FakeCard::Act(Pending& pending) {
  if (const auto* write = std::get_if<WriteCommand>(&pending.command)) {
    memory.Poke(write->region, write->offset, pending.payload);
  } else if (const auto* fill = std::get_if<FillCommand>(&pending.command)) {
    std::string bytes(fill->size, '\0');
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>(fill->word >> 8 * (i % 4));
    }
    memory.Poke(fill->region, fill->offset, bytes);
  } else if (const auto* read = std::get_if<ReadCommand>(&pending.command)) {
    const std::string bytes = memory.Peek(read->region, read->offset, read->size);
    const size_t half = bytes.size() / 2;
    if (half > 0) read->sink(0, std::as_bytes(std::span(bytes).first(half)));
    read->sink(half, std::as_bytes(std::span(bytes).subspan(half)));
  } else if (const auto* copy = std::get_if<CopyCommand>(&pending.command)) {
    memory.Poke(copy->to, copy->to_offset, memory.Peek(copy->from, copy->from_offset, copy->size));
  } else if (const auto* replay = std::get_if<ReplayTraceCommand>(&pending.command)) {
    const std::shared_ptr<const Trace> trace = replay->trace;
    for (const TraceLaunch& launch : trace->LaunchesOf(trace->segments[replay->segment])) {
      pending.command = LaunchCommand{launch.program, {}};
      if (on_launch) RETURN_IF_ERROR(on_launch(std::get<LaunchCommand>(pending.command)));
    }
  } else if (const auto* launch = std::get_if<LaunchCommand>(&pending.command)) {
    if (on_launch) return on_launch(*launch);
  }
  return OkStatus();
}

std::vector<HartReport> FakeCard::Harts() {
  ++reports;
  HartReport prefetch;
  prefetch.where = "prefetch (16,2) BRISC";
  prefetch.state = 1;
  prefetch.waypoint = "HQW";
  prefetch.progress = 7;
  prefetch.text = "waits for a slot";
  HartReport worker;
  worker.where = "worker (1,2) BRISC";
  worker.state = 1;
  worker.waypoint = "KRUN";
  worker.progress = 3;
  worker.pc = 0x10040;
  worker.text = "in a kernel";
  return {prefetch, worker};
}

Status FakeCard::Shutdown(const ShutdownLimits& limits, Tick, CardOutput*) {
  shut_down_within = limits;
  booted_ = false;
  return OkStatus();
}

}  // namespace ttfd
