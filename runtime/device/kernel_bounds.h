// Which buffers the kernels of a launch may access, for a backend that checks it: the device model.
//
// An owner (a session) has buffers, and programs that run for it. A kernel may access buffers of the owner of the
// program that its worker runs, and all memory outside of the ranges that buffers are made in.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/hw/grid.h"

namespace ttfd {

class KernelBounds {
 public:
  // The same range in every worker's L1, or in every DRAM bank.
  enum class Memory : uint8_t { kL1, kDram };
  struct Range {
    Memory memory = Memory::kDram;
    uint64_t begin = 0, end = 0;  // addresses in each
  };
  struct Access {
    Range range;
    bool writes = false;
  };
  // Workers and addresses of the booted card.
  struct Layout {
    std::vector<hw::Coordinate> workers;  // translated
    uint32_t program_address = 0;         // in a worker's L1: of the id of the program that it runs
    uint32_t l1_begin = 0;                // buffers are made from here on
    uint64_t dram_begin = 0;
  };

  // ---- any thread

  // A buffer was made, `name` is the owner's own number of it. It overlaps no other.
  void Add(const Range& range, uint64_t owner, uint64_t name) ABSL_LOCKS_EXCLUDED(mu_);
  // It will be freed.
  void Remove(const Range& range) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- the thread that calls the device

  // After a boot, before the first launch. Nothing is on the card any more (EndAll).
  virtual void SetLayout(const Layout& layout) = 0;
  // From now on these programs, each of which has one owner, run for `owner`, until Ended was called as often. Programs
  // that run for no owner are not checked.
  void Begin(std::span<const uint32_t> programs, uint64_t owner);
  void Ended(std::span<const uint32_t> programs);
  void EndAll() { running_.clear(); }

 protected:
  KernelBounds() = default;
  ~KernelBounds() = default;

  // Why a kernel of `program` may not do it, "write 64 B past buffer 3: ..."; none: it may.
  std::optional<std::string> Check(uint32_t program, const Access& access) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Buffer {
    uint64_t end = 0;
    uint64_t owner = 0;
    uint64_t name = 0;
  };
  using Buffers = std::map<uint64_t, Buffer>;  // by begin
  // An access that was allowed, widened to its buffer.
  struct Allowed {
    uint32_t program = 0;
    Range range = {};
  };
  struct Run {
    uint64_t owner = 0;
    uint64_t launches = 0;
  };

  bool IsKnown(uint32_t program, const Range& range) const;
  // The buffer of the owner that has all of it; null: there is none.
  const Buffers::value_type* FindOwn(const Range& range, uint64_t owner) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string Describe(const Access& access, uint64_t owner) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Mutex mu_;
  std::array<Buffers, 2> buffers_ ABSL_GUARDED_BY(mu_);  // by Memory
  std::atomic<uint64_t> removals_{0};

  // The thread that calls the device.
  std::unordered_map<uint32_t, Run> running_;  // by program
  std::array<Allowed, 8> allowed_{};  // answered without the lock, until a buffer is removed
  uint32_t next_allowed_ = 0;
  uint64_t removals_then_ = 0;
};

}  // namespace ttfd
