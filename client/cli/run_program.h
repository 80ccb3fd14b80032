// ttfdctl run FILE of a compiled program: arrays from files become its inputs, its outputs become files.
#pragma once

#include <string>
#include <vector>

#include "client/cli/commands.h"

namespace ttfd::cli {

// As on the command line; ttfdctl run --help explains each.
struct ProgramOptions {
  std::string program;  // a name or an index; empty: the first one that is not private
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string profiles;  // a folder; empty: of this installation
  bool allow_native = false;
  std::string check;  // "golden": compares with the file's golden tensors
};

// Whether the file is one of the tt-mlir compiler.
bool IsCompiledProgram(const std::string& path);

int RunProgram(const Common& common, const std::string& file, const ProgramOptions& options);

}  // namespace ttfd::cli
