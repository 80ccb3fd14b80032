// Base firmware of a worker tile's BRISC: takes go signals, starts the tile's other harts, runs its
// own kernel, answers.
//
//   go word -> launch message of the slot it names -> subordinates + own kernel -> all done
//           -> +1 on the stream the go word names
//
// A message in another slot may be placed meanwhile: only the slot the go names is touched.
#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/noc.h"
#include "firmware/common/wait.h"
#include "firmware/worker/run_kernel.h"
#include "runtime/abi/launch.h"
#include "runtime/hw/stream.h"

namespace ttfd::firmware {
namespace {

constexpr uint32_t SyncAddress(uint32_t hart) {
  return abi::kSubordinateSyncAddress + hart * sizeof(abi::SubordinateSync);
}

uint32_t MessageWord(uint32_t message, uint32_t offset) { return Load(message + offset); }

// Waits for a go word and takes it. Which word to listen to may change while waiting. There is nearly
// always something to wait for, so this is not a WaitUntil; and whatever comes next has a waypoint of its
// own.
uint32_t TakeGo() {
  static_assert(abi::kGoSignalRun == 0x80, "the go word's sign");
  SetWaypoint(abi::kWaypointGo);
  uint32_t go = 0;
  uint32_t offset = 0;
  do {
    Fence();
    offset = 4 * Load(abi::kGoAreaAddress + offsetof(abi::GoArea, index));
    go = Load(abi::kGoAreaAddress + offset);
  } while (static_cast<int32_t>(go) >= 0);
  Fence();
  asm("" : "+r"(offset));  // or gcc adds the area's address in every poll
  Store(abi::kGoAreaAddress + offset, 0);
  return go;
}

void ClearCircularBuffers(uint32_t count) {
  uint32_t state = abi::kCircularBufferStateAddress;
  for (const uint32_t end = state + count * sizeof(abi::CircularBufferState); state != end;
       state += sizeof(abi::CircularBufferState)) {
    Store(state + offsetof(abi::CircularBufferState, pushed), 0);
    Store(state + offsetof(abi::CircularBufferState, popped), 0);
  }
}

void StartSubordinates(uint32_t enables, uint32_t slot) {
  for (uint32_t hart = hw::kNcrisc; hart < hw::kHarts; ++hart) {
    if ((enables >> hart & 1) != 0) {
      Store(SyncAddress(hart) + offsetof(abi::SubordinateSync, launch_slot), slot);
      Store(SyncAddress(hart) + offsetof(abi::SubordinateSync, run), abi::kRunGo);
    }
  }
}

// Returns what their kernels left in the tile's Tensix engine (runtime/abi/engine_balance.h).
uint32_t AwaitSubordinates(uint32_t enables) {
  uint32_t balance = 0;
  for (uint32_t hart = hw::kNcrisc; hart < hw::kHarts; ++hart) {
    if ((enables >> hart & 1) != 0) {
      WaitForMemory(abi::kWaypointSubordinates, [hart] {
        return Load(SyncAddress(hart) + offsetof(abi::SubordinateSync, run)) == abi::kRunIdle;
      });
      balance += Load(SyncAddress(hart) + offsetof(abi::SubordinateSync, engine_balance));
    }
  }
  return balance;
}

// The engine's state would change the results of the next launch, whose it may be: nothing more runs here.
[[noreturn, gnu::noinline, gnu::cold]] void FaultEngineInUse(uint32_t message, uint32_t enables,
                                                             uint32_t balance) {
  const auto image = [message, enables](uint32_t hart) {
    const uint32_t address =
        MessageWord(message, offsetof(abi::LaunchMessage, kernel_address) + 4 * hart);
    return (enables >> hart & 1) != 0 ? address / 16 : 0;
  };
  Fault(abi::kFaultEngineInUse, balance, image(hw::kTrisc0) | image(hw::kTrisc0 + 1) << 16,
        image(hw::kTrisc0 + 2));
}

// The instruction caches of all harts: NCRISC cannot reach the register, and none of them runs a kernel
// now. No hart may be started (a store to L1) or jump before it has happened, and the register is in
// another region than L1: the fence sends the store off, a load from the same region is answered only
// behind it, and using what it brings holds back what follows. Not the mask itself is read, since ttsim
// has no such read.
void DropInstructionCaches() {
  Store(hw::kInstructionCacheInvalidate, hw::kInstructionCacheAll);
  Fence();
  Settle(hw::kTensixConfig);
}

// Runs launches. Most are like one before: the same kernel, on this hart alone, with nothing to prepare.
class Launches {
 public:
  Launches() : context_(MakeKernelContext()) {}

  void Run(uint32_t message) {
    const uint32_t enables = MessageWord(message, offsetof(abi::LaunchMessage, enables));
    if (enables != kThisHartAlone || KernelOf(message) != plain_header_ ||
        CircularBuffers(message) != 0) [[unlikely]] {
      if (enables != 0) {
        RunAny(message, enables);
      }
      return;
    }
    SetCommand(MessageWord(message, offsetof(abi::LaunchMessage, program_id)));
    ClearNote();
    CallKernel(plain_entry_, message, context_);
    Store(message + offsetof(abi::LaunchMessage, enables), 0);
  }

 private:
  static constexpr uint32_t kThisHartAlone = 1u << kThisHart;

