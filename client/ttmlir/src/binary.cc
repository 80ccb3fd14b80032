// Files opened: mapped, then as file.h.
#include "ttfd/ttmlir/binary.h"

#include <fmt/format.h>

#include <mutex>

#include "client/ttmlir/src/executable.h"
#include "client/ttmlir/src/file.h"
#include "client/ttmlir/src/json.h"
#include "client/ttmlir/src/listing.h"
#include "client/ttmlir/src/mapping.h"
#include "client/ttmlir/src/metal_plan.h"

namespace ttfd::ttmlir {

using client::Result;
using client::Status;

struct Binary::State {
  State(std::string of_file, Mapping of_bytes)
      : path(std::move(of_file)), mapping(std::move(of_bytes)) {}

  Record program(size_t i) const {
    return file.root.Items("programs").Child(static_cast<uint32_t>(i));
  }

  std::string path;
  Mapping mapping;
  File file;
  std::string version;
  std::vector<ProgramInfo> programs;
  mutable std::once_flag planned;
  // Once planned: of the file's kind.
  mutable std::shared_ptr<Executable> executable;
  mutable std::vector<MetalPlan> metal_plans;
};

std::shared_ptr<Executable> ExecutableOf(const Binary& binary) {
  const Binary::State& state = *binary.state_;
  if (state.file.kind != Kind::kTtnn) return nullptr;
  std::call_once(state.planned,
                 [&state] { state.executable = std::make_shared<Executable>(state.file); });
  return state.executable;
}

const std::vector<MetalPlan>& MetalPlansOf(const Binary& binary) {
  const Binary::State& state = *binary.state_;
  std::call_once(state.planned, [&state] {
    if (state.file.kind != Kind::kTtMetal) return;
    for (size_t i = 0; i < state.programs.size(); ++i) {
      state.metal_plans.push_back(MetalPlanOf(state.program(i), state.file.root.Items("dylibs")));
    }
  });
  return state.metal_plans;
}

Result<Binary> Binary::Load(const std::string& path, const LoadOptions& options) {
  Result<Mapping> mapping = Mapping::Open(path);
  if (!mapping.ok()) return mapping.status();
  auto state = std::make_shared<State>(path, *std::move(mapping));
  Profiles profiles(options.profiles.empty() ? ProfileFolder() : options.profiles);
  Result<File> file = OpenFile(state->mapping.bytes(), &profiles);
  if (!file.ok()) {
    return Status(file.status().code(), fmt::format("{}: {}", path, file.status().message()));
  }
  state->file = *std::move(file);
  const Record& root = state->file.root;
  state->version = VersionText(root.Child("version"));
  const List programs = root.Items("programs");
  for (uint32_t i = 0; i < programs.size(); ++i) {
    state->programs.push_back(ListProgram(programs.Child(i), root.Items("dylibs")));
  }
  return Binary(std::move(state));
}

const std::string& Binary::path() const { return state_->path; }
Kind Binary::kind() const { return state_->file.kind; }
const std::string& Binary::version() const { return state_->version; }
const std::string& Binary::schema_hash() const { return state_->file.schema_hash; }
const std::string& Binary::git_hash() const { return state_->file.git_hash; }
const std::string& Binary::profile() const { return state_->file.profile_name; }
const std::vector<ProgramInfo>& Binary::programs() const { return state_->programs; }

std::vector<OperationInfo> Binary::Operations(size_t program) const {
  return ListOperations(state_->program(program));
}

std::vector<KernelInfo> Binary::Kernels(size_t program) const {
  return ListKernels(state_->program(program));
}

void Binary::WriteJson(const Sink& sink) const { WriteJsonOf(state_->file.root, sink); }

std::string Binary::OperationsAsJson(size_t program) const {
  std::string text = "[";
  const JsonSink sink = [&text](std::string_view part) { text += part; };
  for (const Record& operation : OperationsOf(state_->program(program))) {
    if (text.size() > 1) text += ", ";
    WriteJsonOf(operation, sink);
  }
  return text + "]";
}

std::string Binary::SystemAsJson() const {
  std::string text;
  WriteJsonOf(state_->file.root.Child("system_desc"),
              [&text](std::string_view part) { text += part; });
  return text;
}

}  // namespace ttfd::ttmlir
