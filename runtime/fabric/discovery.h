// Chips that only a neighbour reaches: found by the links of the chips that have ports.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"

namespace ttfd {

// "0x40000000002:0x2", board and ASIC, neither of which is 0. INVALID_ARGUMENT: another text.
StatusOr<ChipId> ParseChipId(std::string_view text);
std::string ToString(const ChipId& chip);

struct RemoteChips {
  struct Chip {
    std::shared_ptr<Device> device;
    uint32_t behind = 0;  // index of the neighbour
  };
  std::vector<Chip> chips;
  // Links to chips that stay out, with the reason, for the log.
  std::vector<std::string> left_out;
};

// Opens the chips behind links of `devices` that are none of these, each through the lowest channel that is up.
//
// A chip is driven without asking its host, which may be another machine at the end of a cable: those of cards are
// driven if `allowed` names them, those of simulators always. Left out are also a chip that its neighbour does not
// name, one without a neighbour among `devices`, and one that does not answer. The clock outlives the chips.
RemoteChips FindRemoteChips(std::span<const std::shared_ptr<Device>> devices,
                            std::span<const ChipId> allowed, Clock& clock);

}  // namespace ttfd
