// Describes a card that hung or faulted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/hang/hang_report.h"
#include "daemon/session/slice.h"
#include "runtime/base/status.h"
#include "runtime/card/card.h"

namespace ttfd {

// The hart that stopped the card, or that its own firmware stopped; null: none did.
const HartReport* FaultedHart(const StallReport& stall);

// Summary of the stall, in one sentence that any client may read: no names of others' code.
std::string StallSummary(const Status& why, const StallReport& stall);

// Where the harts stand, with the code that lies there, those that run kernels first; and which
// firmware was overwritten. Lines, for an error's message: harts of which the same is to be said have one, with
// their number. `said` is not repeated. Empty: nothing more is known.
std::string StallPlaces(const StallReport& stall, std::string_view said);

// The same of a report, for the session of the offending launch: kernels of other sessions have no name and no symbol.
// With all names, for administrators, if there is no such launch.
std::string PlacesFor(const HangReport& report);

// "program 42 of session 3 (...)"
std::string RunnerText(const Slice& slice);

// Behind the first line of an error: the summary, which launch it was (null: none is known), of damage which launches
// ended last, and the places.
std::string StallDetails(const HangReport& report, const Slice* offender);

// `text` with "; " between its lines.
std::string OnOneLine(std::string_view text);

// Fills in summary, places and reason.
void DescribeStall(const Status& why, HangReport* report);

// Fills in what came of the reset.
void DescribeRecovery(const Status& recovered, HangReport* report);

}  // namespace ttfd
