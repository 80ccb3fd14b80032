// A unix socket between a client and its daemon that breaks when a test says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/unique_fd.h"

namespace ttfd::testing {

// Passes bytes on, both ways, until the n-th. Threads: its own; every public function from any thread.
class CutRelay {
 public:
  enum Direction { kToDaemon = 0, kToClient = 1 };

  // `daemon`: the address of the daemon, "unix:...".
  explicit CutRelay(const std::string& daemon);
  ~CutRelay();

  std::string address() const { return "unix:" + path_; }
  // Breaks all connections when `bytes` more have passed in this direction; `again`: and then once more, for ever.
  void CutAfter(Direction direction, uint64_t bytes, bool again = false);
  void CutNow();
  // While true, new connections are broken at once.
  void Refuse(bool refuse) { refuse_ = refuse; }
  uint64_t passed(Direction direction) const { return passed_[direction]; }
  uint64_t cuts() const { return cuts_; }

 private:
  struct Pair {
    UniqueFd client;
    UniqueFd daemon;
    std::thread threads[2];
    int passing = 2;  // threads that still run; the last one closes the descriptors. Guarded by mu_
  };

  void Accept();
  void Pass(Pair* pair, Direction direction);
  struct Taken {
    uint64_t bytes = 0;
    size_t broken = 0;  // pairs, once the bytes have passed: those there were when it was decided
  };
  // How many of `size` bytes may pass, and what the cut after them breaks.
  Taken Take(Direction direction, uint64_t size);
  // The first `count` pairs, in one step.
  void Break(size_t count);

  const std::string daemon_path_;
  std::string folder_;
  std::string path_;
  UniqueFd listener_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> refuse_{false};
  std::atomic<uint64_t> passed_[2] = {};
  std::atomic<uint64_t> cuts_{0};
  std::mutex mu_;
  uint64_t left_[2] = {UINT64_MAX, UINT64_MAX};  // guarded by mu_
  uint64_t every_[2] = {0, 0};                   // guarded by mu_; 0: once
  std::vector<std::unique_ptr<Pair>> pairs_;     // guarded by mu_; only grows
  std::thread accept_;
};

}  // namespace ttfd::testing
