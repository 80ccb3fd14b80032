// Listings of a file.
#include "client/ttmlir/src/listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "client/ttmlir/src/json.h"

namespace ttfd::ttmlir {
namespace {

constexpr uint32_t kShownElements = 16;  // of a list that is an attribute
constexpr int64_t kTileRows = 32;

std::vector<int64_t> NumbersIn(const List& list) {
  std::vector<int64_t> numbers(list.size());
  for (uint32_t i = 0; i < list.size(); ++i) numbers[i] = list.Integer(i);
  return numbers;
}

// Early schemas name a space; later ones host or device, then a buffer type.
std::string MemoryOf(const Record& memory) {
  const Record config = memory.Child("memory_config");
  const std::string_view space = memory.Name("memory_space");
  std::string_view where = config ? config.Name("buffer_type") : space;
  if (memory.Name("storage_type") == "Host" || where.starts_with("System")) return "host";
  if (where.starts_with("Device")) where.remove_prefix(6);
  const std::string_view spread =
      config ? config.Name("tensor_memory_layout") : memory.Name("memory_layout");
  if (spread.empty() || spread == "None") return std::string(where);
  return fmt::format("{} {}", where, WordsOfName(spread));
}

std::string LayoutName(const Record& tile) {
  if (!tile) return "";
  return tile.Integer("y") == kTileRows && tile.Integer("x") == kTileRows ? "tile" : "row major";
}

TensorInfo TensorOf(const Record& ref) {
  TensorInfo tensor;
  tensor.id = static_cast<uint32_t>(ref.Integer("global_id"));
  const Record desc = ref.Child("desc");
  if (!desc) return tensor;
  tensor.shape = NumbersIn(desc.Items("shape"));
  if (desc.Has("buffer_detail")) {  // a buffer of TTMetal
    tensor.dtype = desc.Name("data_type");
    tensor.layout = LayoutName(desc.Child("element_shape"));
    const Record detail = desc.Child("buffer_detail");
    tensor.memory = desc.MemberName("buffer_detail") == "SystemBuffer"
                        ? "host"
                        : std::string(detail.Name("buffer_type"));
    return tensor;
  }
  const Record memory = desc.Child("layout").Child("memory_desc");
  tensor.dtype = memory.Name("data_type");
  tensor.layout = LayoutName(memory.Child("tile_shape"));
  tensor.memory = MemoryOf(memory);
  return tensor;
}

// Fields that are not shown as attributes: configurations are hints, and kernels have a listing of their own.
bool IsHidden(const Definition& definition) {
  static constexpr std::array<std::string_view, 5> kHidden = {"Config", "ConfigDesc", "DeviceRef",
                                                              "ProgramDesc", "MemoryDesc"};
  return std::any_of(kHidden.begin(), kHidden.end(),
                     [&](std::string_view end) { return definition.name.ends_with(end); });
}

std::string ValueText(const Record& record, const Field& field) {
  std::string text;
  const JsonSink sink = [&text](std::string_view part) { text += part; };
  const Type& type = field.type;
  if (type.list) {
    const List list = record.Items(field.name);
    if (list.size() > kShownElements) return fmt::format("[{} values]", list.size());
    WriteJsonOf(list, sink);
  } else if (type.definition == nullptr && type.basic == Basic::kText) {
    return std::string(record.Text(field.name));
  } else if (type.definition == nullptr || !type.definition->members.empty()) {
    if (const Record member = record.Child(field.name)) {  // of a union
      WriteJsonOf(member, sink);
    } else {
      return NumberText(type, record.Integer(field.name), record.Real(field.name));
    }
  } else {
    WriteJsonOf(record.Child(field.name), sink);
  }
  return text;
}

OperationInfo InfoOf(const Record& record) {
  OperationInfo info;
  info.type = record.MemberName("type");
  info.text = record.Text("debug_info");
  info.location = LocationOf(record);
  const Record operation = record.Child("type");
  if (!operation) return info;
  for (const Field& field : operation.definition().fields) {
    const Definition* const definition = field.type.definition;
    const bool is_enum = definition != nullptr && definition->kind == Definition::Kind::kEnum;
    // The first name of an enum is what an absent number means: an addition has no type.
    if (!operation.PlaceOf(field) && (!is_enum || field.type.list || field.optional)) continue;
    if (RefersToTensors(field)) {
      std::vector<TensorInfo>& tensors = IsResult(field, info.type) ? info.results : info.operands;
      if (!field.type.list) tensors.push_back(TensorOf(operation.Child(field.name)));
      const List list = operation.Items(field.name);
      for (uint32_t i = 0; i < list.size(); ++i) tensors.push_back(TensorOf(list.Child(i)));
    } else if (definition == nullptr || !IsHidden(*definition)) {
      info.attributes.emplace_back(field.name, ValueText(operation, field));
    }
  }
  return info;
}

std::string CoresText(const List& ranges) {
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const Record first = ranges.Child(i).Child("loc");
    const Record size = ranges.Child(i).Child("size");
    const int64_t x = first.Integer("x");
    const int64_t y = first.Integer("y");
    texts.push_back(
        fmt::format("{},{}-{},{}", x, y, x + size.Integer("x") - 1, y + size.Integer("y") - 1));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string ProcessorOf(const Record& kernel, const Record& code) {
  const std::string_view config = kernel.MemberName("type");
  if (config == "ComputeConfig") return "compute";
  if (config == "EthernetConfig") return "ethernet";
  if (config == "NocConfig") {
    const Record noc = kernel.Child("type");
    const std::string_view hart = noc.Name("processor");
    return std::string(hart.empty() ? noc.Name("noc_index") : hart);
  }
  const std::string_view source = code.Name("source_type");
  return std::string(source.empty() ? code.Name("core_type") : source);
}

KernelInfo KernelOf(const Record& kernel, size_t command) {
  const Record code = kernel.Child("kernel");
  const std::string_view symbol = kernel.Text("symbol");
  return {.command = command,
          .name = std::string(symbol.empty() ? kernel.Text("debug_info") : symbol),
          .processor = ProcessorOf(kernel, code),
          .cores = CoresText(kernel.Items("core_range_set")),
          .source = std::string(code.Text("source")),
          .binary_bytes = code.Items("data").size()};
}

std::vector<TensorInfo> TensorsOf(const List& refs) {
  std::vector<TensorInfo> tensors(refs.size());
  for (uint32_t i = 0; i < refs.size(); ++i) tensors[i] = TensorOf(refs.Child(i));
  return tensors;
}

void CountNative(const List& libraries, ProgramInfo* info) {
  info->native_libraries += libraries.size();
  for (uint32_t i = 0; i < libraries.size(); ++i) {
    info->native_bytes += libraries.Child(i).Items("raw_file").size();
  }
}

}  // namespace

std::string TensorInfo::ToString() const {
  return fmt::format("%{} {} [{}]", id, dtype, fmt::join(shape, ","));
}

std::string WordsOfName(std::string_view name) {
  std::string words;
  for (const char letter : name) {
    const bool upper = std::isupper(static_cast<unsigned char>(letter)) != 0;
    if (upper && !words.empty()) words += ' ';
    words += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return words;
}

std::string VersionText(const Record& version) {
  return fmt::format("{}.{}.{}", version.Integer("major"), version.Integer("minor"),
                     version.Integer("patch"));
}

bool RefersToTensors(const Field& field) {
  const Definition* const definition = field.type.definition;
  return definition != nullptr &&
         (definition->name == "TensorRef" || definition->name == "BufferRef");
}

bool IsResult(const Field& field, std::string_view operation) {
  static constexpr std::array<std::string_view, 4> kLast = {"out", "outs", "output", "outputs"};
  const std::string_view name = field.name;
  if (operation == "CreateBufferCommand") return name == "ref";
  if (name == "dst" || name.starts_with("result")) return true;
  const std::string_view last = name.substr(name.rfind('_') + 1);
  return !name.starts_with("grad") && std::find(kLast.begin(), kLast.end(), last) != kLast.end();
}

std::string LocationOf(const Record& operation) {
  constexpr std::string_view kBegin = "loc(";
  std::string_view own = operation.Text("loc_info");
  if (own.empty()) own = operation.Text("loc");
  std::string_view text = own.empty() ? operation.Text("debug_info") : own;
  const size_t at = own.empty() ? text.rfind(" loc(") : own.find(kBegin);
  if (at == std::string_view::npos) return std::string(own);
  text = text.substr(text.find(kBegin, at) + kBegin.size());
  if (text.ends_with(')')) text.remove_suffix(1);
  std::string location(text);
  std::erase(location, '"');
  return location == "unknown" ? "" : location;
}

std::vector<Record> OperationsOf(const Record& program) {
  std::vector<Record> records;
  const auto append = [&records](const List& list) {
    for (uint32_t i = 0; i < list.size(); ++i) records.push_back(list.Child(i));
  };
  append(program.Items("operations"));
  const List devices = program.Items("device_programs");
  for (uint32_t i = 0; i < devices.size(); ++i) {
    const List queues = devices.Child(i).Items("command_queues");
    for (uint32_t j = 0; j < queues.size(); ++j) append(queues.Child(j).Items("commands"));
  }
  return records;
}

ProgramInfo ListProgram(const Record& program, const List& native) {
  ProgramInfo info;
  info.name = program.Text("name");
  info.is_private = program.Integer("private") != 0;
  info.operations = OperationsOf(program).size();
  if (const Record mesh = program.Child("mesh_shape")) {
    info.mesh_shape = {mesh.Integer("y"), mesh.Integer("x")};
  }
  info.inputs = TensorsOf(program.Items("inputs"));
  info.outputs = TensorsOf(program.Items("outputs"));
  CountNative(program.Items("dylibs"), &info);
  CountNative(native, &info);
  return info;
}

std::vector<OperationInfo> ListOperations(const Record& program) {
  const std::vector<Record> records = OperationsOf(program);
  std::vector<OperationInfo> operations(records.size());
  std::transform(records.begin(), records.end(), operations.begin(), InfoOf);
  return operations;
}

std::vector<KernelInfo> ListKernels(const Record& program) {
  std::vector<KernelInfo> kernels;
  const std::vector<Record> commands = OperationsOf(program);
  for (size_t i = 0; i < commands.size(); ++i) {
    const List list = commands[i].Child("type").Child("program").Items("kernels");
    for (uint32_t j = 0; j < list.size(); ++j) kernels.push_back(KernelOf(list.Child(j), i));
  }
  return kernels;
}

}  // namespace ttfd::ttmlir
