// The steps of a program of a TTMetal file.
#include "client/ttmlir/src/metal_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/ttmlir/src/listing.h"
#include "client/ttmlir/src/metal_buffers.h"
#include "client/ttmlir/src/metal_launch.h"

namespace ttfd::ttmlir {
namespace {

constexpr uint32_t kSemaphoreBytes = 16;

bool OnHost(const Record& ref) {
  return ref.Child("desc").MemberName("buffer_detail") == "SystemBuffer";
}

// Makes the plan of one program, command by command.
class MetalPlanner {
 public:
  MetalPlanner(MetalPlan* plan, const List& native) : plan_(*plan), native_(native) {}

  void PlanArguments(const Record& device_program);
  void PlanCommand(const Record& record);
  void PlanResults(const Record& device_program);

 private:
  std::string PlanBuffer(const Record& command);
  std::string PlanHost(const Record& command);
  std::string PlanTransfer(std::string_view type, const Record& command);
  std::string PlanSemaphore(std::string_view type, const Record& command);
  std::string PlanEvent(std::string_view type, const Record& command);
  std::string PlanNativeCall(const Record& command);
  std::string Plan(std::string_view type, const Record& command);

  std::string HostOf(const Record& ref, HostSpec* spec);
  void Add(MetalStep step) { plan_.commands.back().steps.push_back(std::move(step)); }

