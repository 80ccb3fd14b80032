// The arguments of a kernel of a TTMetal program.
#include "client/ttmlir/src/metal_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace ttfd::ttmlir {
namespace {

using client::CoreRange;

constexpr uint32_t kMaxSemaphores = 16;  // indices of a program
constexpr size_t kMaxSemaphorePlans = 256;
constexpr size_t kMaxArguments = 4096;  // of a kernel, of each kind
constexpr const char* kTooMany = "a kernel has more than 4096 arguments of a kind";

// The operand of a command at an index that an argument has. Files of 2025 list buffers, later ones references of
// several kinds, those of 2024 tensors.
Record OperandAt(const Record& command, const Record& argument, std::string* problem) {
  List operands = command.Items("arg_refs");
  if (operands.empty()) operands = command.Items("buffers");
  if (operands.empty()) operands = command.Items("operands");
  const auto index = static_cast<uint64_t>(argument.Integer("operand_idx"));
  if (index < operands.size()) return operands.Child(static_cast<uint32_t>(index));
  *problem = fmt::format("it has no operand {}", index);
  return {};
}

bool Overlap(const std::vector<CoreRange>& some, const std::vector<CoreRange>& others) {
  return std::any_of(some.begin(), some.end(), [&](const CoreRange& a) {
    return std::any_of(others.begin(), others.end(), [&](const CoreRange& b) {
      return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
    });
  });
}

}  // namespace

ArgumentWord KernelArguments::Buffer(const Record& argument) {
  const auto id =
      static_cast<uint32_t>(OperandAt(command_, argument, &problem_).Integer("global_id"));
  if (problem_.empty() && !state_.buffers.contains(id)) {
    problem_ = fmt::format("an argument is the address of %{}, which is not on the card", id);
  }
  return {ArgumentWord::Kind::kAddress, id};
}

// Each argument has a semaphore of its own, with the lowest index that none of the kernel's cores has, as in TT-
// Metalium: kernels on several cores mean each other's semaphores by that.
ArgumentWord KernelArguments::Semaphore(int64_t initial) {
  const auto is_taken = [this](uint32_t index) {
    return std::any_of(launch_.semaphores.begin(), launch_.semaphores.end(),
                       [&](const SemaphorePlan& other) {
                         return other.index == index && Overlap(other.cores, cores_);
                       });
  };
  uint32_t index = 0;
  while (index < kMaxSemaphores && is_taken(index)) ++index;
  if (index == kMaxSemaphores || launch_.semaphores.size() == kMaxSemaphorePlans) {
    problem_ = fmt::format("it has more than {} semaphores on a core, or {} in all", kMaxSemaphores,
                           kMaxSemaphorePlans);
    return {};
  }
  launch_.semaphores.push_back({index, static_cast<uint32_t>(initial), cores_});
  return {ArgumentWord::Kind::kNumber, index};
}

ArgumentWord KernelArguments::WordOf(std::string_view kind, const Record& argument) {
  if (kind == "KernelArgBufferAddress" || kind == "KernelArgGlobalSemaphore" ||
      kind == "RuntimeArgTensorAddress") {
    return Buffer(argument);
  }
  if (kind == "KernelArgSemaphore" || kind == "RuntimeArgSemaphoreAddress") {
    if (argument.Integer("core_type") != 0) problem_ = "it has a semaphore of an Ethernet tile";
    return Semaphore(argument.Integer("initial_value"));
  }
  if (kind == "KernelArgLocalSemaphore") {
    const auto id =
        static_cast<uint32_t>(OperandAt(command_, argument, &problem_).Integer("global_id"));
    const auto known = state_.semaphores.find(id);
    if (known != state_.semaphores.end()) return Semaphore(known->second);
    if (problem_.empty()) problem_ = fmt::format("semaphore {} is not defined", id);
    return {};
  }
  if (kind == "KernelArgNamedArgument") {
    return {ArgumentWord::Kind::kNumber, static_cast<uint32_t>(argument.Integer("value"))};
  }
  if (kind == "KernelArgCBPort") {
    const auto index = static_cast<uint64_t>(argument.Integer("operand_idx"));
    const List ports = command_.Items("cbs");
    if (index >= ports.size()) problem_ = fmt::format("it has no circular buffer {}", index);
    const Record port = ports.Child(static_cast<uint32_t>(index));
    return {ArgumentWord::Kind::kNumber, static_cast<uint32_t>(port.Integer("port"))};
  }
  if (kind == "KernelArgScalar") {
    const auto id =
        static_cast<uint32_t>(OperandAt(command_, argument, &problem_).Integer("global_id"));
    const auto host = state_.hosts.find(id);
    if (problem_.empty() && (host == state_.hosts.end() || host->second.bytes() < sizeof(id))) {
      problem_ = fmt::format("an argument is the number %{}, which the host does not have", id);
    }
    return {ArgumentWord::Kind::kScalar, id};
  }
  problem_ = fmt::format("it has an argument of the kind {}", kind);
  return {};
}

