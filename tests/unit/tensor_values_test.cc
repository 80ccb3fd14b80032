// Specifications of tensors, sets of cores, shares of launches: values without a card.
#include <gtest/gtest.h>

#include "client/tensor/src/core_set.h"
#include "client/tensor/src/elements.h"
#include "client/tensor/src/lowering.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor::tensor_values_test {
namespace {

using client::CoreRange;

TEST(TensorSpec, ChecksShapeAndLayout) {
  const std::pair<TensorSpec, const char*> cases[] = {
      {{{}}, "a shape has 1 to 8 extents, not 0"},
      {{{1, 1, 1, 1, 1, 1, 1, 1, 1}}, "a shape has 1 to 8 extents, not 9"},
      {{{2, 0, 3}}, "extents are at least 1: [2, 0, 3]"},
      {{{0, 3}}, "extents are at least 1: [0, 3]"},
      {{{32, 32}, DType::kBfp8, Layout::kRowMajor}, "bfp8 has layout tile only, not row_major"},
      {{{4294967295, 4294967295, 4294967295}},
       "a tensor of [4294967295, 4294967295, 4294967295] needs more than 68719476736 bytes"},
      {{{7}}, ""},
      {{{524288, 32768}}, ""},
  };
  for (const auto& [spec, message] : cases) {
    EXPECT_EQ(spec.Check().message(), message) << spec.ToString();
  }
}

TEST(TensorSpec, CountsPagesAndBytes) {
  const TensorSpec tiles = {{3, 33, 70}, DType::kBfp8};
  EXPECT_EQ(tiles.tiles(), 3u * 2 * 3);
  EXPECT_EQ(tiles.page_bytes(), 1088u);
  EXPECT_EQ(tiles.size_bytes(), 18u * 1088);
  const TensorSpec rows = {{3, 33, 70}, DType::kBFloat16, Layout::kRowMajor};
  EXPECT_EQ(rows.page_bytes(), 192u);  // 140, on whole multiples of 64
  EXPECT_EQ(rows.size_bytes(), 99u * 192);
}

TEST(TensorElements, ComeBackInBothLayouts) {
  for (const Layout layout : {Layout::kTile, Layout::kRowMajor}) {
    for (const DType dtype : {DType::kBFloat16, DType::kFloat32}) {
      const TensorSpec spec = {{2, 3, 35, 50}, dtype, layout};
      std::vector<float> elements(spec.shape.elements());
      for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i % 251) - 100;
      const std::vector<std::byte> pages = PagesOf(elements, spec);
      EXPECT_EQ(pages.size(), spec.size_bytes());
      std::vector<float> back(elements.size());
      StoreElements(pages, spec, back);
      EXPECT_EQ(back, elements) << spec.ToString();
    }
  }
}

TEST(TensorElements, OfABatchBeginAtWholeTiles) {
  const TensorSpec spec = {{2, 2, 2}, DType::kFloat32};
  const std::vector<float> elements = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<std::byte> pages = PagesOf(elements, spec);
  float first = 0;
  std::memcpy(&first, &pages[4096], sizeof(first));
  EXPECT_EQ(first, 5);
  std::memcpy(&first, &pages[4096 + 2 * sizeof(float)], sizeof(first));
  EXPECT_EQ(first, 0);  // padding
}

struct CoresCase {
  std::vector<CoreRange> ranges;
  uint32_t count;
  std::vector<CoreRange> first;
  uint32_t shape;
  std::vector<uint32_t> bitmap;
};

TEST(TensorCores, AreARectangleOrABitmap) {
  const CoresCase cases[] = {
      {{}, 130, {{0, 0, 12, 9}}, 13u << 16, {}},
      {{}, 16, {{0, 0, 12, 0}, {0, 1, 2, 1}}, 13u << 16, {}},
      {{}, 5, {{0, 0, 4, 0}}, 5u << 16, {}},
      {{{3, 2, 4, 4}}, 5, {{3, 2, 4, 3}, {3, 4, 3, 4}}, 3 | 2 << 8 | 2 << 16, {}},
      {{{5, 5, 5, 6}, {1, 1, 2, 1}},
       4,
       {{1, 1, 2, 1}, {5, 5, 5, 6}},
       0,
       {6u << 16, 0, 0x20u << 16, 0x20, 0}},
      {{{5, 5, 5, 6}, {1, 1, 2, 1}}, 2, {{1, 1, 2, 1}}, 1 | 1 << 8 | 2 << 16, {}},
  };
  for (const CoresCase& given : cases) {
    const client::Result<CoreSet> set = CoreSet::Make(given.ranges, 13, 10);
    ASSERT_TRUE(set.ok()) << set.status().ToString();
    EXPECT_EQ(set->Ranges(given.count), given.first) << given.count;
    EXPECT_EQ(set->WordsOf(given.count).shape, given.shape) << given.count;
    EXPECT_EQ(set->WordsOf(given.count).bitmap, given.bitmap) << given.count;
  }
}

TEST(TensorCores, AreRefusedTwiceOrOutside) {
  const std::pair<std::vector<CoreRange>, const char*> cases[] = {
      {{{0, 0, 13, 0}}, "cores (0,0)-(13,0) are not a rectangle of the grid of 13 x 10"},
      {{{2, 1, 1, 1}}, "cores (2,1)-(1,1) are not a rectangle of the grid of 13 x 10"},
      {{{0, 0, 3, 3}, {3, 3, 4, 4}}, "core (3,3) is in two ranges"},
  };
  for (const auto& [ranges, message] : cases) {
    EXPECT_EQ(CoreSet::Make(ranges, 13, 10).status().message(), message);
  }
  EXPECT_FALSE(CoreSet::Make({}, 17, 10).ok());
}

TEST(TensorLaunches, CoverAllItemsOnce) {
  const CardLimits limits = {.cores = 12, .circular_buffer_bytes = 0, .launch_products = 100};
  const client::Result<CoreSet> cores = CoreSet::Make({}, 4, 3);
  for (const uint64_t items : {1, 5, 12, 13, 99, 1000}) {
    for (const uint64_t products : {1, 7, 50, 1000}) {
      Lowering lowering;
      Divide(items, products, limits, &lowering);
      EXPECT_LE(lowering.cores, std::min<uint64_t>(items, limits.cores));
      EXPECT_TRUE(lowering.items_per_launch * products <= limits.launch_products ||
                  lowering.items_per_launch == 1);
      uint32_t next = 0;
      for (uint32_t i = 0; i < lowering.launches(); ++i) {
        const KernelWords kernel = {std::vector<uint32_t>(sizeof(ops::Cores) / 4), {}};
        const std::vector<uint32_t> words = LaunchWords(lowering, kernel, i, *cores);
        EXPECT_EQ(words[offsetof(ops::Cores, count) / 4], lowering.cores);
        EXPECT_EQ(words[offsetof(ops::Cores, first) / 4], next);
        next = words[offsetof(ops::Cores, end) / 4];
      }
      EXPECT_EQ(next, items);
    }
  }
}

}  // namespace
}  // namespace ttfd::tensor::tensor_values_test
