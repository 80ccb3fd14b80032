// Layouts of launches that were seen before.
#include "runtime/card/launch_layouts.h"

#include "runtime/command/go_table.h"

namespace ttfd {

std::shared_ptr<const LaunchRecords> LaunchLayouts::Get(
    const std::shared_ptr<const Program>& program, std::span<const KernelArguments> arguments) {
  const auto [first, last] = by_program_.equal_range(program.get());
  for (auto known = first; known != last; ++known) {
    if (!known->second->records->Fits(arguments)) continue;
    entries_.splice(entries_.begin(), entries_, known->second);
    return known->second->records;
  }
  const bool multicast = program->workers.size() > kMaxUnicastGoTargets;
  entries_.push_front(
      {program, std::make_shared<const LaunchRecords>(*program, arguments, multicast, card_)});
  by_program_.emplace(program.get(), entries_.begin());
  std::shared_ptr<const LaunchRecords> records = entries_.front().records;
  bytes_ += records->bytes();
  while (entries_.size() > 1 && (entries_.size() > kMaxLayouts || bytes_ > kMaxBytes)) DropOldest();
  return records;
}

void LaunchLayouts::DropOldest() {
  const auto oldest = std::prev(entries_.end());
  bytes_ -= oldest->records->bytes();
  const auto [first, last] = by_program_.equal_range(oldest->program.get());
  for (auto known = first; known != last; ++known) {
    if (known->second != oldest) continue;
    by_program_.erase(known);
    break;
  }
  entries_.erase(oldest);
}

}  // namespace ttfd
