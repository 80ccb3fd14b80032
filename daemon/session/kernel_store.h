// Loaded kernels by user and content, so that a client uploads a kernel once and other clients of
// the same user not at all.
//
// Per user, not by content alone: who knows a hash does not thereby own the kernel.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/base/mutex.h"
#include "runtime/command/program.h"

namespace ttfd {

// Thread-safe. Forgets what was used longest ago; programs keep their kernels alive themselves.
class KernelStore {
 public:
  explicit KernelStore(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Null: not here.
  std::shared_ptr<const KernelImage> Find(uint32_t uid, const std::string& sha256)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Insert(uint32_t uid, const std::string& sha256, std::shared_ptr<const KernelImage> image)
      ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t used_bytes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using Key = std::pair<uint32_t, std::string>;
  struct Entry {
    Key key;
    std::shared_ptr<const KernelImage> image;
  };

  const uint64_t capacity_bytes_;
  mutable Mutex mu_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mu_);  // the front was used last
  std::map<Key, std::list<Entry>::iterator> index_ ABSL_GUARDED_BY(mu_);
  uint64_t used_bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ttfd
