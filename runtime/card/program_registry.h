// Programs by the id that the card reports, so that a report names what a program calls its kernels and no other
// program's names.
//
// It holds no program: one that is gone is not found. Device thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "runtime/command/program_layout.h"

namespace ttfd {

class ProgramRegistry {
 public:
  // `program` is the one of its id from now on.
  void Add(const std::shared_ptr<const Program>& program);
  // Null: no program of this id was added, or it is gone.
  std::shared_ptr<const Program> Find(uint32_t id) const;
  // Entries, with those of programs that are gone and were not removed yet: at most twice the programs that exist, and
  // kMinEntries.
  size_t entries() const { return programs_.size(); }

  static constexpr size_t kMinEntries = 64;

 private:
  std::unordered_map<uint32_t, std::weak_ptr<const Program>> programs_;
  size_t limit_ = kMinEntries;  // entries at which those of gone programs are removed
};

}  // namespace ttfd
