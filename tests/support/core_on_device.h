// The daemon's core with a device of its own, not booted yet.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "daemon/core/daemon.h"
#include "runtime/card/firmware_card.h"
#include "tests/support/one_card.h"
#include "tests/support/test_device.h"

namespace ttfd {

struct CoreOnDevice {
  std::unique_ptr<Device> device;
  std::unique_ptr<Daemon> core;  // null: it could not be made, and the test has failed
};

inline CoreOnDevice MakeCoreOn(StatusOr<std::unique_ptr<Device>> device,
                               const DaemonOptions& options = {}) {
  CoreOnDevice made;
  EXPECT_TRUE(device.ok()) << device.status().ToString();
  if (!device.ok()) return made;
  made.device = *std::move(device);
  auto firmware_card = FirmwareCard::Create(*made.device, SteadyClock(), {});
  EXPECT_TRUE(firmware_card.ok()) << firmware_card.status().ToString();
  if (!firmware_card.ok()) return made;
  auto core = Daemon::Create(OneCard(*std::move(firmware_card)), SteadyClock(), options);
  EXPECT_TRUE(core.ok()) << core.status().ToString();
  if (core.ok()) made.core = *std::move(core);
  return made;
}

inline CoreOnDevice MakeCoreOnDevice(const DaemonOptions& options = {}) {
  return MakeCoreOn(OpenTestDevice("sim:board=p100a"), options);
}

}  // namespace ttfd
