// The device a test runs on: the embedded one, unless the environment names something else.
//
//   TTFD_TEST_SIM=hazards=on,seed=3        more options for every embedded device that tests open
//   TTFD_TEST_DEVICE=ttsim:/a/libttsim.so  a simulator library in place of every embedded device
//
// A simulator library is a p150, whatever board a test asks for.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/device/sim/sim_device.h"
#include "runtime/device/ttsim/ttsim_device.h"

namespace ttfd {

inline std::string TestEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// `text`, as for ParseSimOptions, and what the environment adds to it.
inline std::string TestDeviceText(std::string_view text) {
  std::string result(text);
  if (const std::string more = TestEnvironment("TTFD_TEST_SIM"); !more.empty()) {
    result += text.find(':') == std::string_view::npos ? ":" : ",";
    result += more;
  }
  return result;
}

inline StatusOr<SimOptions> TestSimOptions(std::string_view text) {
  return ParseSimOptions(TestDeviceText(text));
}

// The official simulator's library, from the environment or as the build was configured; empty: none.
inline std::string OfficialSimulator() {
  const std::string library = TestEnvironment("TTFD_TTSIM_LIB");
  return library.empty() ? TTFD_TTSIM_LIBRARY : library;
}

// "ttsim:PATH" if tests run on a simulator library; empty: on the embedded device.
inline std::string TestSimulator() { return TestEnvironment("TTFD_TEST_DEVICE"); }

// `chip`, if not null, is where to look inside; null on a simulator library.
inline StatusOr<std::unique_ptr<Device>> OpenTestDevice(std::string_view text,
                                                        sim::Chip** chip = nullptr) {
  if (const std::string simulator = TestSimulator(); !simulator.empty()) {
    if (chip != nullptr) *chip = nullptr;
    ASSIGN_OR_RETURN(const TtsimOptions options, ParseTtsimOptions(simulator));
    return OpenTtsimDevice(options);
  }
  ASSIGN_OR_RETURN(const SimOptions options, TestSimOptions(text));
  return OpenSimDevice(options, chip);
}

}  // namespace ttfd

// At the start of a test that is about the embedded device alone.
#define TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(why) \
  if (!::ttfd::TestSimulator().empty()) GTEST_SKIP() << "only on the embedded device: " << why
