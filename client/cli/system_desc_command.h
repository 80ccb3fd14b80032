// ttfdctl system-desc: the daemon's card, described for the tt-mlir compiler.
#pragma once

#include <string>

#include "client/cli/commands.h"
#include "ttfd/ttmlir/system_description.h"

namespace ttfd::cli {

struct SystemDescArguments {
  std::string output;
  ttmlir::DescriptionOptions description;
};

int DescribeSystem(const Common& common, const SystemDescArguments& arguments);

}  // namespace ttfd::cli
