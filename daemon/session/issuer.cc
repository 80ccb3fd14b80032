// Tasks into works.
#include "daemon/session/issuer.h"

#include <algorithm>
#include <bit>
#include <cstring>
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
  if (frees_pending_ && !may_hold) return Step::kBlocked;
  const Status allocated = buffer.Allocate(*environment_.memory);
  if (allocated.ok()) return Step::kDone;
  if (frees_pending_ || !at_head) return Step::kBlocked;
  *error = environment_.memory->OutOfMemory(buffer.memory, allocated, field);
  return Step::kRefused;
}

Issuer::Step Issuer::BeginOne(LoadKernelTask& load, Task&, bool, ErrorReply* error) {
  if (load.stage == LoadKernelTask::Stage::kReceiving ||
      load.stage == LoadKernelTask::Stage::kLoading) {
    return Step::kBlocked;
  }
  if (load.stage == LoadKernelTask::Stage::kCached) {
    load.image = environment_.kernels->Find(flow_.uid, load.sha256);
    if (*load.image == nullptr) {
      *error = MakeError(StatusCode::kNotFound, reason::kKernelNotCached, "load_kernel.sha256",
                         "no kernel of this user with this sha256 is cached; send its bytes");
      return Step::kRefused;
    }
  }
  if (!load.image.ok()) {
    *error = MakeError(load.image.status().code(), reason::kKernelRefused, "load_kernel", "{}",
                       StatusMessage(load.image.status()));
    return Step::kRefused;
  }
  if (load.stage == LoadKernelTask::Stage::kCached) {
    const uint64_t bytes = HeldBytes(**load.image);
    if (Refusal refusal =
            handles_.use().Take(Resource::kKernelBytes, bytes, "load_kernel",
                                fmt::format("a kernel of {} bytes with its names", bytes))) {
      *error = *std::move(refusal);
      return Step::kRefused;
    }
    load.kept = UseHold(&handles_.use(), Resource::kKernelBytes, bytes);
  }
  load.kernel->kept = std::make_shared<const UseHold>(std::move(load.kept));
  load.kernel->image = *load.image;
  load.kernel->state = Object::State::kReady;
  return Step::kDone;
}

