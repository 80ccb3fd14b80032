// ttfdctl inspect: what a file of the tt-mlir compiler contains, without a daemon.
#pragma once

#include <string>

#include "client/cli/commands.h"

namespace ttfd::cli {

// As on the command line; ttfdctl inspect --help explains each.
struct InspectArguments {
  bool list = false;  // the operations that run; nothing below is used
  std::string file;
  bool operations = false;
  bool kernels = false;
  bool support = false;
  std::string as;        // "python"; empty: tables
  std::string program;   // only this one: a name or an index; empty: all
  std::string profiles;  // a folder; empty: of this installation
};

int Inspect(const Common& common, const InspectArguments& arguments);

}  // namespace ttfd::cli
