// What the environment makes of the device of every test.
//
//   TTFD_TEST_SIM=hazards=on,seed=3        more options for every embedded device that tests open
//   TTFD_TEST_DEVICE=ttsim:/a/libttsim.so  a simulator library in place of every embedded device
//   TTFD_TEST_DEVICE=kmd:/dev/tenstorrent/0  the card of this name
//   TTFD_TEST_DEVICE=remote                a chip of the model without a port, behind a neighbour; with
//                                          ":/a/libttsim.so" one of a library of two chips
//   TTFD_TEST_DEVICE=kmd-standin           the kmd backend over a stand-in for the driver in its place;
//                                          behind it ":driver=2.0.0,iommu=off,pages=2M", or some of these
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

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

// Does the environment ask for hazards? What is counted or timed holds without them only.
inline bool TestDeviceIsHostile() {
  const std::string more = TestEnvironment("TTFD_TEST_SIM");
  return more.find("hazards=") != std::string::npos &&
         more.find("hazards=off") == std::string::npos;
}

inline constexpr std::string_view kKmdStandin = "kmd-standin";

inline constexpr std::string_view kCard = "kmd:";

// A chip behind a link of a neighbour: of the model, or, with ":PATH", of a simulator library of two chips.
inline constexpr std::string_view kRemote = "remote";

// "ttsim:PATH", "kmd:CARD", kRemote... or kKmdStandin... if tests run on another backend; empty: on the embedded
// device.
inline std::string TestSimulator() { return TestEnvironment("TTFD_TEST_DEVICE"); }

// What a daemon is told whose test would say `text`.
inline std::string DaemonDeviceText(std::string_view text) {
  const std::string simulator = TestSimulator();
  return simulator.empty() ? TestDeviceText(text) : simulator;
}

// Why a test whose sessions outlive a reset of the card is about the embedded device alone.
inline constexpr char kResetsEndSessions[] =
    "a reset of a simulator library empties its memory, which ends every session";

}  // namespace ttfd

// At the start of a test that is about the embedded device alone.
#define TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(why) \
  if (!::ttfd::TestSimulator().empty()) GTEST_SKIP() << "only on the embedded device: " << why