Issuer::Step Issuer::BeginOne(CreateProgramTask& create, Task&, bool, ErrorReply* error) {
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
  const uint32_t id = ++environment_.program_ids;
  auto program = BuildProgram(id, spec, environment_.card.grid);
  if (!program.ok()) {
    *error = RefusedError("create_program", program.status());
    return Step::kRefused;
  }
  for (const std::shared_ptr<Kernel>& kernel : create.kernels) {
    create.program->kept.push_back(kernel->kept);
  }
  create.program->program = *std::move(program);
  create.program->ids = std::make_shared<const std::vector<uint32_t>>(1, id);
  create.program->state = Object::State::kReady;
  return Step::kDone;
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

Issuer::Step Issuer::More(Task& task, std::vector<Work>* works) {
  CommandQueue& queue = *task.queue;
  while (queue.handed_works < environment_.windows.handed_works &&
         queue.handed_bytes < environment_.windows.handed_bytes) {
    Work work;
    if (!std::visit([&](auto& one) { return NextOne(one, task, &work); }, task.work)) {
      return AllHanded(task) ? Step::kDone : Step::kBlocked;
    }
    if (!work.runs_kernels()) work.timeout = operation_timeout_;
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
    works->push_back(std::move(work));
  }
  return AllHanded(task) ? Step::kDone : Step::kBlocked;
}

void Issuer::Ended(Task& task, const Work& work) {
  LearnLaunchTimes(task, work, environment_.windows.launch_guess);
  --task.outstanding;
  --task.queue->handed_works;
  task.queue->handed_bytes -= work.bytes;
  if (std::holds_alternative<ReadTask>(task.work)) outbox_.EndRead(work.bytes);
}

bool Issuer::AllHanded(const Task& task) {
  if (const auto* write = std::get_if<WriteTask>(&task.work)) return write->handed == write->size;
  if (const auto* read = std::get_if<ReadTask>(&task.work)) return read->handed == read->size;
  if (const auto* copy = std::get_if<CopyTask>(&task.work)) return copy->handed == copy->size;
  if (const auto* fill = std::get_if<FillTask>(&task.work)) return fill->handed == fill->size;
  if (const auto* launch = std::get_if<LaunchTask>(&task.work)) return launch->handed;
  if (const auto* record = std::get_if<RecordTraceTask>(&task.work))
    return !record->last || record->handed_segments == TraceSegments(*record->trace->trace);
  if (const auto* replay = std::get_if<ReplayTraceTask>(&task.work))
    return replay->handed_segments == TraceSegments(*replay->trace->trace);
  if (const auto* allocate = std::get_if<AllocateTask>(&task.work)) {
    return allocate->handed == allocate->buffer->whole_bytes;
  }
  return true;
}

uint64_t Issuer::SliceBytes(const Buffer& buffer, uint64_t left) const {
  const uint64_t most = std::min<uint64_t>(kMaxTransferBytes, environment_.limits.chunk_bytes);
  return std::min(left, SliceLimit(buffer.memory, buffer.page_bytes, most));
}

// The same for a command that touches whole units.
uint64_t Issuer::UnitSliceBytes(const Buffer& buffer, uint64_t offset, uint64_t left,
                                uint64_t limit) {
  const uint64_t most =
      std::min(limit, SliceLimit(buffer.memory, buffer.page_bytes, kMaxTransferBytes));
  return left <= most ? left : CutAtUnit(buffer.page_bytes, offset, most);
}

bool Issuer::NextOne(WriteTask& write, Task&, Work* work) {
  if (write.slices.empty()) return false;
  work->payload = std::move(write.slices.front());
  write.slices.erase(write.slices.begin());  // few: the payload in flight is limited
  work->bytes = work->payload.size();
  work->command = WriteCommand{write.buffer->region(), write.offset + write.handed, {}};
  write.handed += work->bytes;
  return true;
}

bool Issuer::NextOne(ReadTask& read, Task&, Work* work) {
  const uint64_t size = SliceBytes(*read.buffer, read.size - read.handed);
  if (size == 0) return false;
  const uint64_t most = handles_.use().OutputLimit(environment_.windows.read_bytes);
  if (outbox_.data_bytes() + size > most) {
    read_blocked_ = true;
    return false;
  }
  work->read_into = std::make_unique<std::string>();
  std::string* const into = work->read_into.get();
  work->command =
      ReadCommand{read.buffer->region(), read.offset + read.handed, size,
                  [into, size](uint64_t at, ByteSpan data) {
                    if (into->empty()) into->reserve(size);
                    if (at == into->size()) {  // as it is for most layouts, and costs no zeroing
                      into->append(reinterpret_cast<const char*>(data.data()), data.size());
                      return;
                    }
                    if (into->size() < size) into->resize(size);
                    std::memcpy(into->data() + at, data.data(), data.size());
                  }};
  work->bytes = size;
  work->read_offset = read.handed;
  read.handed += size;
  outbox_.BeginRead(size);
  return true;
}

bool Issuer::NextOne(CopyTask& copy, Task&, Work* work) {
  // Where one side may be cut the other may too (CopyKeepsUnits).
  const uint64_t left = copy.size - copy.handed;
  const uint64_t to_limit = SliceLimit(copy.to->memory, copy.to->page_bytes, kMaxTransferBytes);
  const uint64_t size = UnitSliceBytes(*copy.from, copy.from_offset + copy.handed, left, to_limit);
  if (size == 0) return false;
  work->command = CopyCommand{copy.from->region(), copy.from_offset + copy.handed,
                              copy.to->region(), copy.to_offset + copy.handed, size};
  work->bytes = size;
  copy.handed += size;
  return true;
}

bool Issuer::NextOne(FillTask& fill, Task&, Work* work) {
  const uint64_t at = fill.offset + fill.handed;
  const uint64_t size =
      UnitSliceBytes(*fill.buffer, at, fill.size - fill.handed, kMaxTransferBytes);
  if (size == 0) return false;
  // A slice may end within a word.
  const uint32_t word = std::rotr(fill.word, static_cast<int>(fill.handed % 4 * 8));
  work->command = FillCommand{fill.buffer->region(), at, size, word};
  work->bytes = size;
  fill.handed += size;
  return true;
}

// Zeroes all that the buffer takes: a kernel sees the end of the last page and what is between them.
bool Issuer::NextOne(AllocateTask& allocate, Task&, Work* work) {
  const uint64_t whole = allocate.buffer->whole_bytes;
  const uint64_t size = std::min(whole - allocate.handed, kMaxTransferBytes);
  if (size == 0) return false;
  work->command = FillCommand{allocate.buffer->whole(), allocate.handed, size, 0};
  work->bytes = size;
  allocate.handed += size;
  return true;
}

bool Issuer::NeedsZeroing(const AllocateTask& allocate) const {
  return !(allocate.buffer->allocation.pristine() && environment_.memory_is_zero_after_power_on);
}

bool Issuer::NextOne(LaunchTask& launch, Task&, Work* work) {
  if (std::exchange(launch.handed, true)) return false;
  work->command = LaunchCommand{launch.program->program, std::move(launch.resolved)};
  work->launches = 1;
  work->programs = launch.program->ids;
  work->timeout = Patience(launch.timeout);
  return true;
}

// A client may be stricter than the administrator, not more patient: others wait for the card.
Duration Issuer::Patience(Duration asked) const {
  Duration most = kernel_timeout_;
  if (most == Duration::zero()) {
    most = std::chrono::milliseconds(environment_.kernel_ms.load(std::memory_order_relaxed));
  }
  return asked != Duration::zero() ? std::min(most, asked) : most;
}

}  // namespace ttfd
