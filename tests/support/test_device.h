// The device a test runs on: the embedded one, unless the environment names something else
// (test_device_text.h).
//
// A simulator library is a p150, whatever board a test names.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "runtime/device/sim/sim_device.h"
#include "runtime/device/ttsim/ttsim_device.h"
#include "runtime/fabric/remote_device.h"
#include "tests/support/kmd_on_standin.h"
#include "tests/support/test_card.h"
#include "tests/support/test_device_text.h"

namespace ttfd {

inline StatusOr<SimOptions> TestSimOptions(std::string_view text) {
  return ParseSimOptions(TestDeviceText(text));
}

// The official simulator's library, from the environment or as the build was configured; empty: none.
inline std::string OfficialSimulator() {
  const std::string library = TestEnvironment("TTFD_TTSIM_LIB");
  return library.empty() ? TTFD_TTSIM_LIBRARY : library;
}

// Opens the neighbour of the first link of `front` that is up.
inline StatusOr<std::unique_ptr<Device>> OpenNeighbour(std::shared_ptr<Device> front) {
  for (const LinkStatus& link : ReadLinks(*front)) {
    if (link.state != LinkState::kUp) continue;
    return RemoteDevice::Open(std::move(front), link, "the first link", SteadyClock());
  }
  return Error(StatusCode::kNotFound, "no link is up");
}

// A p150 with the options of `text`, for ParseSimOptions, behind a link of another one.
inline StatusOr<std::unique_ptr<Device>> OpenRemoteDevice(const std::string& text) {
  const char* const separator = text.find(':') == std::string::npos ? ":" : ",";
  ASSIGN_OR_RETURN(const SimOptions options,
                   ParseSimOptions(text + separator + "board=p150,cluster=1x2,remote=1"));
  ASSIGN_OR_RETURN(auto devices, OpenSimDevices(options));
  return OpenNeighbour(std::move(devices.front()));
}

// `chip`, if not null, is where to look inside; null on a simulator library.
inline StatusOr<std::unique_ptr<Device>> OpenTestDevice(std::string_view text,
                                                        sim::Chip** chip = nullptr) {
  if (const std::string simulator = TestSimulator(); !simulator.empty()) {
    if (chip != nullptr) *chip = nullptr;
    if (simulator.starts_with(kKmdStandin)) return OpenKmdOnStandin(TestDeviceText(text));
    if (simulator == kRemote) return OpenRemoteDevice(TestDeviceText(text));
    if (simulator.starts_with(kRemote)) {
      ASSIGN_OR_RETURN(auto front, OpenTtsimDevice({simulator.substr(kRemote.size() + 1), ""}));
      return OpenNeighbour(std::move(front));
    }
    if (simulator.starts_with(kCard)) return OpenTestCard(simulator.substr(kCard.size()));
    ASSIGN_OR_RETURN(const TtsimOptions options, ParseTtsimOptions(simulator));
    return OpenTtsimDevice(options);
  }
  ASSIGN_OR_RETURN(const SimOptions options, TestSimOptions(text));
  return OpenSimDevice(options, chip);
}

}  // namespace ttfd
