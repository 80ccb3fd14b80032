// How far a command was on a card that was halted.
#include "runtime/card/card.h"

#include <algorithm>

namespace ttfd {

ExecutionState CardStop::StateOf(const Ticket& ticket) const {
  const auto found = std::find_if(in_flight.begin(), in_flight.end(), [&](const Command& one) {
    return one.ticket.hardware_queue == ticket.hardware_queue && one.ticket.number == ticket.number;
  });
  return found == in_flight.end() ? ExecutionState::kCompleted : found->state;
}

}  // namespace ttfd
