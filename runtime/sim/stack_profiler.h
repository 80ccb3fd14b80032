// Samples the call stacks of all harts every so many clocks: equal runs give equal samples.
//
// It follows calls and returns: JAL and JALR that link push where they will return to, JALR through a link
// register that does not link returns. A call in tail position replaces its caller. Harts that sleep are
// sampled where they wait; they cost nothing until they wake.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "runtime/sim/chip.h"
#include "runtime/sim/inspector.h"

namespace ttfd::sim {

class StackProfiler final : public Inspector {
 public:
  // Frames of a stack; calls further in are not told apart.
  static constexpr size_t kMaxFrames = 64;

  struct Options {
    uint64_t interval = 1000;
    size_t max_stacks = 0;
    uint32_t program_address = 0;
    uint32_t state_address = 0;
    uint32_t state_stride = 0;
  };
  // Properties that equal samples have in common.
  struct Key {
    hw::Coordinate tile = {0, 0};
    uint32_t hart = 0;
    uint32_t program_word = 0;
    uint32_t state_word = 0;
    bool sleeps = false;
    std::vector<uint32_t> stack;
    bool operator<(const Key& other) const;
  };
  using Samples = std::map<Key, uint64_t>;

  // Attaches itself to `chip`, which outlives it, until it is destroyed.
  StackProfiler(Chip& chip, const Options& options);
  ~StackProfiler() override;

  // Samples since the last call; `lost` grows by those that found no space.
  Samples Take(uint64_t* lost);

  bool BeforeInstruction(const Hart& hart, uint32_t word) override;
  void OnState(const Hart& hart) override;
  void OnReset() override;

 private:
  struct Track {
    bool runs = false;  // out of reset
    bool sleeps = false;
    uint64_t due = 0;               // the next sample
    std::vector<uint32_t> returns;  // the outermost first
  };

  void Begin();
  Track& Of(const Hart& hart);
  // Takes the samples that are due at `clock`.
  void Sample(const Hart& hart, Track& track, uint64_t clock);
  static void Follow(const Hart& hart, uint32_t word, Track* track);

  Chip& chip_;
  const Options options_;
  std::unordered_map<const Hart*, Track> tracks_;
  const Hart* last_hart_ = nullptr;  // and its track: a hart executes many instructions in a row
  Track* last_track_ = nullptr;
  Samples samples_;
  uint64_t lost_ = 0;
};

}  // namespace ttfd::sim
