// ttfdctl op: operations on tensors, from the command line.
#pragma once

#include <string>
#include <vector>

#include "client/cli/commands.h"

namespace ttfd::cli {

// As on the command line; ttfdctl op --help explains each.
struct OpArguments {
  bool list = false;  // without a daemon; nothing below is used
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;  // NAME=VALUE
  std::string dtype = "bfloat16";       // of the inputs
};

int Operate(const Common& common, const OpArguments& arguments);

}  // namespace ttfd::cli
