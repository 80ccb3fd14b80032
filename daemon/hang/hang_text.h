// A hang report in writing: JSON for programs, text for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/hang/hang_report.h"

namespace ttfd {

// Host's records, from before the card is read: operations on it with their clients, progress of each hardware queue.
std::string HostSideJson(const HangReport& report);
// The records that were announced to the card and not known to be done, decoded.
std::string RecordsText(const HangReport& report);
std::string LogText(const HangReport& report);
// State that the card showed: stage, harts with waypoints and places in the code, counts of tiles and streams.
std::string DeviceSideJson(const HangReport& report);
// Everything but records and log.
std::string WholeJson(const HangReport& report);
// The same for people, records and log included.
std::string WholeText(const HangReport& report);

// A client as an object of fields.
nlohmann::ordered_json ClientJson(const SessionClient& client);
// The text of a file. Names of clients may be any bytes: what is not UTF-8 becomes U+FFFD. ASCII alone, because the
// file is also shown on terminals, which some other characters control.
std::string JsonText(const nlohmann::ordered_json& json);

// "2026-11-21T11:51:06.250Z"
std::string TimeText(std::chrono::system_clock::time_point time);

}  // namespace ttfd
