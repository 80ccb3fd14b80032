// ttfdctl doctor: this host, examined for serving a card. The only command that needs no daemon.
#pragma once

#include "client/cli/commands.h"
#include "runtime/device/kmd/doctor/doctor.h"

namespace ttfd::cli {

// Prints a report as a table or as JSON, and returns its exit code.
int PrintReport(const Common& common, const kmd::DoctorReport& report);

int ExamineThisHost(const Common& common);

}  // namespace ttfd::cli
