// Handles: the numbers a session has invented for its resources, and those that are to be freed.
//
// Not thread-safe: SessionCore's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "client/cpp/src/timeline.h"

namespace ttfd::client {

enum class ResourceKind : uint8_t { kBuffer, kKernel, kProgram, kTrace };

class Handles {
 public:
  // New handles are greater than `before`, so that handles of an earlier session name nothing here.
  explicit Handles(uint64_t before) : next_(before + 1) {}

  uint64_t New() { return next_++; }
  uint64_t last() const { return next_ - 1; }
  // The resource exists.
  void Add(uint64_t handle, ResourceKind kind) { resources_[handle] = kind; }
  // The resource is to be freed.
  void Free(uint64_t handle);

  bool any_to_free() const { return !to_free_.empty(); }
  // Handles for the next Free command, at most `most`; empty: none are to be freed.
  std::vector<uint64_t> Take(size_t most);
  // The Free of `handles` has been added to the control queue at `value`.
  void Sent(uint64_t value, std::vector<uint64_t> handles);
  // Discards the Frees that have ended. One that was aborted because of an earlier command is to be sent
  // again; true: there is one.
  bool Retire(const Timeline& control);

  // "2 buffers, 1 kernel, 0 programs, 1 trace".
  std::string Describe() const;

 private:
  struct SentFree {
    uint64_t value;
    std::vector<uint64_t> handles;
  };

  uint64_t next_;
  std::map<uint64_t, ResourceKind> resources_;
  std::vector<uint64_t> to_free_;
  std::deque<SentFree> sent_;
};

// "1 buffer", "2 buffers".
std::string Counted(uint64_t count, const char* one);

}  // namespace ttfd::client