  MetalPlan& plan_;
  const List& native_;
  MetalState state_;
  uint64_t host_bytes_ = 0;
  bool returned_ = false;
};

std::string MetalPlanner::PlanBuffer(const Record& command) {
  const Record ref = command.Child("ref");
  if (state_.buffers.contains(IdOf(ref))) return "";  // an input or an output
  BufferSpec spec;
  std::string problem = BufferOf(ref, &spec);
  if (!problem.empty()) return problem;
  state_.buffers[IdOf(ref)] = spec;
  Add(CreateStep{IdOf(ref), spec});
  return "";
}

std::string MetalPlanner::PlanHost(const Record& command) {
  const Record ref = command.Child("dst");
  HostSpec spec;
  std::string problem = HostOf(ref, &spec);
  const Bytes bytes = command.Items("data").Raw();
  if (problem.empty() && !bytes.empty() && bytes.size() != spec.bytes()) {
    problem =
        fmt::format("%{} has {} bytes, and the file {}", IdOf(ref), spec.bytes(), bytes.size());
  }
  if (!problem.empty()) return problem;
  state_.hosts[IdOf(ref)] = spec;
  Add(HostStep{IdOf(ref), spec, bytes});
  return "";
}

std::string MetalPlanner::PlanTransfer(std::string_view type, const Record& command) {
  const uint32_t from = IdOf(command.Child("src"));
  const uint32_t to = IdOf(command.Child("dst"));
  const bool reads = type == "EnqueueReadBufferCommand";
  const bool on_host = type == "MemrefCopyCommand" || type == "MeshShardCommand";
  if (type == "EnqueueWriteBufferCommand" && !state_.hosts.contains(from)) {
    return fmt::format("%{} is not on the host", from);
  }
  if (on_host) {
    if (type == "MeshShardCommand" && !state_.hosts.contains(to)) {
      HostSpec spec;
      std::string problem = HostOf(command.Child("dst"), &spec);
      if (!problem.empty()) return problem;
      state_.hosts[to] = spec;
      Add(HostStep{to, spec, {}});
    }
    const auto source = state_.hosts.find(from);
    const auto target = state_.hosts.find(to);
    if (source == state_.hosts.end() || target == state_.hosts.end()) {
      return fmt::format("%{} is not on the host", source == state_.hosts.end() ? from : to);
    }
    if (source->second.extents != target->second.extents ||
        source->second.dtype != target->second.dtype) {
      return fmt::format("%{} and %{} have other shapes or types", from, to);
    }
    Add(HostCopyStep{from, to});
    return "";
  }
  const uint32_t card = reads ? from : to;
  const uint32_t host = reads ? to : from;
  const auto buffer = state_.buffers.find(card);
  if (buffer == state_.buffers.end()) return fmt::format("%{} is not on the card", card);
  const auto array = state_.hosts.find(host);
  if (array == state_.hosts.end()) return fmt::format("%{} is not on the host", host);
  std::string mismatch = MismatchOf({host, array->second}, card, buffer->second);
  if (!mismatch.empty()) return mismatch;
  if (reads) {
    Add(ReadStep{from, to});
  } else {
    Add(WriteStep{from, to});
  }
  return "";
}

std::string MetalPlanner::PlanSemaphore(std::string_view type, const Record& command) {
  const uint32_t id = IdOf(command.Child("ref"));
  if (type == "CreateLocalSemaphoreCommand") {
    state_.semaphores[id] = static_cast<uint32_t>(command.Child("ref").Integer("initial_value"));
    return "";
  }
  if (type == "ResetGlobalSemaphoreCommand") {
    if (!state_.buffers.contains(id)) return fmt::format("semaphore {} is not defined", id);
    Add(SetStep{id, static_cast<uint32_t>(command.Integer("value"))});
    return "";
  }
  BufferSpec spec;
  std::string problem = CoresOf(command.Items("core_range_set"), &spec.cores);
  if (!problem.empty()) return problem;
  if (state_.buffers.contains(id)) return fmt::format("semaphore {} exists", id);
  for (const client::CoreRange& range : spec.cores) spec.bytes += range.count() * kSemaphoreBytes;
  spec.page_bytes = kSemaphoreBytes;
  state_.buffers[id] = spec;
  Add(CreateStep{id, spec});
  Add(SetStep{id, static_cast<uint32_t>(command.Integer("initial_value"))});
  return "";
}

// One queue runs everything in order, and each command is waited for: an event is only checked to exist.
std::string MetalPlanner::PlanEvent(std::string_view type, const Record& command) {
  const uint32_t id = IdOf(command.Child("ref"));
  const bool makes = type == "CreateEventCommand" || type == "EnqueueRecordEventCommand";
  if (makes) state_.events.insert(id);
  if (!state_.events.contains(id)) return fmt::format("event {} is not recorded", id);
  return "";
}

// A function of 2025 writes its one output over its last input; since 2026 it returns its outputs.
std::string MetalPlanner::PlanNativeCall(const Record& command) {
  NativeCallStep step;
  step.function.name = command.Text("func_name");
  for (uint32_t i = 0; i < native_.size(); ++i) {
    const Record library = native_.Child(i);
    if (library.Integer("dylib_id") != command.Integer("dylib_id")) continue;
    step.function.code = library.Items("raw_file").Raw();
  }
  if (step.function.code.empty()) return "its library of native code is missing";
  const auto has_words = [](const HostSpec& spec) { return BytesOf(spec.type.basic) == 4; };
  const List inputs = command.Items("ins");
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const uint32_t id = IdOf(inputs.Child(i));
    const auto array = state_.hosts.find(id);
    if (array == state_.hosts.end()) return fmt::format("%{} is not on the host", id);
    if (!has_words(array->second)) return "native code with " + array->second.dtype;
    step.inputs.push_back(id);
  }
  std::vector<Record> outputs;
  if (command.Child("out")) outputs.push_back(command.Child("out"));
  step.function.returns_outputs = outputs.empty();
  const List list = command.Items("outs");
  for (uint32_t i = 0; i < list.size(); ++i) outputs.push_back(list.Child(i));
  for (const Record& ref : outputs) {
    MetalArray result = {IdOf(ref), {}};
    std::string problem = HostOf(ref, &result.spec);
    if (problem.empty() && !has_words(result.spec))
      problem = "native code with " + result.spec.dtype;
    if (!problem.empty()) return problem;
    step.results.push_back(std::move(result));
  }
  if (!step.function.returns_outputs) {
    const HostSpec* const last =
        step.inputs.empty() ? nullptr : &state_.hosts.at(step.inputs.back());
    const HostSpec& out = step.results.front().spec;
    if (last == nullptr || last->extents != out.extents || last->dtype != out.dtype) {
      return "its last input, over which it writes, has another shape or type than its output";
    }
    step.results.push_back({step.inputs.back(), state_.hosts.at(step.inputs.back())});
  }
  for (const MetalArray& result : step.results) state_.hosts[result.id] = result.spec;
  Add(std::move(step));
  return "";
}

std::string MetalPlanner::Plan(std::string_view type, const Record& command) {
  if (type == "CreateBufferCommand") return PlanBuffer(command);
  if (type == "HostAllocCommand") return PlanHost(command);
  if (type == "CpuCommand") return PlanNativeCall(command);
  if (type.find("Semaphore") != std::string_view::npos) return PlanSemaphore(type, command);
  if (type.find("Event") != std::string_view::npos) return PlanEvent(type, command);
  if (type == "FinishCommand") return "";
  if (type == "DeallocateBufferCommand") {
    const uint32_t id = IdOf(command.Child("ref"));
    if (state_.buffers.erase(id) == 0) return fmt::format("%{} is not on the card", id);
    state_.hosts.erase(id);  // what was an input
    Add(ReleaseStep{id});
    return "";
  }
  if (type == "EnqueueProgramCommand") {
    LaunchStep launch;
    std::string problem = PlanLaunch(command, plan_.commands.size() - 1, &state_, &launch);
    if (problem.empty()) Add(std::move(launch));
    return problem;
  }
  if (type == "ReturnCommand") {
    if (returned_) return "it returns twice";
    returned_ = true;
    const List results = command.Items("results");
    for (uint32_t i = 0; i < results.size(); ++i) {
      MetalArray output = {IdOf(results.Child(i)), {}};
      std::string problem = HostOf(results.Child(i), &output.spec);
      if (!problem.empty()) return problem;
      plan_.outputs.push_back(std::move(output));
    }
    return "";
  }
  if (type == "EnqueueWriteBufferCommand" || type == "EnqueueReadBufferCommand" ||
      type == "MemrefCopyCommand" || type == "MeshShardCommand") {
    return PlanTransfer(type, command);
  }
  return "this library does not have it";
}

void MetalPlanner::PlanCommand(const Record& record) {
  plan_.commands.push_back({std::string(record.MemberName("type")), LocationOf(record)});
  const std::string type = plan_.commands.back().type;
  const Record command = record.Child("type");
  std::string problem = command ? Plan(type, command) : "this library does not have it";
  plan_.commands.back().problem = std::move(problem);
}

// Counts what a run keeps on the host.
std::string MetalPlanner::HostOf(const Record& ref, HostSpec* spec) {
  std::string problem = ArrayOf(ref, spec);
  host_bytes_ += std::max<uint64_t>(spec->bytes(), spec->elements() * sizeof(uint32_t));
  if (!problem.empty() || host_bytes_ <= kMaxHostBytes) return problem;
  return fmt::format("it keeps more than {} bytes on the host", kMaxHostBytes);
}

void MetalPlanner::PlanArguments(const Record& device_program) {
  const List inputs = device_program.Items("inputs");
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const Record ref = inputs.Child(i);
    MetalArray input = {IdOf(ref), {}};
    std::string problem = HostOf(ref, &input.spec);
    if (problem.empty() && !state_.hosts.emplace(input.id, input.spec).second) {
      problem = fmt::format("%{} is an input twice", input.id);
    }
    if (problem.empty() && !OnHost(ref)) {
      BufferSpec spec;
      problem = BufferOf(ref, &spec);
      if (problem.empty()) problem = MismatchOf(input, input.id, spec);
      if (problem.empty()) {
        state_.buffers[input.id] = spec;
        plan_.before.push_back(CreateStep{input.id, spec});
        plan_.before.push_back(WriteStep{input.id, input.id});
      }
    }
    if (!problem.empty()) plan_.problems.push_back(fmt::format("input {}: {}", i, problem));
    plan_.inputs.push_back(std::move(input));
  }
  // Files of 2024 have no command that returns: their outputs lie on the card from the start.
  const List outputs = device_program.Items("outputs");
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    const Record ref = outputs.Child(i);
    if (!ref.Child("desc").Child("layout")) continue;
    BufferSpec spec;
    const std::string problem = BufferOf(ref, &spec);
    if (!problem.empty()) {
      plan_.problems.push_back(fmt::format("output {}: {}", i, problem));
    } else if (state_.buffers.emplace(IdOf(ref), spec).second) {
      plan_.before.push_back(CreateStep{IdOf(ref), spec});
    }
  }
}

