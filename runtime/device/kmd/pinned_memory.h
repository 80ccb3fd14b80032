// Host memory that the driver has pinned, at the NoC address that it gave.
#pragma once

#include <memory>
#include <set>

#include "runtime/device/device.h"
#include "runtime/device/kmd/node.h"

namespace ttfd::kmd {

class PinnedMemory final : public HostMemory {
 public:
  // All of a device. Outlives them.
  using Set = std::set<PinnedMemory*>;

  // One pinning and one outbound iATU region, of 16 that all processes share.
  static StatusOr<std::unique_ptr<HostMemory>> Allocate(Node& node, Set& all, uint64_t size_bytes);
  ~PinnedMemory() override;

  MutableByteSpan bytes() override { return memory_; }
  uint64_t noc_address() const override { return noc_address_; }
  // Also through a node that was opened anew, where nothing is pinned yet.
  Status Pin();

 private:
  PinnedMemory(Node& node, Set& all, MutableByteSpan memory)
      : node_(node), all_(all), memory_(memory) {
    all_.insert(this);
  }

  Node& node_;
  Set& all_;
  const MutableByteSpan memory_;
  bool pinned_ = false;
  uint64_t noc_address_ = 0;
};

}  // namespace ttfd::kmd
