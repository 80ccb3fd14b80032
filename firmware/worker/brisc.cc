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

using NocBuffer = CommandBuffer<kThisNiu, kThisBuffer>;

constexpr uint32_t SyncAddress(uint32_t hart) {
  return abi::kSubordinateSyncAddress + hart * sizeof(abi::SubordinateSync);
}

uint32_t MessageWord(uint32_t message, uint32_t offset) { return Load(message + offset); }

// Waits for a go word and takes it. Which word to listen to may change while waiting.
uint32_t TakeGo() {
  uint32_t go = 0;
  uint32_t address = 0;
  WaitForMemory(abi::kWaypointGo, [&] {
    const uint32_t index = Load(abi::kGoAreaAddress + offsetof(abi::GoArea, index));
    address = abi::kGoAreaAddress + 4 * index;
    go = Load(address);
    return (go >> 24 & abi::kGoSignalRun) != 0;
  });
  Store(address, 0);
  return go;
}

void ClearCircularBuffers(uint32_t message) {
  const uint32_t count =
      MessageWord(message, offsetof(abi::LaunchMessage, circular_buffer_offset)) >> 16;
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

void AwaitSubordinates(uint32_t enables) {
  for (uint32_t hart = hw::kNcrisc; hart < hw::kHarts; ++hart) {
    if ((enables >> hart & 1) != 0) {
      WaitForMemory(abi::kWaypointSubordinates, [hart] {
        return Load(SyncAddress(hart) + offsetof(abi::SubordinateSync, run)) == abi::kRunIdle;
      });
    }
  }
}

void RunLaunch(uint32_t message, uint32_t slot, uint32_t enables, abi::KernelContext& context) {
  SetCommand(MessageWord(message, offsetof(abi::LaunchMessage, program_id)));
  if ((MessageWord(message, offsetof(abi::LaunchMessage, flags)) & abi::kLaunchNewCode) != 0) {
    // For all harts: NCRISC cannot reach this register, and none of them runs a kernel now.
    Store(hw::kInstructionCacheInvalidate, hw::kInstructionCacheAll);
  }
  ClearCircularBuffers(message);
  const uint32_t subordinates = enables & ~(1u << hw::kBrisc);
  if (subordinates != 0) {
    StartSubordinates(subordinates, slot);
  }
  if ((enables & 1u << hw::kBrisc) != 0) {
    RunKernel(slot, context);
  }
  if (subordinates != 0) {
    AwaitSubordinates(subordinates);
  }
  Store(message + offsetof(abi::LaunchMessage, enables), 0);
}

// +1 on the stream of the sub-device at the dispatch tile: the next go and the next message may come
// as soon as it is there. Kernels use the same command buffer, so every field is set.
void Answer(uint32_t go, uint32_t first_stream_update, uint32_t own_xy) {
  const uint32_t address = first_stream_update + (go & 0xFF) * hw::kStreamStride;
  constexpr uint32_t kByteEnables = 0xFu << (hw::kStreamSpaceAvailableUpdate & 31);
  SettleL1(kStatus + offsetof(abi::HartStatus, progress));  // the last word stored
  NocBuffer::AwaitFree();
  NocBuffer::Set(hw::kNocControl, kInlineControl);
  NocBuffer::Set(hw::kNocPacketTag, PacketTag(0));
  NocBuffer::Set(hw::kNocTargetLow, address);
  NocBuffer::Set(hw::kNocTargetMid, 0);
  NocBuffer::Set(hw::kNocTargetHigh, hw::NocXy(go >> 8 & 0x3F, go >> 16 & 0x3F));
  NocBuffer::Set(hw::kNocReturnHigh, own_xy);
  NocBuffer::Set(hw::kNocLength, kByteEnables);
  NocBuffer::Set(hw::kNocData, 1u << hw::kStreamUpdateShift);
  NocBuffer::Issue();
}

[[noreturn]] void Serve() {
  abi::KernelContext context = MakeKernelContext();
  const uint32_t first_stream_update =
      hw::StreamRegister(TTFD_BOOT(first_worker_stream), hw::kStreamSpaceAvailableUpdate);
  const uint32_t own_xy = TTFD_BOOT(own_xy);
  for (uint32_t launches = 0;;) {
    const uint32_t go = TakeGo();
    const uint32_t slot = go >> 24 & (abi::kLaunchSlots - 1);
    const uint32_t message = LaunchMessageAddress(slot);
    const uint32_t enables = MessageWord(message, offsetof(abi::LaunchMessage, enables));
    if (enables != 0) {
      RunLaunch(message, slot, enables, context);
    }
    SetProgress(++launches);
    Answer(go, first_stream_update, own_xy);
  }
}

}  // namespace
}  // namespace ttfd::firmware

extern "C" [[noreturn]] void FirmwareMain() {
  using namespace ttfd::firmware;
  Boot(ttfd::abi::kRoleWorker, [] {
    TTFD_REQUIRE_BOOT(TTFD_BOOT(first_worker_stream) < ttfd::hw::kStreams, first_worker_stream);
    Store(ttfd::hw::kInstructionCacheInvalidate, ttfd::hw::kInstructionCacheAll);
  });
  Serve();
}
