// Examines this host for serving a Blackhole card: a report of checks, each with what was found and, where something is
// wrong, its cause, its fix and its exit code.
//
// Reads files in /sys, /proc and /dev, and opens each card's node for three calls that change nothing (which device,
// which driver, is the lock flag taken). Maps no window and resets nothing; drivers from 2.6 on give an idle card power
// while its node is open. Needs no daemon, and does not disturb one. Never run against silicon.
//
// Plain types only: ttfdctl, which is a client, includes this header and no other of runtime/.
#pragma once

#include <string>
#include <vector>

namespace ttfd {

class Clock;

namespace kmd {

class Files;
class Kernel;

enum class CheckResult {
  kOk,
  kInUse,    // a process serves the card already: as it should be where a ttfd runs
  kWarning,  // the card can be served, with a drawback
  kFailed,   // the card cannot be served
  kSkipped,  // cannot be judged because of an earlier check, which `found` names
  kUnknown,  // a file that cannot be read, or a call that was refused
};
// Name of a result: "ok", "in use", "warning" ...
std::string CheckResultName(CheckResult result);

struct DoctorCheck {
  std::string name;
  CheckResult result = CheckResult::kOk;
  std::string found;
  // Cause, fix and exit code of kWarning and kFailed; else empty and 0.
  std::string cause;
  std::string fix;
  int exit_code = 0;  // a Problem (runtime/device/problem.h)
};

struct DoctorCard {
  std::string pci_address;  // "0000:03:00.0"
  std::string node;         // "/dev/tenstorrent/0"; empty: the driver has made none
  std::vector<DoctorCheck> checks;
};

struct DoctorReport {
  std::vector<DoctorCheck> host;
  std::vector<DoctorCard> cards;
  int exit_code = 0;  // the lowest of all checks, but 0
};

// Examines the system it runs on. Waits up to 2 s where a card's heartbeat does not move.
DoctorReport ExamineHost();

// Examines a system through the seam of the backend (runtime/device/kmd/system.h).
DoctorReport Examine(Kernel& kernel, Files& files, Clock& clock);

}  // namespace kmd
}  // namespace ttfd
