// Writes down what the host has on record of a card that stopped, and what becomes of the slices that were on it.
#pragma once

#include <vector>

#include "daemon/card/hardware_queue.h"
#include "daemon/card/recent_launches.h"
#include "daemon/card/recovery_plan.h"
#include "daemon/hang/hang_report.h"
#include "runtime/base/status.h"
#include "runtime/card/card_probe.h"

namespace ttfd {

// By the host's own records, before the card is looked at; without an id. `why`: the card was given up. `ended`: the
// launches that ended last.
HangReport HostEvidence(const Status& why, const HardwareQueues& hardware_queues,
                        const RecentLaunches& ended, CardProbe& probe);

// Fills in the outcomes of the report's slices. `stopped`: what the plan is for.
void AddPlan(const RecoveryPlan& plan, const std::vector<StoppedSlice>& stopped,
             HangReport* report);

}  // namespace ttfd
