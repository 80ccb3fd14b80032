// The reference scenario of fault injection: a client that uses everything once, beside a witness whose data must not
// change, on a daemon's core without threads whose device a test has put a fault into.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/core/daemon.h"
#include "runtime/card/firmware_card.h"
#include "tests/support/bystander_bound.h"
#include "tests/support/core_fixture.h"
#include "tests/support/ticking_clock.h"

namespace ttfd {

class InjectionScenario {
 public:
  // Small waits, counted by looks at the clock: a fault is found after so many of them.
  static CardOptions Rings();

  // REQUIRES nothing of the device but that it opens.
  explicit InjectionScenario(std::unique_ptr<Device> device);
  ~InjectionScenario();

  Status Boot() { return core_->Boot(); }
  // Once, on a healthy card.
  void OpenWitness();
  // The client's work and some of the witness's, to their ends, whatever they are. True: everything ended well.
  bool Run();
  // As an administrator asks for it. `must_work`: the card is healthy.
  void Reset(bool must_work);
  // On a healthy card again: what Run left must be nothing, the witness's data what it was, and the card must work.
  void Check();

  // A corrupted address sends what follows to somebody else's memory, and nothing on the way can know. How often that
  // was the witness's.
  void AllowAstray() { astray_allowed_ = true; }
  uint64_t astray() const { return astray_; }

  Daemon& core() { return *core_; }
  uint64_t resets() { return core_->admin().GetStatus().devices[0].stats.resets; }
  // What the witness felt of resets after which the card came back. A card that does not ends its sessions.
  BystanderCounts bystanders() { return {resets(), witness_operations_, witness_retries_}; }

 private:
  std::unique_ptr<TestClient> Connect(uint32_t uid);
  // Sends the reference commands and returns the last value of queue 0; what its reads must give goes to `expected`, by
  // queue and value.
  using Reads = std::map<std::pair<uint32_t, uint64_t>, std::string>;
  uint64_t SendEverything(TestClient* client, Reads* expected);
  // Until both have heard the end of all they sent, or that their session has ended: which only a card that does not
  // come back does.
  void Settle(TestClient* client, const std::map<uint32_t, uint64_t>& sent);
  bool Ended(TestClient* client);
  static bool CheckEnded(const TestClient& client, const Reads& expected);
  void BackToReady();
  bool WitnessReads();
  void WitnessWorks();
  void CountWitnessErrors();

  TickingClock clock_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Daemon> core_;
  std::unique_ptr<TestClient> witness_;
  std::string dram_, l1_;  // what the witness has there
  uint64_t witness_sent_ = 0;
  uint64_t witness_error_ = 0;           // of its queue, not cleared yet
  bool witness_lost_ = false;            // its session ended with the card
  std::vector<uint64_t> witness_reads_;  // of the last Run: values
  uint64_t witness_errors_ = 0;          // counted, of those it was sent
  uint64_t witness_operations_ = 0;
  uint64_t witness_retries_ = 0;
  bool astray_allowed_ = false;
  uint64_t astray_ = 0;
  std::vector<MemoryUseReply> memory_;
};

}  // namespace ttfd