void MetalPlanner::PlanResults(const Record& device_program) {
  const List outputs = device_program.Items("outputs");
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    const Record ref = outputs.Child(i);
    if (!ref.Child("desc").Child("layout")) continue;
    MetalArray output = {IdOf(ref), {}};
    std::string problem = HostOf(ref, &output.spec);
    if (!problem.empty()) {
      plan_.problems.push_back(fmt::format("output {}: {}", i, problem));
      return;
    }
    plan_.outputs.push_back(std::move(output));
  }
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const MetalArray& output = plan_.outputs[i];
    const auto buffer = state_.buffers.find(output.id);
    if (buffer != state_.buffers.end()) {
      const std::string mismatch = MismatchOf(output, output.id, buffer->second);
      if (!mismatch.empty()) plan_.problems.push_back(fmt::format("output {}: {}", i, mismatch));
      plan_.after.push_back(HostStep{output.id, output.spec, {}});
      plan_.after.push_back(ReadStep{output.id, output.id});
    } else if (!state_.hosts.contains(output.id)) {
      plan_.problems.push_back(fmt::format("output {}: %{} is not defined", i, output.id));
    }
  }
  for (uint32_t i = 0; i < outputs.size() && i < plan_.outputs.size(); ++i) {
    HostSpec described;
    const std::string problem = ArrayOf(outputs.Child(i), &described);
    const HostSpec& returned = plan_.outputs[i].spec;
    if (problem.empty() && described.extents == returned.extents &&
        described.dtype == returned.dtype) {
      continue;
    }
    plan_.problems.push_back(
        fmt::format("output {}: what is returned has another shape or type", i));
  }
  if (plan_.outputs.size() != outputs.size()) {
    plan_.problems.push_back(
        fmt::format("it has {} outputs, and returns {}", outputs.size(), plan_.outputs.size()));
  }
}

}  // namespace

