// Answers of the daemon to GDB's "monitor" command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/card/card_probe.h"

namespace ttfd {

// "kernels": the kernels on the workers, each with the command that makes GDB know it. Anything else: what there is.
std::string AnswerMonitor(std::string_view words, const CardProbe& card);

}  // namespace ttfd
