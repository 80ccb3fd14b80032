// Output of a card: commands that have ended, and prints of kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/hw/tensix.h"

namespace ttfd {

// A place on the timeline of a hardware queue: dense from 1, never reused.
struct Ticket {
  uint32_t hardware_queue = 0;
  uint64_t number = 0;
};

// One print of a kernel.
struct KernelPrint {
  uint32_t launch = 0;  // of the launches of a trace, from 0
  uint32_t kernel = 0;  // as ProgramSpec::kernels
  std::string kernel_name;
  uint32_t x = 0;  // logical
  uint32_t y = 0;
  hw::Hart hart = hw::kBrisc;
  std::string text;  // of any bytes, without the newline at its end
};

struct CardOutput {
  struct Print {
    Ticket ticket;  // of the launch or replay; that has not ended in an earlier output
    KernelPrint print;
  };
  std::vector<Ticket>
      ended;  // each once; of a hardware queue in order but for independent launches
  std::vector<Print> prints;  // in order for each hart

  void Clear() {
    ended.clear();
    prints.clear();
  }
};

}  // namespace ttfd