void KernelArguments::AddCommon(const List& arguments) {
  first_common_ = words_.size();
  AddWords(arguments);
}

void KernelArguments::AddRuntime(const List& arguments) {
  first_runtime_ = words_.size();
  AddWords(arguments);
}

void KernelArguments::AddWords(const List& arguments) {
  if (words_.size() + arguments.size() > kMaxArguments) problem_ = kTooMany;
  for (uint32_t i = 0; i < arguments.size() && problem_.empty(); ++i) {
    const Record argument = arguments.Child(i);
    // Arguments of 2024 are a list of the kinds themselves.
    const Definition::Member* const kind = arguments.MemberOf(i);
    words_.push_back(kind != nullptr ? WordOf(kind->name, argument)
                                     : WordOf(argument.MemberName("arg"), argument.Child("arg")));
  }
}

void KernelArguments::AddAccessor(const Record& argument) {
  const uint32_t id = Buffer(argument).value;
  if (!problem_.empty()) return;
  const BufferSpec& buffer = state_.buffers.at(id);
  // The numbers of AccessorKind in <ttfd/metal/accessors.h>.
  constexpr uint32_t kInterleavedDram = 0;
  constexpr uint32_t kShardedL1 = 1;
  const uint64_t count =
      std::accumulate(buffer.cores.begin(), buffer.cores.end(), uint64_t{0},
                      [](uint64_t sum, const CoreRange& range) { return sum + range.count(); });
  if (count > kMaxArguments) problem_ = kTooMany;
  if (!problem_.empty()) return;
  std::vector<uint32_t> workers;
  for (const CoreRange& range : buffer.cores) {
    for (uint32_t y = range.y0; y <= range.y1; ++y) {
      for (uint32_t x = range.x0; x <= range.x1; ++x) workers.push_back(x | y << 16);
    }
  }
  AddNumber(workers.empty() ? kInterleavedDram : kShardedL1);
  AddNumber(buffer.row_pages);
  AddNumber(buffer.shard_rows);
  AddNumber(buffer.shard_row_pages);
  AddNumber(static_cast<uint32_t>(workers.size()));
  for (const uint32_t worker : workers) AddNumber(worker);
}

// An argument that is not known without a card is in a word.
void KernelArguments::AddCompileTime(const List& arguments) {
  if (words_.size() + arguments.size() > kMaxArguments) problem_ = kTooMany;
  for (uint32_t i = 0; i < arguments.size() && problem_.empty(); ++i) {
    const std::string_view kind = arguments.Child(i).MemberName("arg");
    const Record argument = arguments.Child(i).Child("arg");
    if (kind == "KernelArgTensorAccessorArgs") {
      AddAccessor(argument);
      continue;
    }
    const ArgumentWord word = WordOf(kind, argument);
    if (word.kind == ArgumentWord::Kind::kNumber) {
      AddNumber(word.value);
    } else {
      text_ += fmt::format("{{{}u, true}}, ", words_.size());
      words_.push_back(word);
    }
    if (kind == "KernelArgNamedArgument") {
      const std::string_view name = argument.Text("name");
      const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '_';
      });
      if (!is_plain) problem_ = "the name of an argument has other signs than letters and digits";
      names_ += fmt::format("{{\"{}\", {}u}}, ", name, word.value);
    }
  }
}

std::string KernelArguments::Text() const {
  return fmt::format(
      "#include <ttfd/metal/argument.h>\n"
      "namespace ttfd::metal {{\n"
      "inline constexpr CompileTimeArgument kCompileTimeArguments[] = {{{}{{}}}};\n"
      "inline constexpr NamedArgument kNamedArguments[] = {{{}{{}}}};\n"
      "inline constexpr uint32_t kFirstCommonArgument = {};\n"
      "inline constexpr uint32_t kFirstRuntimeArgument = {};\n"
      "}}\n"
      "#include <ttfd/metal.h>\n",
      text_, names_, first_common_, first_runtime_);
}

void KernelArguments::AddNumber(uint32_t number) {
  if (++numbers_ > kMaxArguments) problem_ = kTooMany;
  if (problem_.empty()) text_ += fmt::format("{{{}u, false}}, ", number);
}

}  // namespace ttfd::ttmlir
