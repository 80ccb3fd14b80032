// Sessions of two users on a fake card: one whose work hangs or faults, and one that it must not harm.
#pragma once

#include <array>
#include <memory>

#include "tests/support/core_fixture.h"

namespace ttfd {

class OffenderTest : public CoreTest {
 protected:
  // Both have 4 KiB of DRAM as handle 1, with Pattern(4096) in it, and a program as handle 3; value 5 is next.
  void Prepare() {
    Start();
    offender = Connect();
    other = Connect(1001);
    for (TestClient* client : clients()) {
      client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2),
                   InlineWrite(1, 0, Pattern(4096)));
      client->Run();
    }
    card->log.clear();
  }

  std::array<TestClient*, 2> clients() const { return {offender.get(), other.get()}; }

  std::unique_ptr<TestClient> offender, other;
};

}  // namespace ttfd
