// What the facts mean: a function for each check, without side effects. Which is on which facts: docs/ttfdctl.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/device/kmd/doctor/doctor.h"
#include "runtime/device/kmd/doctor/facts.h"
#include "runtime/device/problem.h"

namespace ttfd::kmd {

// All of them.
DoctorReport Judge(const HostFacts& host);

DoctorCheck CheckCards(const HostFacts& host);
DoctorCheck CheckDriver(const HostFacts& host);
DoctorCheck CheckVersion(const HostFacts& host);

DoctorCheck CheckBinding(const HostFacts& host, const CardFacts& card);
DoctorCheck CheckNode(const HostFacts& host, const CardFacts& card);
DoctorCheck CheckIommu(const CardFacts& card);
// Hugepages that the cards before will use: of a NUMA node (-1: of all), of 1 GiB and of 2 MiB.
struct PageClaim {
  uint64_t giant = 0;
  uint64_t huge = 0;
};
using PageClaims = std::map<int, PageClaim>;
DoctorCheck CheckHugepages(const CardFacts& card, PageClaims* claims);
DoctorCheck CheckHugetlbLimit(const HostFacts& host, const CardFacts& card);
DoctorCheck CheckLink(const CardFacts& card);
DoctorCheck CheckFirmware(const HostFacts& host, const CardFacts& card);
DoctorCheck CheckFirmwareVersion(const CardFacts& card);
DoctorCheck CheckTemperature(const CardFacts& card);
DoctorCheck CheckUsers(const CardFacts& card);
DoctorCheck CheckSensors(const HostFacts& host, const CardFacts& card);

// Results. A problem is a warning or a failure by its number.
DoctorCheck Found(const char* name, CheckResult result, std::string found);
struct Remedy {
  std::string cause;
  std::string fix;
};
DoctorCheck Wrong(const char* name, Problem problem, std::string found, Remedy remedy);

// None: neither the module nor a node names it.
std::optional<DriverVersion> VersionOf(const HostFacts& host);
// The processes as "pid 412 (ttfd), pid 900 (python3)".
std::string ProcessesText(const std::vector<Process>& processes);
// False also if the processes that have the card open may have pages: whether one of them serves it is not known.
bool PagesAreFreeToCount(const NodeFacts& node);

}  // namespace ttfd::kmd
