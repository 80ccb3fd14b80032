// Beginning operations, making slices.
#include "daemon/session/issuer.h"

#include <algorithm>
#include <utility>

#include "daemon/session/launch_arguments.h"
#include "daemon/session/launch_times.h"
#include "daemon/session/program_parts.h"

namespace ttfd {

// ---- begin: what must hold before the device, or the host, does anything

Issuer::Step Issuer::Begin(Operation& op, bool at_head, ErrorReply* error) {
  return std::visit([&](auto& one) { return BeginOne(one, op, at_head, error); }, op.body);
}

// Objects are ready when commands that name them are issued: earlier commands of the same queue
// have been issued, those of other queues were waited for. An object that is not has failed.
bool Issuer::Usable(const Object& object, ErrorReply* error) {
  if (object.state == Object::State::kReady) return true;
  *error = CausedByError(object.state == Object::State::kFailed ? object.cause : object.creator);
  return false;
}

Issuer::Step Issuer::BeginOne(WriteOperation& write, Operation&, bool, ErrorReply* error) {
  return Usable(*write.buffer, error) ? Step::kDone : Step::kRefused;
}

Issuer::Step Issuer::BeginOne(ReadOperation& read, Operation&, bool, ErrorReply* error) {
  return Usable(*read.buffer, error) ? Step::kDone : Step::kRefused;
}

Issuer::Step Issuer::BeginOne(CopyOperation& copy, Operation&, bool, ErrorReply* error) {
  return Usable(*copy.from, error) && Usable(*copy.to, error) ? Step::kDone : Step::kRefused;
}

Issuer::Step Issuer::BeginOne(FillOperation& fill, Operation&, bool, ErrorReply* error) {
  return Usable(*fill.buffer, error) ? Step::kDone : Step::kRefused;
}

// Memory is found when the command arrives. Only if it did not fit then, and something was about to be freed, here.
Issuer::Step Issuer::BeginOne(AllocateOperation& allocate, Operation&, bool at_head,
                              ErrorReply* error) {
  Buffer& buffer = *allocate.buffer;
  if (!buffer.allocation.valid()) {
    const Step found =
        FindMemory(buffer, handles_.MayHold(buffer), at_head, "allocate.size_bytes", error);
    if (found != Step::kDone) return found;
    handles_.Hold(&buffer);
  }
  buffer.state = Object::State::kReady;
  if (!NeedsZeroing(allocate)) allocate.handed = buffer.whole_bytes;
  return Step::kDone;
}

// Memory that is about to be freed may suffice. A Free before the operation in its queue has happened when that is at
// the head.
Issuer::Step Issuer::FindMemory(Buffer& buffer, bool may_hold, bool at_head, const char* field,
                                ErrorReply* error) {
  if (frees_.pending() && !may_hold) return Step::kBlocked;
  const Status allocated = buffer.Allocate(*environment_.memory);
  if (allocated.ok()) return Step::kDone;
  if (frees_.pending() || !at_head) return Step::kBlocked;
  *error = environment_.memory->OutOfMemory(buffer.memory, allocated, field);
  return Step::kRefused;
}

Issuer::Step Issuer::BeginOne(LoadKernelOperation& load, Operation&, bool, ErrorReply* error) {
  if (load.stage == LoadKernelOperation::Stage::kReceiving ||
      load.stage == LoadKernelOperation::Stage::kLoading) {
    return Step::kBlocked;
  }
  if (load.stage == LoadKernelOperation::Stage::kCached) {
    load.loaded = std::make_shared<LoadedKernel>();
    load.loaded->image = environment_.kernels->Find(share_.uid, load.sha256);
    if (*load.loaded->image == nullptr) {
      *error = MakeError(StatusCode::kNotFound, reason::kKernelNotCached, "load_kernel.sha256",
                         "no kernel of this user with this sha256 is cached; send its bytes");
      return Step::kRefused;
    }
  }
  const auto& image = load.loaded->image;
  if (!image.ok()) {
    *error = MakeError(image.status().code(), reason::kKernelRefused, "load_kernel", "{}",
                       StatusMessage(image.status()));
    return Step::kRefused;
  }
  if (load.stage == LoadKernelOperation::Stage::kCached) {
    const uint64_t bytes = HeldBytes(**image);
    if (Refusal refusal =
            handles_.use().Take(Resource::kKernelBytes, bytes, "load_kernel",
                                fmt::format("a kernel of {} bytes with its names", bytes))) {
      *error = *std::move(refusal);
      return Step::kRefused;
    }
    load.kept = UseHold(&handles_.use(), Resource::kKernelBytes, bytes);
  }
  load.kernel->kept = std::make_shared<const UseHold>(std::move(load.kept));
  load.kernel->image = *image;
  load.kernel->state = Object::State::kReady;
  return Step::kDone;
}

Issuer::Step Issuer::BeginOne(CreateProgramOperation& create, Operation& op, bool,
                              ErrorReply* error) {
  if (create.built == nullptr) return BeginProgram(create, op, error);
  if (!create.built->ok()) {
    *error = RefusedError("create_program", create.built->status());
    return Step::kRefused;
  }
  for (const std::shared_ptr<Kernel>& kernel : create.kernels) {
    create.program->kept.push_back(kernel->kept);
  }
  create.program->program = **std::move(create.built);
  create.program->ids = std::make_shared<const std::vector<uint32_t>>(1, create.id);
  create.program->state = Object::State::kReady;
  return Step::kDone;
}

Issuer::Step Issuer::BeginProgram(CreateProgramOperation& create, Operation& op,
                                  ErrorReply* error) {
  for (const auto& kernel : create.kernels) {
    if (!Usable(*kernel, error)) return Step::kRefused;
  }
  for (const auto& buffer : create.buffers) {
    if (buffer != nullptr && !Usable(*buffer, error)) return Step::kRefused;
  }
  ProgramSpec spec;
  if (Refusal refusal = MakeSpec(create, &spec)) {
    *error = *std::move(refusal);
    return Step::kRefused;
  }
  create.id = ++environment_.program_ids;
  create.built = std::make_shared<StatusOr<std::shared_ptr<const Program>>>(nullptr);
  DoOnHost(op, [built = create.built, id = create.id, spec = std::move(spec),
                grid = environment_.card.grid] { *built = BuildProgram(id, spec, grid); });
  return Step::kBlocked;
}

Issuer::Step Issuer::BeginOne(LaunchOperation& launch, Operation&, bool, ErrorReply* error) {
  if (!Usable(*launch.program, error)) return Step::kRefused;
  for (const auto& buffer : launch.buffers) {
    if (!Usable(*buffer, error)) return Step::kRefused;
  }
  if (Refusal refusal = ResolveArguments(*launch.program->program, launch.arguments, launch.buffers,
                                         &launch.resolved)) {
    *error = *std::move(refusal);
    return Step::kRefused;
  }
  return Step::kDone;
}

// ---- slices

void Issuer::MakeNext(SessionQueue& queue) {
  while (queue.slices.next() == nullptr && queue.passed < queue.begun) {
    const std::shared_ptr<Operation>& operation = queue.operations[queue.passed];
    if (operation->error || (queue.failing() && operation->first_value >= queue.failing_from))
      return;
    Slice slice;
    if (SliceMaker::AllMade(*operation)) {
      if (!operation->counted) AddWaits(queue, *operation);
      if (!operation->counted && !queue.after.empty()) queue.slices.AddJoin(operation->last_value);
      ++queue.passed;
      continue;
    }
    if (!slices_.Next(*operation, &slice)) return;
    if (!slice.runs_kernels()) slice.timeout = timeouts_.own_operation();
    slice.first = !std::exchange(operation->counted, true);
    if (slice.first) AddWaits(queue, *operation);
    slice.after = std::exchange(queue.after, {});
    slice.queue = &queue;
    slice.operation = operation;
    slice.route = queue.route;
    slice.times.arrived = operation->arrived;
    queue.slices.Append(std::move(slice));
  }
}

void Issuer::AddWaits(SessionQueue& queue, const Operation& op) const {
  for (const QueuePosition& wait : op.waits) {
    const SessionQueue& other = queues_.At(wait.queue);
    if (other.Ended(wait.value)) continue;
    const auto known = std::find_if(queue.after.begin(), queue.after.end(),
                                    [&](const QueueWait& one) { return one.queue == &other; });
    if (known == queue.after.end()) {
      queue.after.push_back({&other, wait.value});
    } else {
      known->value = std::max(known->value, wait.value);
    }
  }
}

void Issuer::Submitted(Operation& op) {
  ++outstanding_;
  ++op.outstanding;
}

void Issuer::Ended(Operation& op, const Slice& slice) {
  LearnLaunchTimes(op, slice, environment_.windows.launch_guess);
  LeftCard(op);
}

void Issuer::LeftCard(Operation& op) {
  --outstanding_;
  --op.outstanding;
}

void Issuer::LoadOnHost(Operation& op, LoadKernelOperation& load) {
  load.stage = LoadKernelOperation::Stage::kLoading;
  load.loaded = std::make_shared<LoadedKernel>();
  DoOnHost(op, [store = environment_.kernels.get(), uid = share_.uid, name = load.name,
                bytes = std::move(load.bytes),
                loaded = load.loaded] { *loaded = store->Load(uid, name, bytes); });
}

void Issuer::DoOnHost(Operation& op, std::function<void()> work) {
  Submitted(op);
  op.stage = Operation::Stage::kOnHost;
  host_jobs_.push_back({op.shared_from_this(), std::move(work)});
}

void Issuer::HostWorkEnded(Operation& op) {
  LeftCard(op);
  if (op.stage == Operation::Stage::kOnHost) op.stage = Operation::Stage::kQueued;
}

bool Issuer::NeedsZeroing(const AllocateOperation& allocate) const {
  return !allocate.buffer->allocation.zero();
}

}  // namespace ttfd
