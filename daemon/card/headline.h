// The first line of what people read of a hang or fault: what happened to which kernel, where, at which line.
#pragma once

#include <string>
#include <string_view>

#include "daemon/hang/hang_report.h"
#include "runtime/base/status.h"

namespace ttfd {

// "kernel 'wait' hung on 2 tiles at wait.cc:5, waiting for a semaphore". The kernel is one of the offending launch,
// the line is in its own source, not in the SDK. Where there is no such launch, no kernel is named. Printable, and
// short enough to be followed by the hint.
std::string Headline(const Status& why, const HangReport& report);

// The first line for clients whose commands the reset ended: it has no names of others' kernels, and where there is no
// offending launch it says that it may have been their own kernel or an earlier one.
std::string HeadlineForOthers(const HangReport& report);

// `headline` and "; ttfdctl hang show ID"; `headline` alone if `id` is empty.
std::string WithHint(std::string_view headline, const std::string& id);

}  // namespace ttfd
