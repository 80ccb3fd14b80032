// How far a command was when the card was stopped.
#pragma once

#include "runtime/card/card_snapshot.h"
#include "runtime/card/queue_state.h"

namespace ttfd {

// Entries that the card has taken, as its own count says; the host's own where that cannot be.
uint32_t EntriesTaken(const QueueSnapshot& queue, const QueueState& host);

// State of a command on a card that begins nothing since the snapshot. `queue`: null if it could not be read.
ExecutionState StateOf(const QueueSnapshot* queue, const QueueState& host,
                       const CommandState& command);

}  // namespace ttfd
