// Boot handshake: every hart says that it is ready, or why not.
#include <gtest/gtest.h>

#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_boot_test {
namespace {

TEST(FirmwareImages, AreStampedAndFitTheirPlace) {
  for (const auto images : {FirmwareImages(), FirmwareImagesSmall()}) {
    ASSERT_EQ(images.size(), 8u);
    for (const FirmwareImage& image : images) {
      EXPECT_EQ(image.protocol_version, abi::kProtocolVersion) << image.name;
      EXPECT_LE(image.bytes.size(), abi::kFirmwareBytes[image.hart]) << image.name;
      EXPECT_EQ(image.bytes.size() % 16, 0u) << image.name;
      EXPECT_EQ(image.load_address, abi::kFirmwareAddress[image.hart]) << image.name;
    }
    EXPECT_EQ(ImagesOfRole(images, abi::kRoleWorker).size(), hw::kHarts);
    EXPECT_EQ(ImagesOfRole(images, abi::kRolePrefetch).size(), 1u);
    EXPECT_EQ(ImagesOfRole(images, abi::kRoleDispatch).size(), 2u);
  }
}

class Boot : public FirmwareTest {};

TEST_F(Boot, EveryHartReportsReadyAndRests) {
  Start({});
  EXPECT_EQ(PrefetchStatus().waypoint, abi::kWaypointFetch);
  EXPECT_EQ(DispatchStatus().waypoint, abi::kWaypointIdle);
  EXPECT_EQ(DispatchSStatus().waypoint, abi::kWaypointIdle);
  for (uint32_t worker = 0; worker < bench_->worker_count(); ++worker) {
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const abi::HartStatus status = bench_->status(bench_->WorkerTile(worker), hart);
      EXPECT_EQ(status.state, abi::kHartReady);
      EXPECT_EQ(status.waypoint, abi::kWaypointGo);
      EXPECT_EQ(status.protocol_version, abi::kProtocolVersion);
    }
  }
}

TEST_F(Boot, FirmwareRefusesAHostOfAnotherProtocol) {
  BenchOptions options;
  options.version_skew = 1;
  auto bench = FirmwareBench::Create(options);
  ASSERT_OK(bench.status());
  bench_ = *std::move(bench);
  for (const hw::Coordinate at :
       {FirmwareBench::kPrefetchTile, FirmwareBench::kDispatchTile, bench_->WorkerTile(0)}) {
    ASSERT_OK(bench_->Release(at, hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
    const abi::HartStatus status = bench_->status(at, hw::kBrisc);
    EXPECT_EQ(status.state, abi::kHartRefused);
    EXPECT_EQ(status.protocol_version, abi::kProtocolVersion) << "the firmware's own";
    EXPECT_EQ(status.waypoint, abi::kWaypointBoot);
  }
}

TEST_F(Boot, FirmwareRefusesABootBlockThatIsNotThere) {
  auto bench = FirmwareBench::Create({});
  ASSERT_OK(bench.status());
  bench_ = *std::move(bench);
  const hw::Coordinate at = bench_->WorkerTile(0);
  bench_->SetWord(at, abi::kBootBlockAddress, 0);
  ASSERT_OK(bench_->Release(at, hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
  EXPECT_EQ(bench_->status(at, hw::kBrisc).state, abi::kHartRefused);
}

TEST_F(Boot, AWordOfTheBootBlockThatCannotWorkIsNamed) {
  auto bench = FirmwareBench::Create({});
  ASSERT_OK(bench.status());
  bench_ = *std::move(bench);
  const hw::Coordinate at = FirmwareBench::kDispatchTile;
  constexpr uint32_t kOffset = offsetof(abi::BootBlock, dispatch_ring_pages);
  bench_->SetWord(at, abi::kBootBlockAddress + kOffset, 2);
  ASSERT_OK(bench_->Release(at, hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
  const abi::HartStatus status = bench_->status(at, hw::kBrisc);
  EXPECT_EQ(status.state, abi::kHartFaulted);
  EXPECT_EQ(status.fault_code, abi::kFaultBadBootBlock);
  EXPECT_EQ(status.fault_detail[0], kOffset / 4);
  EXPECT_EQ(status.fault_detail[1], 2u);
}

}  // namespace
}  // namespace ttfd::testing::firmware_boot_test
