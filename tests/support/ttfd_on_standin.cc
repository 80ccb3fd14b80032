// ttfd with a stand-in for the vendor's driver in place of the system's calls: /dev/tenstorrent/0 is a p150 of the
// model, which runs by itself; TTFD_TEST_DEVICE may name another driver and host. Misuse of the bus is reported to
// standard error. SIGUSR1 removes the card, SIGUSR2 brings it back under the next number;
// SIGRTMIN has its chip answer all ones until that is reset.
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "daemon/run_daemon.h"
#include "tests/support/kmd_on_standin.h"
#include "tests/support/running_standin.h"

namespace {

constexpr int kRemove = SIGUSR1;
constexpr int kBringBack = SIGUSR2;
const int kSilence = SIGRTMIN;

// No thread takes signals but those that wait for them.
void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

// Waits for the signals on a thread of its own; ends with the process.
void ObeySignals(ttfd::RunningStandin& card) {
  std::thread([&card] {
    sigset_t own;
    sigemptyset(&own);
    for (const int signal : {kRemove, kBringBack, kSilence}) sigaddset(&own, signal);
    for (uint32_t number = 1;;) {
      int signal = 0;
      sigwait(&own, &signal);
      card.With([&](ttfd::KmdStandin& standin) {
        if (signal == kRemove) standin.Remove();
        if (signal == kBringBack) standin.ComeBackAs(number++);
        if (signal == kSilence) standin.Silence();
      });
    }
  }).detach();
}

}  // namespace

int main(int argc, char** argv) {
  int words = 1;
  testing::InitGoogleTest(&words, argv);
  BlockSignals();
  // Never destroyed: the device is the daemon's until its process ends.
  static ttfd::RunningStandin& card = *new ttfd::RunningStandin(
      ttfd::MakeKmdStandin("sim:board=p150", ttfd::TestStandinOptions()).value());
  ObeySignals(card);
  return ttfd::RunDaemon(argc, argv, card.system());
}
