// Loaded kernels by user and content, so that a client uploads a kernel once and other clients of
// the same user not at all.
//
// Per user, not by content alone: a client that has a hash does not thereby own the kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/base/bytes.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "runtime/command/program.h"

namespace ttfd {

// Turns a kernel's ELF into what a tile runs; may refuse it.
using KernelLoader = std::function<StatusOr<std::shared_ptr<const KernelImage>>(
    ByteSpan elf, const std::string& name)>;

// Result of loading a kernel's bytes.
struct LoadedKernel {
  std::string sha256;
  StatusOr<std::shared_ptr<const KernelImage>> image = std::shared_ptr<const KernelImage>();
};

// Host memory of a loaded kernel: its image, its name and the names of its addresses, about.
uint64_t HeldBytes(const KernelImage& image);

// Thread-safe. When it is full, the user who has most in it loses what was used longest ago, so that no user evicts
// kernels of users who keep less. Programs keep their kernels alive themselves.
class KernelStore {
 public:
  explicit KernelStore(uint64_t capacity_bytes, KernelLoader loader)
      : capacity_bytes_(capacity_bytes), loader_(std::move(loader)) {}

  // The kernel with these bytes: that of the store, or loaded and kept in it. Takes long: on a host thread.
  LoadedKernel Load(uint32_t uid, const std::string& name, const std::string& bytes)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Null: not here.
  std::shared_ptr<const KernelImage> Find(uint32_t uid, const std::string& sha256)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Insert(uint32_t uid, const std::string& sha256, std::shared_ptr<const KernelImage> image)
      ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t used_bytes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    std::string sha256;
    std::shared_ptr<const KernelImage> image;
    uint64_t bytes = 0;
  };
  struct User {
    std::list<Entry> entries;  // the front was used last
    std::map<std::string, std::list<Entry>::iterator> index;
    uint64_t bytes = 0;
  };

  void EvictOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint64_t capacity_bytes_;
  const KernelLoader loader_;
  mutable Mutex mu_;
  std::map<uint32_t, User> users_ ABSL_GUARDED_BY(mu_);  // who have entries
  uint64_t used_bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ttfd
