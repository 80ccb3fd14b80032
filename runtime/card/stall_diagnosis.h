// Which stage of a hardware queue stopped, and what it waits for: by waypoints, control blocks and streams of a card
// that makes no progress.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/card/card_snapshot.h"
#include "runtime/card/queue_state.h"
#include "runtime/card/stall_report.h"

namespace ttfd {

// Diagnoses hardware queue number `queue`: stage and text. kUnreadable if the card could not be read so far.
StallReport DiagnoseQueue(const CardSnapshot& card, uint32_t queue, const QueueState& host);
// Diagnoses the hardware queue that stopped, where the other only waits for it; `hosts`: one for each. With what the
// card as a whole shows, but for `harts`.
StallReport DiagnoseCard(const CardSnapshot& card, std::span<const QueueState> hosts);

}  // namespace ttfd
