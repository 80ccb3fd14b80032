// Plans of operations that compute nothing: devices, memory, layouts, types, constants, calls.
#include <fmt/format.h>

#include <cmath>

#include "client/ttmlir/src/planner.h"

namespace ttfd::ttmlir {
namespace {

void PlanDevice(Planner& p) {
  const uint32_t chips = p.fields().Items("chip_ids").size();
  if (chips > 1) p.Fail(fmt::format("it needs {} chips, and a card has one", chips));
}

void PlanNothing(Planner&) {}

// The same elements elsewhere, in another layout or type. Where they lie is a hint.
void PlanCopy(Planner& p) { p.Copy(p.In({"in0", "in", "input"}), p.Out()); }

// Elements of its own, which later changes in place do not share: the whole of a slice.
void PlanAssign(Planner& p) {
  const uint64_t input = p.In("input");
  const auto extents = p.spec(input).shape.extents();
  const Value copy = p.Temporary(p.spec(input));
  p.Move("slice", {input}, copy,
         {{"begins", std::vector<int64_t>(extents.size(), 0)},
          {"ends", std::vector<int64_t>(extents.begin(), extents.end())},
          {"steps", std::vector<int64_t>(extents.size(), 1)}});
  p.Copy(copy.id, p.Out("output"));
}

void PlanMeshShard(Planner& p) {
  const uint64_t input = p.In("in");
  const Value output = p.Out();
  if (p.spec(input).shape != output.spec.shape) {
    p.Fail("it distributes over several chips, and a card has one");
  }
  p.Copy(input, output);
}

void PlanDeallocate(Planner& p) { p.Free(p.In("in")); }

void Fill(Planner& p, double first, double step) {
  const Value output = p.Out();
  p.Define(output);
  p.Add(FillStep{first, step, output});
}

void PlanEmpty(Planner& p) { Fill(p, 0, 0); }

void PlanFull(Planner& p) { Fill(p, p.Number("fill_value"), 0); }

void PlanNamedFull(Planner& p) {
  const std::string_view name = p.fields().Name("type");
  if (name != "Zeros" && name != "Ones") p.Fail(fmt::format("its type is {}", name));
  Fill(p, name == "Ones" ? 1 : 0, 0);
}

void PlanArange(Planner& p) {
  const double start = p.fields().Real("start");
  const double step = p.fields().Real("step");
  const double count = std::ceil((p.fields().Real("end") - start) / step);
  if (!(count == static_cast<double>(p.Out().spec.shape.elements()))) {
    p.Fail(fmt::format("it has {} numbers, and its result is {}", count, p.Out().spec.ToString()));
  }
  Fill(p, start, step);
}

void PlanConstant(Planner& p) {
  const Fields& fields = p.fields();
  const bool has_type = fields.InSchema("input_dtype");
  const Value output = p.Out();
  DataStep step;
  step.bytes = fields.Items(fields.Has("input") ? "input" : "data").Raw();
  step.result = output;
  std::string_view type = fields.Name(has_type ? "input_dtype" : "dtype");
  if (type.empty()) {
    type = fields.Child("out").Child("desc").Child("layout").Child("memory_desc").Name("data_type");
  }
  const std::optional<ElementType> known = ElementTypeNamed(type);
  if (!known) p.Fail(fmt::format("its data type is {}", type));
  step.type = known.value_or(ElementType());
  const uint64_t wanted = output.spec.shape.elements() * BytesOf(step.type.basic);
  if (step.bytes.size() != wanted) {
    p.Fail(fmt::format("it has {} bytes of data, and {} needs {}", step.bytes.size(),
                       output.spec.ToString(), wanted));
  }
  p.Define(output);
  p.Add(std::move(step));
}

uint32_t ProgramOf(Planner& p, std::string_view index) {
  const auto program = static_cast<uint32_t>(p.fields().Integer(index));
  if (program >= p.programs()) {
    p.Fail(fmt::format("it calls program {}, and there are {}", program, p.programs()));
  }
  return program;
}

void PlanCall(Planner& p, std::string_view index, bool cached) {
  ProgramStep step;
  step.program = ProgramOf(p, index);
  step.cached = cached;
  for (const uint64_t id : p.Ins("inputs")) step.inputs.push_back(p.ValueAt(id));
  step.results = p.Outs("outputs");
  for (const Value& result : step.results) p.Define(result);
  p.Add(std::move(step));
}

void PlanLoadCached(Planner& p) { PlanCall(p, "program_idx", /*cached=*/true); }

// Writes a tensor into another one, in place.
void WriteInto(Planner& p, std::string_view target, std::string_view source) {
  p.InPlace("copy_into", {p.In(target), p.In(source)});
}

void PlanWriteTensor(Planner& p) { WriteInto(p, "device_tensor", "host_tensor"); }

void PlanCopyOp(Planner& p) { WriteInto(p, "dst", "src"); }

void PlanTrace(Planner& p) {
  TraceStep step;
  step.capture = ProgramOf(p, "capture_program_id");
  if (p.fields().InSchema("allocate_slots_program_id")) {
    step.allocate = ProgramOf(p, "allocate_slots_program_id");
  }
  for (const uint64_t id : p.Ins("inputs")) step.inputs.push_back(p.ValueAt(id));
  step.results = p.Outs("outputs");
  for (const Value& result : step.results) p.Define(result);
  p.Add(std::move(step));
}

// Operations of the programs that a trace consists of. These do not run by themselves.
void PlanPartOfTrace(Planner& p) {
  if (p.fields().record().definition().name == "BeginTraceCaptureOp") {
    p.Define(p.Out("trace_id"));
  } else {
    p.In("trace_id");
  }
  p.Fail("CaptureOrExecuteTraceOp runs the function that is captured, not this program");
}

void PlanFuncCall(Planner& p) { PlanCall(p, "program_id", /*cached=*/false); }

// The code of a library of the program.
Bytes CodeOf(const Record& program, int64_t library) {
  const List libraries = program.Items("dylibs");
  for (uint32_t i = 0; i < libraries.size(); ++i) {
    if (libraries.Child(i).Integer("dylib_id") == library) {
      return libraries.Child(i).Items("raw_file").Raw();
    }
  }
  return {};
}

// A function of 2025 writes its one output over its last input; since 2026 it returns its outputs.
void PlanNative(Planner& p) {
  const Fields& fields = p.fields();
  NativeStep step;
  step.function.name = fields.Text("func_name");
  step.function.code = CodeOf(p.program(), fields.Integer("dylib_id"));
  step.function.returns_outputs = fields.InSchema("outs");
  step.inputs = p.Ins("ins");
  step.results = step.function.returns_outputs ? p.Outs("outs") : std::vector<Value>{p.Out()};
  if (step.function.code.empty()) {
    p.Fail(fmt::format("its library {} of native code is missing", fields.Integer("dylib_id")));
  }
  const auto check = [&p](const tensor::TensorSpec& spec) {
    if (tensor::ElementBytes(spec.dtype) != 4) {
      p.Fail(fmt::format("native code with {}", tensor::DTypeName(spec.dtype)));
    }
  };
  for (const uint64_t id : step.inputs) check(p.spec(id));
  for (const Value& result : step.results) {
    check(result.spec);
    p.Define(result);
  }
  p.Add(std::move(step));
}

}  // namespace

std::vector<PlanRow> StructureRows() {
  const std::vector<std::string_view> settled = {"reshape", "typecast", "to_layout"};
  return {{"OpenDeviceOp", PlanDevice},
          {"GetDeviceOp", PlanDevice},
          {"CloseDeviceOp", PlanNothing},
          {"ToMemoryConfigOp", PlanCopy, settled},
          {"ToLayoutOp", PlanCopy, settled},
          {"ToDeviceOp", PlanCopy, settled},
          {"FromDeviceOp", PlanCopy, settled},
          {"ToDTypeOp", PlanCopy, settled},
          {"TypecastOp", PlanCopy, settled},
          {"AssignOp", PlanAssign, {"slice"}},
          {"MeshShardOp",
           PlanMeshShard,
           settled,
           {"shard_direction", "shard_type", "shard_shape", "shard_dims"}},
          {"DeallocateOp", PlanDeallocate},
          {"DeallocOp", PlanDeallocate},
          {"EmptyOp", PlanEmpty},
          {"FullOp", PlanFull},
          {"NamedFullOp", PlanNamedFull},
          {"ArangeOp", PlanArange},
          {"ConstantOp", PlanConstant},
          {"LoadCachedOp", PlanLoadCached, {}, {"callee_name", "program_hash"}},
          {"FuncCallOp", PlanFuncCall},
          {"WriteTensorOp", PlanWriteTensor, {"copy_into"}, {"blocking"}},
          {"CopyOp", PlanCopyOp, {"copy_into"}},
          {"CaptureOrExecuteTraceOp", PlanTrace, {"copy_into", "slice"}, {"execute_program_id"}},
          {"BeginTraceCaptureOp", PlanPartOfTrace},
          {"EndTraceCaptureOp", PlanPartOfTrace},
          {"ExecuteTraceOp", PlanPartOfTrace},
          {"CpuOp", PlanNative}};
}

}  // namespace ttfd::ttmlir
