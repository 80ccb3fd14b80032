// Memory of this process that the card reaches, pinned once for all host memory of a device.
//
//   NoC offset 0 ...   | page 0 | page 1 | ... | last page |  other users' regions | 2^58
//                      ^ noc_address()          pinned first
//
// With an IOMMU any pages do, in one pinning. Without, the driver pins consecutive pages alone: one hugepage of 1 GiB,
// else hugepages of 2 MiB, each with one of the 16 outbound iATU regions that all processes share. The driver places
// pinnings top-down, so hugepages pinned from the last to the first are adjacent for the card. There an address
// that finds its region gone leads beyond any memory of the host, while the lowest NoC addresses would lead to
// its first pages.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/device/kmd/node.h"
#include "runtime/memory/free_list.h"

namespace ttfd::kmd {

// Memory for two queues with the daemon's default rings (16 MiB and a little), in hugepages of 2 MiB.
inline constexpr uint64_t kDefaultArenaBytes = uint64_t{18} << 20;

class HostArena {
 public:
  // Maps `bytes` or more, which Pin pins. The node outlives it.
  static StatusOr<std::unique_ptr<HostArena>> Open(Node& node, uint64_t bytes);
  // REQUIRES: all that was allocated is freed. Of a lost card the pages stay pinned until the node is closed.
  ~HostArena();

  // REQUIRES: nothing is pinned through the node, which is new or was opened anew. Allocations stay, at other NoC
  // addresses.
  Status Pin();

  // Zeroed whole pages, without a call to the driver.
  StatusOr<std::unique_ptr<HostMemory>> Allocate(uint64_t size_bytes);

 private:
  class Allocation;

  explicit HostArena(Node& node) : node_(node) {}
  Status MapMemory(uint64_t bytes);
  bool Map(uint64_t bytes, uint64_t page_bytes);
  Status PinExtent(MutableByteSpan extent);
  Status CheckPlace() const;

  Node& node_;
  MutableByteSpan memory_;
  uint64_t extent_bytes_ = 0;
  std::vector<MutableByteSpan> pinned_;  // falling addresses
  uint64_t noc_address_ = 0;             // of the extent pinned last
  FreeList free_{0, 0};                  // offsets in memory_
};

}  // namespace ttfd::kmd
