// random_client ADDRESS SEED STEPS [lease]: a RandomClient as a process that can be killed. 0 steps: for ever. Exit
// code 0: every answer was right.
#include <signal.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/support/random_client.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: random_client ADDRESS SEED STEPS [lease]\n";
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is aborted leaves no client behind
  ttfd::client::ConnectOptions options;
  options.address = argv[1];
  options.client_name = "random";
  if (argc > 4) options.lease = ttfd::client::LeaseOptions{.workers = {{8, 8, 9, 9}}};
  const uint64_t steps = std::strtoull(argv[3], nullptr, 10);
  ttfd::testing::RandomClient client(options, std::strtoull(argv[2], nullptr, 10));
  for (uint64_t step = 0; steps == 0 || step < steps; ++step) {
    if (const ttfd::client::Status status = client.Step(); !status.ok()) {
      std::cerr << "random_client " << argv[2] << ": " << status.ToString() << "\n";
      return 1;
    }
  }
  const ttfd::client::Status closed = client.Close();
  if (!closed.ok()) std::cerr << "random_client " << argv[2] << ": " << closed.ToString() << "\n";
  return closed.ok() ? 0 : 1;
}
