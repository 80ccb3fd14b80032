// Handles of a session's resources.
#include "client/cpp/src/handles.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ttfd::client {

std::string Counted(uint64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

void Handles::Free(uint64_t handle) {
  resources_.erase(handle);
  to_free_.push_back(handle);
}

std::vector<uint64_t> Handles::Take(size_t most) {
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, to_free_.size()));
  std::vector<uint64_t> taken(to_free_.begin(), to_free_.begin() + count);
  to_free_.erase(to_free_.begin(), to_free_.begin() + count);
  return taken;
}

void Handles::Sent(uint64_t value, std::vector<uint64_t> handles) {
  sent_.push_back({value, std::move(handles)});
}

bool Handles::Retire(const Timeline& control) {
  bool again = false;
  while (!sent_.empty() && sent_.front().value <= control.completed()) {
    if (control.Aborted(sent_.front().value)) {
      to_free_.insert(to_free_.end(), sent_.front().handles.begin(), sent_.front().handles.end());
      again = true;
    }
    sent_.pop_front();
  }
  return again;
}

std::string Handles::Describe() const {
  constexpr std::array<std::pair<ResourceKind, const char*>, 4> kNames = {
      {{ResourceKind::kBuffer, "buffer"},
       {ResourceKind::kKernel, "kernel"},
       {ResourceKind::kProgram, "program"},
       {ResourceKind::kTrace, "trace"}}};
  std::string text;
  for (const auto& [kind, name] : kNames) {
    const auto count =
        std::count_if(resources_.begin(), resources_.end(),
                      [k = kind](const auto& resource) { return resource.second == k; });
    text += (text.empty() ? "" : ", ") + Counted(static_cast<uint64_t>(count), name);
  }
  return text;
}

}  // namespace ttfd::client
