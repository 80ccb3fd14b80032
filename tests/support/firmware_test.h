// GoogleTest's side of the firmware bench: a booted fixture and short ways to check it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/abi/l1_map.h"
#include "tests/support/firmware_bench.h"

#define ASSERT_OK(expression)                                          \
  do {                                                                 \
    const ::ttfd::Status& ttfd_test_status = (expression);             \
    ASSERT_TRUE(ttfd_test_status.ok()) << ttfd_test_status.ToString(); \
  } while (false)

namespace ttfd::testing {

inline std::vector<std::byte> Pattern(size_t size, uint32_t seed) {
  std::vector<std::byte> bytes(size);
  uint32_t state = seed * 2654435761u + 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

// Boots in SetUp; checks in TearDown that every ring is at rest: as many pages came back as went out.
class FirmwareTest : public ::testing::Test {
 protected:
  void Start(const BenchOptions& options) {
    auto bench = FirmwareBench::Create(options);
    ASSERT_OK(bench.status());
    bench_ = *std::move(bench);
    ASSERT_OK(bench_->Boot());
  }

  void ExpectAtRest() {
    using abi::ControlBlock;
    EXPECT_EQ(PrefetchCounter(offsetof(ControlBlock, dispatch_pages_returned)),
              DispatchCounter(offsetof(ControlBlock, dispatch_pages_arrived)));
    EXPECT_EQ(PrefetchCounter(offsetof(ControlBlock, dispatch_s_pages_returned)),
              DispatchCounter(offsetof(ControlBlock, dispatch_s_pages_arrived)));
    EXPECT_EQ(bench_->completion_pointer().pages_written, bench_->completion_pages_taken());
  }

  uint32_t PrefetchCounter(size_t offset) {
    return bench_->counter(FirmwareBench::kPrefetchTile, offset);
  }
  uint32_t DispatchCounter(size_t offset) {
    return bench_->counter(FirmwareBench::kDispatchTile, offset);
  }
  abi::HartStatus PrefetchStatus() {
    return bench_->status(FirmwareBench::kPrefetchTile, hw::kBrisc);
  }
  abi::HartStatus DispatchStatus() {
    return bench_->status(FirmwareBench::kDispatchTile, hw::kBrisc);
  }
  abi::HartStatus DispatchSStatus() {
    return bench_->status(FirmwareBench::kDispatchTile, hw::kNcrisc);
  }

  std::unique_ptr<FirmwareBench> bench_;
};

// The promises hold at both optimisation levels, with roomy rings and with rings that always wrap.
struct Variant {
  const char* name;
  bool small_code;
  bool tiny_rings;

  BenchOptions options() const {
    BenchOptions options = tiny_rings ? TinyRings() : BenchOptions{};
    options.images = small_code ? FirmwareImagesSmall() : FirmwareImages();
    return options;
  }
};

inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

inline constexpr Variant kVariants[] = {
    {"O2", false, false}, {"O2Tiny", false, true}, {"Os", true, false}, {"OsTiny", true, true}};

class FirmwareVariantTest : public FirmwareTest, public ::testing::WithParamInterface<Variant> {
 protected:
  void SetUp() override { Start(GetParam().options()); }
  void TearDown() override {
    if (!HasFatalFailure()) ExpectAtRest();
  }
};

#define TTFD_INSTANTIATE_VARIANTS(suite)                                    \
  INSTANTIATE_TEST_SUITE_P(Firmware, suite, ::testing::ValuesIn(kVariants), \
                           [](const auto& variant) { return std::string(variant.param.name); })

}  // namespace ttfd::testing
