// Tasks into works.
#include "daemon/session/issuer.h"

#include <algorithm>
#include <utility>

#include "daemon/session/launch_arguments.h"
#include "daemon/session/launch_times.h"
#include "daemon/session/program_parts.h"

namespace ttfd {

// ---- begin: what must hold before the device, or the host, does anything

Issuer::Step Issuer::Begin(Task& task, bool at_head, ErrorReply* error) {
  return std::visit([&](auto& one) { return BeginOne(one, task, at_head, error); }, task.work);
}

// Objects are ready when commands that name them are issued: earlier commands of the same queue
// have been issued, those of other queues were waited for. An object that is not has failed.
bool Issuer::Usable(const Object& object, ErrorReply* error) {
  if (object.state == Object::State::kReady) return true;
  *error = CausedByError(object.state == Object::State::kFailed ? object.cause : object.creator);
  return false;
}

Issuer::Step Issuer::BeginOne(WriteTask& write, Task&, bool, ErrorReply* error) {
  return Usable(*write.buffer, error) ? Step::kDone : Step::kRefused;
}

Issuer::Step Issuer::BeginOne(ReadTask& read, Task&, bool, ErrorReply* error) {
  return Usable(*read.buffer, error) ? Step::kDone : Step::kRefused;
}

Issuer::Step Issuer::BeginOne(CopyTask& copy, Task&, bool, ErrorReply* error) {
  return Usable(*copy.from, error) && Usable(*copy.to, error) ? Step::kDone : Step::kRefused;
}

Issuer::Step Issuer::BeginOne(FillTask& fill, Task&, bool, ErrorReply* error) {
  return Usable(*fill.buffer, error) ? Step::kDone : Step::kRefused;
}

// Memory is found when the command arrives. Only if it did not fit then, and something was about to be freed, here.
Issuer::Step Issuer::BeginOne(AllocateTask& allocate, Task&, bool at_head, ErrorReply* error) {
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

// What is about to be freed may make room. A Free in front of the task in its queue has happened when the task is at
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

Issuer::Step Issuer::BeginOne(LoadKernelTask& load, Task&, bool, ErrorReply* error) {
  if (load.stage == LoadKernelTask::Stage::kReceiving ||
      load.stage == LoadKernelTask::Stage::kLoading) {
    return Step::kBlocked;
  }
  if (load.stage == LoadKernelTask::Stage::kCached) {
    load.loaded = std::make_shared<LoadedKernel>();
    load.loaded->image = environment_.kernels->Find(flow_.uid, load.sha256);
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
  if (load.stage == LoadKernelTask::Stage::kCached) {
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

Issuer::Step Issuer::BeginOne(CreateProgramTask& create, Task& task, bool, ErrorReply* error) {
  if (create.built == nullptr) return BeginProgram(create, task, error);
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

Issuer::Step Issuer::BeginProgram(CreateProgramTask& create, Task& task, ErrorReply* error) {
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
  DoOnHost(task, [built = create.built, id = create.id, spec = std::move(spec),
                  grid = environment_.card.grid] { *built = BuildProgram(id, spec, grid); });
  return Step::kBlocked;
}

Issuer::Step Issuer::BeginOne(LaunchTask& launch, Task&, bool, ErrorReply* error) {
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

// ---- more: works, one slice at a time

Issuer::Step Issuer::More(Task& task) {
  CommandQueue& queue = *task.queue;
  while (queue.handed_works < environment_.windows.handed_works &&
         queue.handed_bytes < environment_.windows.handed_bytes) {
    Work work;
    if (!slices_.Next(task, &work)) {
      return SliceMaker::AllMade(task) ? Step::kDone : Step::kBlocked;
    }
    if (!work.runs_kernels()) work.timeout = timeouts_.own_operation();
    work.context = &task;
    work.flow = flow_.id;
    work.uid = flow_.uid;
    work.weight = flow_.weight;
    work.lease = flow_.lease;
    work.route = queue.track->route();
    work.priority = flow_.priority;
    work.arrived = task.arrived;
    work.first = !std::exchange(task.counted, true);
    work.queue = queue.id;
    work.value = task.first_value;
    work.track = queue.track;
    work.number = ++queue.works;
    work.after = std::exchange(queue.after, {});
    ++task.outstanding;
    ++queue.handed_works;
    queue.handed_bytes += work.bytes;
    ++outstanding_;
    works_.push_back(std::move(work));
  }
  return SliceMaker::AllMade(task) ? Step::kDone : Step::kBlocked;
}

void Issuer::Ended(Task& task, const Work& work) {
  LearnLaunchTimes(task, work, environment_.windows.launch_guess);
  --outstanding_;
  --task.outstanding;
  --task.queue->handed_works;
  task.queue->handed_bytes -= work.bytes;
  if (std::holds_alternative<ReadTask>(task.work)) outbox_.EndRead(work.bytes);
}

void Issuer::LoadOnHost(Task& task, LoadKernelTask& load) {
  load.stage = LoadKernelTask::Stage::kLoading;
  load.loaded = std::make_shared<LoadedKernel>();
  DoOnHost(task, [store = environment_.kernels.get(), uid = flow_.uid, name = load.name,
                  bytes = std::move(load.bytes),
                  loaded = load.loaded] { *loaded = store->Load(uid, name, bytes); });
}

void Issuer::DoOnHost(Task& task, std::function<void()> work) {
  ++outstanding_;
  ++task.outstanding;
  task.stage = Task::Stage::kOnHost;
  host_jobs_.push_back({&task, std::move(work)});
}

void Issuer::HostWorkEnded(Task& task) {
  --outstanding_;
  --task.outstanding;
  if (task.stage == Task::Stage::kOnHost) task.stage = Task::Stage::kQueued;
}

bool Issuer::NeedsZeroing(const AllocateTask& allocate) const {
  return !allocate.buffer->allocation.zero();
}

}  // namespace ttfd
