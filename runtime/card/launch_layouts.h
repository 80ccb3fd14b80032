// Layouts of launches that were seen before, so that one is built once and patched from then on.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "runtime/command/launch_records.h"

namespace ttfd {

class LaunchLayouts {
 public:
  explicit LaunchLayouts(const CardGeometry& card) : card_(card) {}

  // REQUIRES CheckArguments.
  std::shared_ptr<const LaunchRecords> Get(const std::shared_ptr<const Program>& program,
                                           std::span<const KernelArguments> arguments);

  // Kept at most, the most recently used.
  static constexpr size_t kMaxLayouts = 256;
  static constexpr size_t kMaxBytes = 16 << 20;

 private:
  struct Entry {
    std::shared_ptr<const Program> program;  // kept, so that its identity is not reused
    std::shared_ptr<const LaunchRecords> records;
  };
  void DropOldest();

  const CardGeometry& card_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_multimap<const Program*, std::list<Entry>::iterator> by_program_;
  size_t bytes_ = 0;
};

}  // namespace ttfd
