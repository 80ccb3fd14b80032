// Where the card's harts spend their time, as folded stacks: "program;kernel;hart;outer;inner" and how often.
//
// On backends that can watch harts execute, whole stacks are sampled in device time; on others the harts'
// PC snapshots are read now and then, which gives the innermost function and what was inlined into it.
//
// Names of kernels and functions are clients': semicolons and unprintable characters in them are escaped as \xNN.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/card/code_map.h"
#include "runtime/command/tile_set.h"
#include "runtime/device/device.h"
#include "runtime/device/stack_sampler.h"

namespace ttfd {

struct ProfileOptions {
  uint64_t interval_clocks = 1000;                            // of whole stacks
  Duration snapshot_interval = std::chrono::milliseconds(1);  // of PC snapshots
  bool snapshots = false;                                     // even where whole stacks can be had
  bool idle = false;                                          // harts that wait for work, too
  TileSet workers;                                            // none: all, and the dispatch tiles
  // Name of a program in the profile.
  std::function<std::string(uint32_t program)> program_name;
};

struct ProfileResult {
  std::map<std::string, uint64_t> stacks;  // folded
  uint64_t samples = 0;
  uint64_t lost = 0;  // found no room: kMaxFoldedStacks, SampleOptions::max_stacks
  bool whole_stacks = false;
  uint64_t interval_clocks = 0;  // between samples, of whole stacks
};

class Profile {
 public:
  static constexpr size_t kMaxFoldedStacks = 65'536;

  // The arguments outlive it. UNIMPLEMENTED where the backend shows neither stacks nor PCs.
  static StatusOr<std::unique_ptr<Profile>> Start(Device& device, Clock& clock,
                                                  std::span<const BootPlan> plans,
                                                  const CodeMap& code,
                                                  const ProfileOptions& options);

  // Takes what was sampled; call it before the kernels that ran are forgotten.
  void Gather();
  ProfileResult Finish();

 private:
  struct TileRole {
    abi::Role role = abi::kRoleWorker;
    int32_t worker = -1;
  };

  Profile(Device& device, Clock& clock, std::span<const BootPlan> plans, const CodeMap& code,
          const ProfileOptions& options);
  bool Wanted(const TileRole& role) const;
  void Add(const StackSample& sample);
  void ReadSnapshots();
  // "kernel;hart;outer;inner".
  const std::string& Folded(abi::Role role, const StackSample& sample);

  Device& device_;
  Clock& clock_;
  const CodeMap& code_;
  const ProfileOptions options_;
  std::map<std::pair<uint32_t, uint32_t>, TileRole> roles_;  // by translated coordinate
  std::unique_ptr<StackSampler> sampler_;                    // null: PC snapshots
  TimePoint next_snapshot_{};
  ProfileResult result_;
  std::map<std::tuple<abi::Role, uint32_t, uint32_t, std::vector<uint32_t>>, std::string> folded_;
};

}  // namespace ttfd
