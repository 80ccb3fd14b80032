// Opening a node: what is refused, with which sentence, and what is made of what the driver answers.
#include <unistd.h>

#include "runtime/device/kmd/errors.h"
#include "runtime/hw/tensix.h"
#include "tests/support/kmd_fixture.h"
#include "tests/support/rv32_asm.h"

namespace ttfd::kmd_open_test {
namespace {

using kmd::DriverVersion;

TEST(KmdVersion, IsReadFromText) {
  const struct {
    const char* text;
    std::optional<DriverVersion> version;
  } kCases[] = {
      {"2.10.0", DriverVersion{2, 10, 0}},
      {"2.10.1-pre", DriverVersion{2, 10, 1}},
      {"1.34", DriverVersion{1, 34, 0}},
      {"2.4.1", DriverVersion{2, 4, 1}},
      {"", std::nullopt},
      {"2", std::nullopt},
      {"2.", std::nullopt},
      {"2.x.1", std::nullopt},
      {"2.1.3.4", std::nullopt},
  };
  for (const auto& [text, version] : kCases) {
    EXPECT_EQ(kmd::ParseDriverVersion(text), version) << text;
  }
}

TEST(KmdVersion, LimitsShrinkUntilTheRecommendedVersion) {
  const struct {
    DriverVersion version;
    size_t limits;
  } kCases[] = {{{2, 0, 0}, 5}, {{2, 1, 9}, 5}, {{2, 2, 0}, 4}, {{2, 4, 0}, 4},
                {{2, 4, 1}, 3}, {{2, 6, 0}, 1}, {{2, 7, 0}, 0}, {{2, 10, 0}, 0}};
  for (const auto& [version, limits] : kCases) {
    EXPECT_EQ(kmd::LimitsOf(version).size(), limits) << version.ToString();
  }
  EXPECT_EQ(kmd::LimitsOf({2, 6, 3})[0],
            "driver 2.6.3: accesses to a card that was reset may hang instead of failing (fixed in "
            "2.7.0)");
}

class KmdOpen : public KmdTest {};

TEST_F(KmdOpen, DriversBefore2AreRefusedByName) {
  for (const DriverVersion& version : {DriverVersion{1, 31, 0}, DriverVersion{1, 34, 0}}) {
    Prepare({.version = version});
    ExpectRefusal(TryOpen().status(), Problem::kDriverTooOld,
                  "the tenstorrent driver is " + version.ToString() +
                      ", but 2.0.0 or later is needed: install");
    EXPECT_EQ(standin().open_files(), 0u);
  }
  for (const DriverVersion& version :
       {DriverVersion{2, 0, 0}, DriverVersion{2, 10, 0}, DriverVersion{3, 0, 0}}) {
    Open({.version = version});
  }
}

TEST_F(KmdOpen, WhatTheSystemRefusesNamesTheRemedy) {
  const struct {
    StandinOptions options;
    int open_error;
    Problem problem;
    const char* says;
  } kCases[] = {
      {{.module_loaded = false},
       0,
       Problem::kNoDriver,
       "no tenstorrent driver is loaded: install tt-kmd"},
      {{}, ENOENT, Problem::kNoCard, "though driver 2.10.0 is loaded: choose"},
      {{}, EACCES, Problem::kNoPermission, "udev rule"},
      {{}, EPERM, Problem::kNoPermission, "container"},
      {{}, EAGAIN, Problem::kHeld, "held by another process: stop it"},
      {{}, ENODEV, Problem::kCardLost, "once it is back"},
      {{}, EMFILE, Problem::kDriverRefused, "raise the limit of open files"},
      {{}, EIO, Problem::kDriverRefused, "see dmesg"},
      {{.device_id = 0x401E},
       0,
       Problem::kOtherDevice,
       "is a Wormhole card (PCI id 1e52:401e), but only Blackhole cards"},
      {{.device_id = 0xFACA}, 0, Problem::kOtherDevice, "is another device (PCI id 1e52:faca)"},
  };
  for (const auto& test : kCases) {
    Prepare(test.options);
    if (test.open_error != 0) FailEach(StandinEvent::kOpen, test.open_error);
    ExpectRefusal(TryOpen().status(), test.problem, test.says);
    EXPECT_EQ(standin().open_files(), 0u);
  }
}

TEST_F(KmdOpen, ASecondOwnerIsTurnedAwayUntilTheFirstCloses) {
  Open({.pids = fmt::format("{}\n4711\n4712", getpid())});
  ExpectRefusal(TryOpen().status(), Problem::kHeld,
                "/dev/tenstorrent/0 is held by another process, one of pid 4711, 4712: stop it");
  Close();
  EXPECT_TRUE(TryOpen().ok());
}

TEST_F(KmdOpen, MonitoringToolsMayHaveTheNodeOpen) {
  Prepare();
  OpenAsAnother();
  EXPECT_TRUE(TryOpen().ok());
}

TEST_F(KmdOpen, InfoIsTheCards) {
  for (const bool iommu : {true, false}) {
    Open({.iommu = iommu});
    const DeviceInfo& info = device().info();
    EXPECT_EQ(info.board, "p150");
    EXPECT_EQ(info.backend, "kmd");
    EXPECT_EQ(info.iommu, iommu);
    EXPECT_FALSE(info.reports_quiescence);
    EXPECT_FALSE(info.memory_is_zero_after_power_on);
    EXPECT_TRUE(info.memory_survives_reset);
    EXPECT_FALSE(device().Advance(1).value().quiescent);
  }
}

TEST_F(KmdOpen, HoldsHartsThatTheLastOwnerLeftRunning) {
  Open();
  Rv32Asm loop;
  loop.Halt();
  ASSERT_TRUE(OpenWindow(kTile)->Write(0, loop.bytes()).ok());
  constexpr uint32_t kBriscRuns = hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc;
  ASSERT_TRUE(WriteWord(*OpenWindow(kTile), hw::kSoftReset0, kBriscRuns).ok());
  Close();
  const std::unique_ptr<KmdDevice> device = TryOpen().value();
  const std::unique_ptr<Window> window = device->OpenWindow(UnicastTarget(kTile)).value();
  EXPECT_EQ(ReadWord(*window, hw::kSoftReset0).value(), hw::kSoftResetAllHarts);
}

}  // namespace
}  // namespace ttfd::kmd_open_test
