// Clients as processes that are killed, and what a daemon must have left when all are gone.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/client_daemon.h"
#include "tests/support/random_client.h"

namespace ttfd::testing {

// One random client as a process of its own; killed with this object.
class ClientProcess {
 public:
  ClientProcess(const std::string& address, uint64_t seed, uint64_t steps, bool lease = false);
  ~ClientProcess() { Kill(); }
  ClientProcess(const ClientProcess&) = delete;
  ClientProcess& operator=(const ClientProcess&) = delete;

  void Kill();
  // Its exit code once it has ended by itself; -1: it still runs.
  int Ended();

 private:
  pid_t pid_ = -1;
  int code_ = -1;
};

// Random clients in this process, each on a thread, until the object goes; a wrong answer fails the test.
class Verifiers {
 public:
  Verifiers(const std::string& address, int count, std::chrono::milliseconds reconnect_timeout);
  ~Verifiers() { Stop(); }
  void Stop();
  // Waits until each has done `steps` more; false after 30 s.
  bool AllGoOn(uint64_t steps) const;
  uint64_t steps() const;
  uint64_t losses() const;

 private:
  struct One {
    std::atomic<uint64_t> steps{0};
    std::atomic<uint64_t> losses{0};
    std::thread thread;
  };
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<One>> all_;
};

// What the daemon holds for clients: all zero when there are none.
struct Leftovers {
  uint64_t sessions = 0;
  uint64_t memory_bytes = 0;
  uint64_t leases = 0;
  uint64_t in_flight = 0;
  bool operator==(const Leftovers&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Leftovers& left);
// Once nothing is left, or after 30 s.
Leftovers WaitForNothingLeft(const std::string& address);

// Of a process, from /proc.
uint64_t OpenFiles(pid_t pid);
uint64_t ResidentBytes(pid_t pid);

// Kills `kills` clients, each at a moment of its own in its first 250 ms, three at a time, while others verify.
void KillClients(int kills);
// Kills the daemon `kills` times while it serves three clients, and every third time once more while it boots.
void KillDaemon(int kills);

}  // namespace ttfd::testing
