// A snapshot of a stopped card, with the host's own records of it, as a file: kept with a hang report, loaded in tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/card/card_snapshot.h"
#include "runtime/card/queue_state.h"

namespace ttfd {

struct StoppedCard {
  CardSnapshot card;
  std::vector<QueueState> hosts;  // of each hardware queue
};

// JSON. Words of the card (runtime/abi) are numbers, without zeros at the end; equal workers are listed together.
std::string SnapshotText(const StoppedCard& stopped);
// INVALID_ARGUMENT: it is no such file, or of another protocol version.
StatusOr<StoppedCard> ParseSnapshot(std::string_view text);

}  // namespace ttfd
