// One function for each kind of operation.
#include "daemon/session/preparer.h"

#include <algorithm>
#include <utility>

#include "daemon/session/launch_arguments.h"
#include "daemon/session/program_parts.h"

namespace ttfd {

Readiness Preparer::Prepare(Operation& op, bool at_head, ErrorReply* error) {
  return std::visit([&](auto& one) { return PrepareOne(one, op, at_head, error); }, op.body);
}

// Objects are ready when commands that name them are issued: earlier commands of the same queue
// have been issued, those of other queues were waited for. An object that is not has failed.
bool Preparer::Usable(const Object& object, ErrorReply* error) {
  if (object.state == Object::State::kReady) return true;
  *error = CausedByError(object.state == Object::State::kFailed ? object.cause : object.creator);
  return false;
}

Readiness Preparer::PrepareOne(WriteOperation& write, Operation&, bool, ErrorReply* error) {
  return Usable(*write.buffer, error) ? Readiness::kReady : Readiness::kRefused;
}

Readiness Preparer::PrepareOne(ReadOperation& read, Operation&, bool, ErrorReply* error) {
  return Usable(*read.buffer, error) ? Readiness::kReady : Readiness::kRefused;
}

Readiness Preparer::PrepareOne(CopyOperation& copy, Operation&, bool, ErrorReply* error) {
  return Usable(*copy.from, error) && Usable(*copy.to, error) ? Readiness::kReady
                                                              : Readiness::kRefused;
}

Readiness Preparer::PrepareOne(FillOperation& fill, Operation&, bool, ErrorReply* error) {
  return Usable(*fill.buffer, error) ? Readiness::kReady : Readiness::kRefused;
}

// Memory is found when the command arrives. Only if it did not fit then, and something was about to be freed, here.
Readiness Preparer::PrepareOne(AllocateOperation& allocate, Operation&, bool at_head,
                               ErrorReply* error) {
  Buffer& buffer = *allocate.buffer;
  if (!buffer.allocation.valid()) {
    const Readiness found =
        FindMemory(buffer, handles_.MayHold(buffer), at_head, "allocate.size_bytes", error);
    if (found != Readiness::kReady) return found;
    handles_.Hold(&buffer);
  }
  buffer.state = Object::State::kReady;
  if (buffer.allocation.zero()) allocate.handed = buffer.whole_bytes;
  return Readiness::kReady;
}

// Memory that is about to be freed may suffice. A Free before the operation in its queue has happened when that is at
// the head.
Readiness Preparer::FindMemory(Buffer& buffer, bool may_hold, bool at_head, const char* field,
                               ErrorReply* error) {
  if (frees_.pending() && !may_hold) return Readiness::kBlocked;
  const Status allocated = buffer.Allocate();
  if (allocated.ok()) return Readiness::kReady;
  if (frees_.pending() || !at_head) return Readiness::kBlocked;
  *error = buffer.card->memory.OutOfMemory(buffer.memory, allocated, field);
  return Readiness::kRefused;
}

Readiness Preparer::PrepareOne(LoadKernelOperation& load, Operation& op, bool, ErrorReply* error) {
  if (load.stage == LoadKernelOperation::Stage::kReceiving ||
      load.stage == LoadKernelOperation::Stage::kLoading) {
    return Readiness::kBlocked;
  }
  if (load.stage == LoadKernelOperation::Stage::kCached) {
    load.loaded = std::make_shared<LoadedKernel>();
    load.loaded->image = op.queue->card->kernels.Find(uid_, load.sha256);
    if (*load.loaded->image == nullptr) {
      *error = MakeError(StatusCode::kNotFound, reason::kKernelNotCached, "load_kernel.sha256",
                         "no kernel of this user with this sha256 is cached; send its bytes");
      return Readiness::kRefused;
    }
  }
  const auto& image = load.loaded->image;
  if (!image.ok()) {
    *error = MakeError(image.status().code(), reason::kKernelRefused, "load_kernel", "{}",
                       StatusMessage(image.status()));
    return Readiness::kRefused;
  }
  if (load.stage == LoadKernelOperation::Stage::kCached) {
    const uint64_t bytes = HeldBytes(**image);
    if (Refusal refusal =
            handles_.use().Take(Resource::kKernelBytes, bytes, "load_kernel",
                                fmt::format("a kernel of {} bytes with its names", bytes))) {
      *error = *std::move(refusal);
      return Readiness::kRefused;
    }
    load.kept = UseHold(&handles_.use(), Resource::kKernelBytes, bytes);
  }
  load.kernel->kept = std::make_shared<const UseHold>(std::move(load.kept));
  load.kernel->image = *image;
  load.kernel->state = Object::State::kReady;
  return Readiness::kReady;
}

Readiness Preparer::PrepareOne(CreateProgramOperation& create, Operation& op, bool,
                               ErrorReply* error) {
  if (create.built == nullptr) return PrepareProgram(create, op, error);
  if (!create.built->ok()) {
    *error = RefusedError("create_program", create.built->status());
    return Readiness::kRefused;
  }
  for (const std::shared_ptr<Kernel>& kernel : create.kernels) {
    create.program->kept.push_back(kernel->kept);
  }
  create.program->program = **std::move(create.built);
  create.program->ids = std::make_shared<const std::vector<uint32_t>>(1, create.id);
  create.program->state = Object::State::kReady;
  return Readiness::kReady;
}

Readiness Preparer::PrepareProgram(CreateProgramOperation& create, Operation& op,
                                   ErrorReply* error) {
  for (const auto& kernel : create.kernels) {
    if (!Usable(*kernel, error)) return Readiness::kRefused;
  }
  for (const auto& buffer : create.buffers) {
    if (buffer != nullptr && !Usable(*buffer, error)) return Readiness::kRefused;
  }
  ProgramSpec spec;
  if (Refusal refusal = MakeSpec(create, &spec)) {
    *error = *std::move(refusal);
    return Readiness::kRefused;
  }
  create.id = ++op.queue->card->program_ids;
  create.built = std::make_shared<StatusOr<std::shared_ptr<const Program>>>(nullptr);
  DoOnHost(op,
           [built = create.built, id = create.id, spec = std::move(spec),
            grid = op.queue->card->description.grid] { *built = BuildProgram(id, spec, grid); });
  return Readiness::kBlocked;
}

Readiness Preparer::PrepareOne(LaunchOperation& launch, Operation&, bool, ErrorReply* error) {
  if (!Usable(*launch.program, error)) return Readiness::kRefused;
  for (const auto& buffer : launch.buffers) {
    if (!Usable(*buffer, error)) return Readiness::kRefused;
  }
  if (Refusal refusal = ResolveArguments(*launch.program->program, launch.arguments, launch.buffers,
                                         &launch.resolved)) {
    *error = *std::move(refusal);
    return Readiness::kRefused;
  }
  return Readiness::kReady;
}

// ---- traces

// The layout becomes the trace, which is charged for it.
Refusal Preparer::TakeLayout(TraceObject& trace, TraceLayout& layout) {
  if (layout.refusal) return std::move(layout.refusal);
  Buffer& memory = trace.memory;
  memory.page_bytes = TracePageBytes(*layout.trace);
  memory.size_bytes = TraceBytes(*layout.trace);
  memory.Measure(trace.card->description.dram_banks);
  if (Refusal refusal =
          handles_.ChargeTrace(&trace, TraceRecordBytes(*layout.trace), "record_trace.launches")) {
    return refusal;
  }
  if (Refusal refusal = handles_.Charge(&memory, memory.whole_bytes, "record_trace.launches"))
    return refusal;
  if (!trace.counts) handles_.Discharge(&memory);
  trace.trace = std::move(layout.trace);
  trace.programs = std::move(layout.programs);
  trace.ids = std::move(layout.ids);
  trace.buffers = std::move(layout.buffers);
  return std::nullopt;
}

// Reads the launch times here: launches that end meanwhile change them.
Readiness Preparer::PrepareLayout(RecordTraceOperation& record, Operation& op, ErrorReply* error) {
  TraceObject& trace = *record.trace;
  auto layout = std::make_shared<TraceLayout>();
  layout->times.reserve(trace.launches.size());
  for (const TracedLaunch& launch : trace.launches) {
    if (!Usable(*launch.program, error)) return Readiness::kRefused;
    for (const auto& buffer : launch.buffers) {
      if (!Usable(*buffer, error)) return Readiness::kRefused;
    }
    const Duration time = launch.program->launch_time;
    layout->times.push_back(time != Duration::zero() ? time : op.queue->card->times.launch);
  }
  layout->route = trace.route;
  layout->launches = std::exchange(trace.launches, {});
  layout->segment_time = op.queue->card->times.segment;
  record.layout = layout;
  DoOnHost(op, [layout, &geometry = op.queue->card->geometry] { layout->Build(geometry); });
  return Readiness::kBlocked;
}

Readiness Preparer::PrepareOne(RecordTraceOperation& record, Operation& op, bool at_head,
                               ErrorReply* error) {
  if (!record.last) return Readiness::kReady;
  TraceObject& trace = *record.trace;
  if (record.layout == nullptr) return PrepareLayout(record, op, error);
  if (trace.trace == nullptr) {
    if (Refusal refusal = TakeLayout(trace, *record.layout)) {
      *error = *std::move(refusal);
      return Readiness::kRefused;
    }
  }
  const Readiness found =
      FindMemory(trace.memory, handles_.MayHold(trace), at_head, "record_trace.launches", error);
  if (found != Readiness::kReady) return found;
  handles_.Hold(&trace);
  trace.state = Object::State::kReady;
  return Readiness::kReady;
}

Readiness Preparer::PrepareOne(ReplayTraceOperation& replay, Operation& op, bool,
                               ErrorReply* error) {
  TraceObject& trace = *replay.trace;
  if (!Usable(trace, error)) return Readiness::kRefused;
  replay.turn = trace.turn.lock();
  if (replay.turn != nullptr && *replay.turn != op.queue->id) {
    replay.turn = nullptr;
    return Readiness::kBlocked;
  }
  if (replay.turn == nullptr) replay.turn = std::make_shared<const uint32_t>(op.queue->id);
  trace.turn = replay.turn;
  replay.resolved.reserve(replay.patches.size());
  for (size_t i = 0; i < replay.patches.size(); ++i) {
    ReplayTraceOperation::Patch& patch = replay.patches[i];
    const std::string field = fmt::format("replay_trace.patches[{}]", i);
    for (const auto& buffer : patch.buffers) {
      if (!Usable(*buffer, error)) return Readiness::kRefused;
    }
    if (patch.launch >= trace.programs.size()) {
      *error = InvalidError(field + ".launch", "launch {}; the trace has {}", patch.launch,
                            trace.programs.size());
      return Readiness::kRefused;
    }
    TracePatch& resolved = replay.resolved.emplace_back();
    resolved.launch = patch.launch;
    resolved.kernel = patch.arguments.kernel;
    Refusal refusal = Renamed(ResolveKernel(*trace.programs[patch.launch]->program, patch.arguments,
                                            0, patch.buffers, &resolved.arguments),
                              "launch.arguments[0]", field + ".arguments");
    const Status fits = refusal ? OkStatus() : CheckTracePatch(*trace.trace, resolved);
    if (!fits.ok()) refusal = InvalidError(field + ".arguments", "{}", StatusMessage(fits));
    if (refusal) {
      *error = *std::move(refusal);
      return Readiness::kRefused;
    }
  }
  replay.DropPatches();
  // The later of two patches of one word counts.
  std::stable_sort(replay.resolved.begin(), replay.resolved.end(),
                   [](const TracePatch& a, const TracePatch& b) { return a.launch < b.launch; });
  return Readiness::kReady;
}

// ---- host work

void Preparer::LoadOnHost(Operation& op, LoadKernelOperation& load) {
  load.stage = LoadKernelOperation::Stage::kLoading;
  load.loaded = std::make_shared<LoadedKernel>();
  DoOnHost(op, [store = &op.queue->card->kernels, uid = uid_, name = load.name,
                bytes = std::move(load.bytes),
                loaded = load.loaded] { *loaded = store->Load(uid, name, bytes); });
}

// Nothing of what comes before may use the links any more.
Readiness Preparer::PrepareOne(ConnectLinksOperation& connect, Operation& op, bool at_head,
                               ErrorReply* error) {
  if (!at_head) return Readiness::kBlocked;
  if (connect.connected == nullptr) {
    connect.connected = std::make_shared<std::optional<Status>>();
    DoOnHost(op, nullptr);
    return Readiness::kBlocked;
  }
  const Status& connected = **connect.connected;
  if (connected.ok()) return Readiness::kReady;
  const bool down = connected.code() == StatusCode::kUnavailable;
  *error = MakeError(connected.code(), down ? reason::kLinkDown : reason::kInvalid,
                     "connect_links.connections", "{}", StatusMessage(connected));
  error->retryable = down;
  return Readiness::kRefused;
}

void Preparer::DoOnHost(Operation& op, std::function<void()> work) {
  ++jobs_under_way_;
  ++op.outstanding;
  op.stage = Operation::Stage::kOnHost;
  host_jobs_.push_back({op.shared_from_this(), std::move(work)});
}

void Preparer::HostWorkEnded(Operation& op) {
  --jobs_under_way_;
  --op.outstanding;
  if (op.stage == Operation::Stage::kOnHost) op.stage = Operation::Stage::kQueued;
}

}  // namespace ttfd
