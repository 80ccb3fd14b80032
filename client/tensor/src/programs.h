// The programs of operations on a card. Shapes are words, so a model needs few of them.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "client/tensor/src/core_set.h"
#include "client/tensor/src/lowering.h"
#include "ttfd/session.h"

namespace ttfd::tensor {

// The kernels of a family, loaded when they are first used. The daemon has their bytes once for all who use them.
class KernelSet {
 public:
  using Kernels = std::vector<client::Kernel>;  // in the order of FamilyInfo::kernels

  explicit KernelSet(client::Session* session) : session_(session) {}

  // Valid while the set exists.
  client::Result<const Kernels*> Of(Family family);

 private:
  client::Session* session_;
  std::map<Family, Kernels> loaded_;
};

class ProgramCache {
 public:
  explicit ProgramCache(client::Session* session) : session_(session), kernels_(session) {}

  // The program of a lowering on its first cores of `cores`. Valid while the cache exists.
  client::Result<const client::Program*> Of(const Lowering& lowering, const CoreSet& cores);

  size_t size() const { return programs_.size(); }
  KernelSet& kernels() { return kernels_; }

 private:
  using Key = std::tuple<Family, uint32_t, std::vector<CircularBufferUse>>;

  client::Session* session_;
  KernelSet kernels_;
  std::map<Key, client::Program> programs_;
};

}  // namespace ttfd::tensor
