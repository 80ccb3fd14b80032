// How many go signals all workers have answered, as dispatch_s publishes it.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/abi/host_queue.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace ttfd {

class GoCounts {
 public:
  // `memory`: an abi::GoCounts that the card writes, zero at first. Outlives this.
  explicit GoCounts(ByteSpan memory) : memory_(memory) {}

  // Number of the `sent` go signals of a sub-device since the boot that are answered; never decreases. INTERNAL: what
  // the card wrote is less than before or more than were sent.
  StatusOr<uint64_t> Answered(uint32_t sub_device, uint64_t sent);

 private:
  const ByteSpan memory_;
  std::array<uint64_t, abi::kMaxSubDevices> answered_{};
};

}  // namespace ttfd
