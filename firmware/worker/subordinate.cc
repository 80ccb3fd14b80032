// Base firmware of the harts BRISC starts on a worker tile: NCRISC and TRISC0-2.
#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/wait.h"
#include "firmware/worker/run_kernel.h"
#include "runtime/abi/launch.h"

namespace ttfd::firmware {
namespace {

constexpr uint32_t kSync = abi::kSubordinateSyncAddress + kThisHart * sizeof(abi::SubordinateSync);
constexpr uint32_t kRun = kSync + offsetof(abi::SubordinateSync, run);

[[noreturn]] void Serve() {
  abi::KernelContext context = MakeKernelContext();
  for (uint32_t launches = 0;;) {
    WaitForMemory(abi::kWaypointGo, [] { return Load(kRun) != abi::kRunIdle; });
    RunKernel(LaunchMessageAddress(Load(kSync + offsetof(abi::SubordinateSync, launch_slot))),
              context);
    SetProgress(++launches);
    Fence();
    Store(kRun, abi::kRunIdle);  // same region as all that the kernel stored: in order
  }
}

}  // namespace
}  // namespace ttfd::firmware

extern "C" [[noreturn]] void FirmwareMain() {
  using namespace ttfd::firmware;
  Boot(ttfd::abi::kRoleWorker, [] {
    Store(kRun, ttfd::abi::kRunIdle);
    PlaceStackGuard();
  });
  Serve();
}
