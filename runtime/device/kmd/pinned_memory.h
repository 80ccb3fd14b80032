// Host memory that the driver has pinned, at the NoC address that it gave.
#pragma once

#include <memory>

#include "runtime/device/device.h"
#include "runtime/device/kmd/node.h"

namespace ttfd::kmd {

class PinnedMemory final : public HostMemory {
 public:
  // One pinning and one outbound iATU region, of 16 that all processes share.
  static StatusOr<std::unique_ptr<HostMemory>> Allocate(Node& node, uint64_t size_bytes);
  ~PinnedMemory() override;

  MutableByteSpan bytes() override { return memory_; }
  uint64_t noc_address() const override { return noc_address_; }

 private:
  PinnedMemory(Node& node, MutableByteSpan memory) : node_(node), memory_(memory) {}
  Status Pin();

  Node& node_;
  const MutableByteSpan memory_;
  bool pinned_ = false;
  uint64_t noc_address_ = 0;
};

}  // namespace ttfd::kmd
