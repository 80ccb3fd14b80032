// The commands that take or write files of users: run, op, inspect, system-desc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "client/cli/commands.h"
#include "client/cli/inspect_command.h"
#include "client/cli/op_command.h"
#include "client/cli/run_program.h"
#include "client/cli/system_desc_command.h"

namespace ttfd::cli {

// Arguments of `run`: of a kernel, or of a compiled program.
struct RunArguments {
  RunOptions kernel;
  ProgramOptions program;
};

struct FileArguments {
  RunArguments run;
  OpArguments op;
  InspectArguments inspect;
  SystemDescArguments system_desc;
};

// Adds the commands; the one that is parsed becomes `run`. Everything outlives the app.
void AddFileCommands(CLI::App* app, const Common& common, FileArguments* arguments,
                     std::function<int()>* run);

}  // namespace ttfd::cli
