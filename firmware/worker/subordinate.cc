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

// Returns this hart's share of the engine's balance (runtime/abi/engine_balance.h), which is 0 from then on.
uint32_t TakeEngineBalance() {
  uint32_t balance = 0;
  asm volatile("mv %0, gp\nli gp, 0" : "=r"(balance));
  return balance;
}

[[noreturn]] void Serve() {
  abi::KernelContext context = MakeKernelContext();
  TakeEngineBalance();
  for (uint32_t launches = 0;;) {
    WaitForMemory(abi::kWaypointGo, [] { return Load(kRun) != abi::kRunIdle; });
    ClearNote();
    RunKernel(abi::LaunchMessageAddress(Load(kSync + offsetof(abi::SubordinateSync, launch_slot))),
              context);
    if constexpr (kThisHart >= hw::kTrisc0) {
      Store(kSync + offsetof(abi::SubordinateSync, engine_balance), TakeEngineBalance());
    }
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
