// Runs a sequence through a simulator library in a process of its own, which the library may end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ttfd {

// Lines for tests/peer/sequence_driver.cc.
using Sequence = std::vector<std::string>;

struct DriverRun {
  // What each operation printed, up to the one that did not come back.
  std::vector<std::string> results = {};
  bool ended = false;  // every operation came back
  // The library's last line, if it refused the operation after the last of `results`.
  uint64_t clock = 0;
  std::string category = {};
  std::string text = {};  // the whole line
  int exit_status = 0;
  std::string trouble = {};  // not empty: neither ended nor refused; what happened instead

  std::string ToString() const;
};

// `options` is what TTFD_SIM holds for our library. A sequence that takes longer than a minute is killed.
DriverRun RunSequence(const std::string& library, const Sequence& sequence,
                      const std::string& options = "");

// The official simulator's library as the environment (TTFD_TTSIM_LIB) or CMake names it; empty: none.
std::string PeerLibrary();

}  // namespace ttfd
