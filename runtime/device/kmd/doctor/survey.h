// Finds the facts. Nothing here judges them.
#pragma once

#include <string>

#include "runtime/base/clock.h"
#include "runtime/device/kmd/doctor/facts.h"
#include "runtime/device/kmd/system.h"

namespace ttfd::kmd {

// Waits for moving heartbeats for 2 s at most, for all cards together.
HostFacts Survey(Kernel& kernel, Files& files, Clock& clock);

// Parts of Survey. `folder` is that of the PCI device in /sys.
PciFacts SurveyPci(Files& files, const std::string& address);
FirmwareFacts SurveyFirmware(Files& files, const std::string& telemetry_folder);
SensorFacts SurveySensors(Files& files, const std::string& folder);
PageFacts SurveyPages(Files& files, const std::string& folder);
HugetlbLimits SurveyHugetlb(Files& files);
// Closes the node again. `number` is N of /dev/tenstorrent/N.
NodeFacts SurveyNode(Kernel& kernel, Files& files, const std::string& number);

}  // namespace ttfd::kmd
