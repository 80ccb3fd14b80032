// The sets of inner loops of the Tensix engine have the same bits. Those of the portable set are compared with the
// official simulator's in tests/peer.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "runtime/sim/tensix/lane_math.h"
#include "runtime/sim/tensix/lanes_choice.h"
#include "tests/support/random.h"

namespace ttfd::sim::tensix::sim_lanes_test {
namespace {

constexpr uint32_t kPrograms = 3000;

// Operands as programs have them and as they should never have them: with few exponents, with all, or with those at
// both ends.
uint32_t RandomFloat(Random& random, uint32_t kind) {
  static constexpr uint32_t kEnds[] = {0, 1, 2, 126, 127, 128, 253, 254, 255};
  const uint32_t exponent = kind == 0   ? random() % 256
                            : kind == 1 ? 100 + random() % 40
                            : kind == 2 ? kEnds[random() % std::size(kEnds)]
                                        : (random() % 4 == 0 ? 0 : 124 + random() % 8);
  return (random() & 0x807FFFFF) | exponent << 23;
}

class LaneSets : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const StatusOr<const LaneKernels*> found = FindLaneKernels(GetParam());
    if (!found.ok()) GTEST_SKIP() << StatusMessage(found.status());
    set_ = *found;
  }

  const LaneKernels& portable_ = **FindLaneKernels("portable");
  const LaneKernels* set_ = nullptr;
  Random random_{1};
};

TEST_P(LaneSets, MatrixUnitHasThePortableBits) {
  SourceRow a[64], b[64];
  Halves halves[2][2];
  DstRow dst[2][16];
  for (uint32_t program = 0; program < kPrograms; ++program) {
    const uint32_t kind = random_() % 4;
    const uint32_t precision = random_() % 2 != 0 ? 0xFFFFE000 : 0xFFFF0000;
    for (uint32_t i = 0; i < 64 * 16; ++i) {
      a[i / 16][i % 16] = RandomFloat(random_, kind) & precision;
      b[i / 16][i % 16] = RandomFloat(random_, kind) & precision;
    }
    const bool is_32_bit = random_() % 2 != 0;
    for (auto& row : dst[0]) {
      for (uint16_t& half : row) half = static_cast<uint16_t>(RandomFloat(random_, kind) >> 16);
    }
    std::memcpy(dst[1], dst[0], sizeof(dst[0]));
    const uint32_t row_a = random_() % 4 * 16, row_b = random_() % 8 * 8, phase = random_() % 4;
    const uint32_t rows = random_() % 2 != 0 ? 8 : 4;
    const Broadcast broadcast = {random_() % 2 != 0, random_() % 2 != 0};
    const uint32_t operation = random_() % 3;
    const bool subtract = random_() % 2 != 0, accumulate = random_() % 2 != 0;
    for (uint32_t i = 0; i < 2; ++i) {
      const LaneKernels& set = i == 0 ? portable_ : *set_;
      const DstBlock block = {dst[i], is_32_bit ? dst[i] + 8 : nullptr};
      set.derive(a, true, &halves[i][0]);
      set.derive(b, false, &halves[i][1]);
      if (operation == 0) {
        set.multiply_matrix(halves[i][0], row_a, halves[i][1], row_b, rows, phase, block);
      } else if (operation == 1) {
        set.multiply_elements(halves[i][0], row_b, halves[i][1], row_b, broadcast, phase, block);
      } else {
        set.add_elements(a + row_b, b + row_b, broadcast, subtract, accumulate, block);
      }
    }
    ASSERT_EQ(std::memcmp(halves[0], halves[1], sizeof(halves[0])), 0) << program;
    ASSERT_EQ(std::memcmp(dst[0], dst[1], sizeof(dst[0])), 0)
        << "program " << program << " operation " << operation << " phase " << phase;
  }
}

TEST_P(LaneSets, VectorUnitHasThePortableBits) {
  for (uint32_t program = 0; program < 20 * kPrograms; ++program) {
    const uint32_t kind = random_() % 4;
    const bool same = random_() % 2 !=
                      0;  // in all lanes: a fast way is for vectors of which every lane may take it
    uint32_t x[32], y[32], z[32], active[32], results[2][32];
    for (uint32_t lane = 0; lane < 32; ++lane) {
      x[lane] = RandomFloat(random_, kind);
      y[lane] = random_() % 4 == 0 ? 0x3F800000 : RandomFloat(random_, kind);
      // Often what cancels most of the product.
      z[lane] = random_() % 2 != 0 ? RandomFloat(random_, kind)
                                   : MultiplyAdd(x[lane], y[lane] ^ 0x80000000, 0) + random_() % 8;
    }
    if (same) {
      for (uint32_t lane = 1; lane < 32; ++lane) x[lane] = x[0], y[lane] = y[0], z[lane] = z[0];
    }
    for (uint32_t lane = 0; lane < 32; ++lane) {
      active[lane] = random_() % 8 != 0 ? ~0u : 0;
      results[0][lane] = results[1][lane] = random_();
    }
    portable_.multiply_add(x, y, z, active, results[0]);
    set_->multiply_add(x, y, z, active, results[1]);
    ASSERT_EQ(std::memcmp(results[0], results[1], sizeof(results[0])), 0) << program;
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, LaneSets, testing::Values("avx2", "avx512"),
                         [](const auto& set) { return std::string(set.param); });

TEST(LaneChoice, RefusesOtherNames) {
  EXPECT_TRUE(FindLaneKernels("").ok());
  EXPECT_EQ(FindLaneKernels("sse9").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ttfd::sim::tensix::sim_lanes_test
