// Pages of a DRAM buffer that "bump" kernels add to: a lost ordering, a lost launch or one too many
// shows as a wrong sum.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/booted_card.h"
#include "tests/support/test_kernels.h"

namespace ttfd {

class BumpCounters {
 public:
  static constexpr uint32_t kBase = 0x40000;
  static constexpr uint32_t kPage = 64;

  explicit BumpCounters(BootedCard& card)
      : card_(card), grid_(card->description().grid), image_(TestKernel("bump_brisc")) {
    expected.resize(grid_.x * grid_.y);
  }

  std::shared_ptr<const Program> ProgramOn(const CoreRange& cores) const {
    ProgramSpec spec;
    spec.kernels.push_back({image_, hw::kBrisc, {cores}});
    return TestProgram(spec, grid_);
  }
  // Adds `value` on each of the tiles, each to its own page, `clocks` after its start. `padding`: more
  // common words.
  LaunchCommand Launch(const std::shared_ptr<const Program>& program, const CoreRange& cores,
                       uint32_t value, uint32_t clocks = 0, uint32_t padding = 0) const {
    LaunchCommand launch{program, {KernelArguments{}}};
    KernelArguments& arguments = launch.arguments[0];
    arguments.common = {kBase, kPage, value, clocks};
    arguments.common.resize(4 + padding);
    arguments.words_per_core = 1;
    for (uint32_t y = cores.y0; y <= cores.y1; ++y) {
      for (uint32_t x = cores.x0; x <= cores.x1; ++x) {
        arguments.per_core.push_back(y * grid_.x + x);
      }
    }
    return launch;
  }
  // Such a launch will run.
  void Expect(const CoreRange& cores, uint32_t value) {
    for (uint32_t y = cores.y0; y <= cores.y1; ++y) {
      for (uint32_t x = cores.x0; x <= cores.x1; ++x) expected[y * grid_.x + x] += value;
    }
  }
  Status Add(const std::shared_ptr<const Program>& program, const CoreRange& cores, uint32_t value,
             uint32_t clocks = 0, uint32_t padding = 0) {
    Expect(cores, value);
    return card_.Submit(Launch(program, cores, value, clocks, padding));
  }

  // Sets all pages to zero. For after a boot: the reset of a simulator library empties its memory.
  Status Reset() {
    expected.assign(expected.size(), 0);
    RETURN_IF_ERROR(card_.Write(region(), 0, std::vector<std::byte>(region().size_bytes)));
    return card_.Finish();
  }

  Region region() const { return {MemoryKind::kDram, -1, kBase, kPage, expected.size() * kPage}; }
  void ExpectRight() {
    const auto bytes = card_.Read(region(), 0, region().size_bytes);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(LoadAt<uint32_t>(bytes->data() + i * kPage), expected[i]) << "tile " << i;
    }
  }

  std::vector<uint32_t> expected;

 private:
  BootedCard& card_;
  const GridSize grid_;
  const std::shared_ptr<const KernelImage> image_;
};

}  // namespace ttfd
