// Results of a call on the card: tensors as arrays, as files and as lines of text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "client/cli/commands.h"
#include "client/cli/npy.h"
#include "ttfd/tensor/card.h"

namespace ttfd::cli {

struct Ran {
  std::vector<tensor::Tensor> outputs;
  std::vector<NpyArray> arrays;  // of the outputs
  double ms = 0;                 // with the transfer of the outputs
  uint64_t launches = 0;
};

// Calls `run` once the card has done what was enqueued before, and reads its outputs.
client::Result<Ran> Timed(tensor::Card& card,
                          const std::function<client::Result<std::vector<tensor::Tensor>>()>& run);

// Writes the outputs to as many files; `paths` may be empty.
client::Status Save(const Ran& ran, const std::vector<std::string>& paths);

// Prints the outputs, and what they took. `what` is "operation" or "program", the key of `name` in JSON.
void Report(const Common& common, const std::string& what, const std::string& name,
            const std::vector<std::string>& paths, const Ran& ran);

}  // namespace ttfd::cli