MetalPlan MetalPlanOf(const Record& program, const List& native) {
  MetalPlan plan;
  plan.name = program.Text("name");
  const List devices = program.Items("device_programs");
  const Record device = devices.Child(0);
  const List queues = device.Items("command_queues");
  if (devices.size() != 1 || queues.size() != 1) {
    plan.problems.push_back(fmt::format("it has {} programs of devices with {} queues: one runs",
                                        devices.size(), queues.size()));
  }
  const List mesh = device.Child("mesh").Items("mesh_shape");
  for (uint32_t i = 0; i < mesh.size(); ++i) {
    if (mesh.Integer(i) == 1) continue;
    plan.problems.emplace_back("it is for several chips, and a card has one");
    break;
  }
  MetalPlanner planner(&plan, native);
  planner.PlanArguments(device);
  for (const Record& command : OperationsOf(program)) planner.PlanCommand(command);
  const bool sound = std::all_of(plan.commands.begin(), plan.commands.end(),
                                 [](const MetalCommand& one) { return one.problem.empty(); });
  if (sound) planner.PlanResults(device);
  return plan;
}

std::string NameOf(const MetalPlan& plan, size_t command) {
  const MetalCommand& one = plan.commands[command];
  const std::string at = one.location.empty() ? "" : " at " + one.location;
  return fmt::format("command {} {}{}", command, one.type, at);
}

}  // namespace ttfd::ttmlir