  static uint32_t KernelOf(uint32_t message) {
    return MessageWord(message, offsetof(abi::LaunchMessage, kernel_address) + 4 * kThisHart);
  }
  static uint32_t CircularBuffers(uint32_t message) {
    return LoadHalf(message + offsetof(abi::LaunchMessage, circular_buffer_count));
  }

  [[gnu::noinline]] void RunAny(uint32_t message, uint32_t enables) {
    SetCommand(MessageWord(message, offsetof(abi::LaunchMessage, program_id)));
    ClearNote();
    if ((enables & abi::kLaunchNewCode) != 0) {
      DropInstructionCaches();
      plain_header_ = 0;
    }
    ClearCircularBuffers(CircularBuffers(message));
    StartSubordinates(enables, LaunchSlot(message));
    if ((enables & kThisHartAlone) != 0) {
      const uint32_t header = KernelHeader(message);
      if (IsPlain(header)) {  // it stays what it is until there is new code
        plain_header_ = header;
        plain_entry_ = EntryOf(header);
      }
      RunKernel(message, context_);
    }
    const uint32_t balance = AwaitSubordinates(enables);
    if (balance != 0) [[unlikely]] {
      FaultEngineInUse(message, enables, balance);
    }
    Store(message + offsetof(abi::LaunchMessage, enables), 0);
  }

  abi::KernelContext context_;
  uint32_t plain_header_ = 0;  // of a kernel with nothing to restore; 0: none known
  KernelEntry plain_entry_ = nullptr;
};

// Adds 1 to the stream of a sub-device at the dispatch tile, by an inline write over NoC 1. Its command
// buffer there is used for nothing else, so it is set up once and changed when the target changes; or for
// every command, where the NIU writes translated coordinates back.
class Answers {
 public:
  Answers() : first_stream_(TTFD_BOOT(first_worker_stream)) {
    Buffer::InitializeRead(kTransactionId);
    ProbeCoordinates();
    Buffer::Set(hw::kNocControl, kInlineControl);
    Buffer::Set(hw::kNocLength, kByteEnables);
    Buffer::Set(hw::kNocData, 1u << hw::kStreamUpdateShift);
    asm("" : "+r"(command_));  // or gcc builds the address anew for each use
  }

  // The next go and the next message may come as soon as the answer is there; so the last word this
  // hart stored, `last_stored`, is there before it.
  void Send(uint32_t go, uint32_t last_stored) {
    SettleL1(last_stored);
    AwaitZero(command_);
    if (go << 8 != target_) [[unlikely]] {
      target_ = go << 8 | never_kept_;
      Buffer::Set(hw::kNocTargetLow,
                  hw::StreamRegister(first_stream_ + (go & 0xFF), hw::kStreamSpaceAvailableUpdate));
      Buffer::Set(hw::kNocTargetHigh, hw::NocXy(go >> 8 & 0x3F, go >> 16 & 0x3F));
      Buffer::Set(hw::kNocReturnHigh, OwnXy());
    }
    Store(command_, 1);
  }

 private:
  using Buffer = CommandBuffer<1, 3>;

  // Reads this tile's own L1: are the coordinates still those that were set? NoC 1 counts from the
  // opposite corner, so no tile's physical coordinates are its translated ones.
  void ProbeCoordinates() {
    Buffer::Set(hw::kNocTargetLow, AtomicReturnSlot(kThisHart));
    Buffer::Set(hw::kNocTargetMid, 0);
    Buffer::Set(hw::kNocTargetHigh, OwnXy());
    Buffer::Set(hw::kNocReturnLow, StagingSlot(kThisHart));
    Buffer::Set(hw::kNocReturnHigh, OwnXy());
    Buffer::Set(hw::kNocLength, 16);
    Buffer::Issue();
    Buffer::AwaitFree();
    AwaitNiuCounterZero<1, hw::kNocRequestsOutstanding + kTransactionId>();
    const uint32_t kept = Load(Buffer::kBase + hw::kNocReturnHigh);
    never_kept_ = kept == OwnXy() ? 0 : ~0u;
  }

  static constexpr uint32_t kTransactionId = 15;
  static constexpr uint32_t kByteEnables = 0xFu << (hw::kStreamSpaceAvailableUpdate & 31);

  const uint32_t first_stream_;
  uint32_t command_ = Buffer::kBase + hw::kNocCommand;
  uint32_t never_kept_ = 0;  // all ones where the coordinates have to be set for every command
  uint32_t target_ = ~0u;    // the go word's sub-device and tile, shifted up by the signal
};

[[noreturn]] void Serve() {
  Launches launches;
  Answers answers;
  for (uint32_t taken = 0;;) {
    const uint32_t go = TakeGo();
    constexpr uint32_t kSlot = (abi::kLaunchSlots - 1) << abi::kLaunchSlotShift;
    launches.Run(abi::kLaunchRingAddress + (go >> (24 - abi::kLaunchSlotShift) & kSlot));
    SetProgress(++taken);
    answers.Send(go, kStatus + offsetof(abi::HartStatus, progress));
  }
}

}  // namespace
}  // namespace ttfd::firmware

extern "C" [[noreturn]] void FirmwareMain() {
  using namespace ttfd::firmware;
  Boot(ttfd::abi::kRoleWorker, [] {
    TTFD_REQUIRE_BOOT(TTFD_BOOT(first_worker_stream) < ttfd::hw::kStreams, first_worker_stream);
    DropInstructionCaches();
    PlaceStackGuard();
  });
  Serve();
}
