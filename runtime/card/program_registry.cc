// Programs by the id that the card reports.
#include "runtime/card/program_registry.h"

#include <algorithm>

namespace ttfd {

void ProgramRegistry::Add(const std::shared_ptr<const Program>& program) {
  programs_[program->id] = program;
  if (programs_.size() <= limit_) return;
  std::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
  limit_ = std::max(kMinEntries, 2 * programs_.size());
}

std::shared_ptr<const Program> ProgramRegistry::Find(uint32_t id) const {
  const auto found = programs_.find(id);
  return found == programs_.end() ? nullptr : found->second.lock();
}

}  // namespace ttfd
