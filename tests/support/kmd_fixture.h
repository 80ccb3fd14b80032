// A stand-in for the driver, the device opened over it, and what the device did.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/kmd/kmd_device.h"
#include "runtime/device/problem.h"
#include "tests/support/kmd_on_standin.h"

namespace ttfd {

class KmdTest : public testing::Test {
 protected:
  static constexpr hw::Coordinate kTile = {1, 2};

  void Prepare(const StandinOptions& options = {}, std::string_view chip = "sim:board=p150") {
    device_.reset();
    standin_ = MakeKmdStandin(chip, options).value();
  }
  StatusOr<std::unique_ptr<KmdDevice>> TryOpen(uint64_t host_bytes = kmd::kDefaultArenaBytes) {
    return KmdDevice::Open(KmdStandin::kNode, standin_->system(), host_bytes);
  }
  void Open(const StandinOptions& options = {}) {
    Prepare(options);
    StatusOr<std::unique_ptr<KmdDevice>> device = TryOpen();
    ASSERT_TRUE(device.ok()) << device.status().ToString();
    device_ = std::move(device).value();
  }
  void Close() { device_.reset(); }

  KmdStandin& standin() { return *standin_; }
  KmdDevice& device() { return *device_; }
  std::unique_ptr<Window> OpenWindow(hw::Coordinate tile) {
    return device_->OpenWindow(UnicastTarget(tile)).value();
  }

  // What the device does from here on.
  void StartLog() {
    log_.clear();
    standin_->calls().Record(&log_);
  }
  const std::vector<StandinEvent>& log() const { return log_; }
  size_t Count(StandinEvent::Kind kind) const {
    return static_cast<size_t>(std::count_if(
        log_.begin(), log_.end(), [kind](const StandinEvent& e) { return e.kind == kind; }));
  }
  std::vector<StandinEvent::Kind> Kinds() const {
    std::vector<StandinEvent::Kind> kinds;
    for (const StandinEvent& event : log_) kinds.push_back(event.kind);
    return kinds;
  }

  void FailEach(StandinEvent::Kind kind, int error) {
    standin_->calls().BeforeEach(
        [kind, error](const StandinEvent& event) { return event.kind == kind ? error : 0; });
  }

  // Another process has the node open.
  int OpenAsAnother() { return standin_->Open(KmdStandin::kNode); }
  void TakeWindowsAsAnother(int descriptor, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      kmd::AllocateWindowCall call;
      call.bytes = hw::kTlbWindow2MBytes;
      ASSERT_EQ(standin_->Ioctl(descriptor, kmd::kAllocateWindow, &call), 0);
    }
  }

 private:
  std::unique_ptr<KmdStandin> standin_;
  std::vector<StandinEvent> log_;
  std::unique_ptr<KmdDevice> device_;
};

// A sentence that names the remedy, in one line.
inline void ExpectRefusal(const Status& status, StatusCode code, const std::string& says);
// The same, and the daemon's exit code.
inline void ExpectRefusal(const Status& status, Problem problem, const std::string& says) {
  EXPECT_EQ(ProblemOf(status), problem) << status.ToString();
  ExpectRefusal(status, status.code(), says);
}
inline void ExpectRefusal(const Status& status, StatusCode code, const std::string& says) {
  EXPECT_EQ(status.code(), code) << status.ToString();
  EXPECT_THAT(std::string(StatusMessage(status)), testing::HasSubstr(says));
  EXPECT_THAT(std::string(StatusMessage(status)), testing::Not(testing::HasSubstr("\n")));
}

}  // namespace ttfd
