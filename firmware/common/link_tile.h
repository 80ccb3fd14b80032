// The near Ethernet tile of a link, as a hart of a worker uses it: registers of its transmit queues, and the doorbells
// of the far tile.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/noc.h"
#include "runtime/abi/link.h"

namespace ttfd::firmware {

// Command buffers and transaction ids by which a hart talks to an Ethernet tile. NCRISC has two buffers that nothing
// else uses (the fourth of its NIU has the answers of base firmware), so their constant fields are set once. Other
// harts have the buffer of the SDK alone, whose fields are set for each command.
struct LinkBuffers {
  static constexpr bool kDedicated = kThisHart == hw::kNcrisc;
  static constexpr uint32_t kReadId = 4 * kThisBuffer;
  static constexpr uint32_t kWriteId = 4 * kThisBuffer + 2;
  static constexpr uint32_t kRegisterId = kDedicated ? 4 : 4 * kThisBuffer + 3;
  static constexpr uint32_t kStatusId =
      kDedicated ? 5 : kRegisterId;  // after these have been answered
  using Data = CommandBuffer<kThisNiu, kThisBuffer>;
  using Register = CommandBuffer<kThisNiu, kDedicated ? 1 : kThisBuffer>;
  using Status = CommandBuffer<kThisNiu, kDedicated ? 2 : kThisBuffer>;
};

// One transmit queue of an Ethernet tile, and the doorbells of the far tile that are fired through it.
template <uint32_t kQueue>
class LinkTile {
 public:
  // `end`: address of the LinkEnd.
  [[gnu::always_inline]] explicit LinkTile(uint32_t end)
      : tile_xy_(Load(end + offsetof(abi::LinkEnd, tile_xy))),
        own_xy_(OwnXy()),
        far_worker_xy_(Load(end + offsetof(abi::LinkEnd, far_worker_xy))),
        far_tile_xy_(Load(end + offsetof(abi::LinkEnd, far_tile_xy))) {
    Prepare<LinkBuffers::Data>();
    Prepare<Register>();
    Prepare<Status>();
    if constexpr (LinkBuffers::kDedicated) {
      SetRegisterKind();
      SetStatusKind();
    }
    OpenDoorbells(tile_xy_, own_xy_);
  }

  [[gnu::always_inline]] uint32_t tile_xy() const { return tile_xy_; }
  [[gnu::always_inline]] uint32_t own_xy() const { return own_xy_; }

  // Writes the register of the queue at `offset`. Writes of one hart arrive in order.
  [[gnu::always_inline]] void Put(uint32_t offset, uint32_t value) const {
    AwaitFree<Register>();
    PutFirst(offset, value);
  }
  // The same as the first after AwaitQueue().
  [[gnu::always_inline]] void PutFirst(uint32_t offset, uint32_t value) const {
    if constexpr (!LinkBuffers::kDedicated) SetRegisterKind();
    Set<Register>(hw::kNocTargetLow, queue_ + offset);
    Set<Register>(hw::kNocTargetHigh, tile_xy_);
    Set<Register>(hw::kNocReturnHigh, own_xy_);
    Set<Register>(hw::kNocLength, 0xFu << (offset & 15));
    Set<Register>(hw::kNocData, value);
    Set<Register>(hw::kNocCommand, 1);
  }

  // Waits until the register writes have arrived.
  [[gnu::always_inline]] void AwaitPuts() const {
    AwaitFree<Register>();
    AwaitAnswered<LinkBuffers::kRegisterId>();
  }

  // Waits until the queue takes a command.
  [[gnu::always_inline]] void AwaitQueue() const {
    AwaitPuts();  // a read may overtake them
    for (;;) {
      if constexpr (!LinkBuffers::kDedicated) SetStatusKind();
      Set<Status>(hw::kNocTargetLow, queue_ + hw::kEthTransmitStatus);
      Set<Status>(hw::kNocTargetHigh, tile_xy_);
      Set<Status>(hw::kNocReturnHigh, own_xy_);
      Set<Status>(hw::kNocCommand, 1);
      AwaitFree<Status>();
      AwaitAnswered<LinkBuffers::kStatusId>();
      Fence();
      if ((Load(kStatusWord) & hw::kEthTransmitBusy) == 0) return;
    }
  }

  // Fires a doorbell of the far tile; `doorbell`: its address.
  [[gnu::always_inline]] void Ring(uint32_t doorbell) const {
    if (far_tile_xy_ != 0) [[unlikely]] {
      SetCoordinates(tile_xy_, own_xy_, far_worker_xy_, far_tile_xy_, doorbell);
    }
    AwaitQueue();
    WriteFar(doorbell + hw::kNocCommand);
  }

 private:
  using Register = LinkBuffers::Register;
  using Status = LinkBuffers::Status;
  // The hart's own: harts that shared one would read each other's. Equal to STATUS modulo 16.
  static constexpr uint32_t kStatusWord = StagingSlot(kThisHart) + hw::kEthTransmitStatus % 16;

  // A constant that the compiler keeps in a register, from where loads and stores reach what lies around it.
  [[gnu::always_inline]] static uint32_t Hidden(uint32_t value) {
    asm("" : "+r"(value));
    return value;
  }
  // From the counters to the buffers that are used.
  static constexpr uint32_t kNiu = LinkBuffers::kDedicated
                                       ? hw::kNiuAddress + kThisNiu * hw::kNiuStride + 0xA00
                                       : Register::kBase + 0x400;

  template <typename Buffer>
  [[gnu::always_inline]] void Set(uint32_t offset, uint32_t value) const {
    Store(niu_ + (Buffer::kBase + offset - kNiu), value);
  }
  template <typename Buffer>
  [[gnu::always_inline]] void AwaitFree() const {
    constexpr uint32_t kCommand = Buffer::kBase + hw::kNocCommand;
    AwaitZeroAt<kCommand>(Load(niu_ + (kCommand - kNiu)));
  }
  template <uint32_t kId>
  [[gnu::always_inline]] void AwaitAnswered() const {
    constexpr uint32_t kCounter = NiuCounterAddress<kThisNiu>(hw::kNocRequestsOutstanding + kId);
    AwaitZeroAt<kCounter>(Load(niu_ + (kCounter - kNiu)));
  }
  // Fields that are 0 for every command of a kernel.
  template <typename Buffer>
  [[gnu::always_inline]] void Prepare() const {
    AwaitFree<Buffer>();
    Set<Buffer>(hw::kNocBroadcastExclude, 0);
    Set<Buffer>(hw::kNocTargetMid, 0);
    Set<Buffer>(hw::kNocReturnMid, 0);
  }
  // Fields that are the same for all writes of registers, for all reads of STATUS.
  [[gnu::always_inline]] void SetRegisterKind() const {
    Set<Register>(hw::kNocControl, kInlineControl);
    Set<Register>(hw::kNocPacketTag, PacketTag(LinkBuffers::kRegisterId));
  }
  [[gnu::always_inline]] void SetStatusKind() const {
    Set<Status>(hw::kNocControl, kReadControl);
    Set<Status>(hw::kNocPacketTag, PacketTag(LinkBuffers::kStatusId));
    Set<Status>(hw::kNocLength, sizeof(uint32_t));
    Set<Status>(hw::kNocReturnLow, kStatusWord);
  }

  // Rare functions take what they need by value, so that the members of the caller's tile stay in registers. Their own
  // tile rings no doorbells.
  [[gnu::always_inline]] LinkTile(uint32_t tile_xy, uint32_t own_xy)
      : tile_xy_(tile_xy), own_xy_(own_xy) {}

  // The queue's DATA register stays 1, what the command register of a doorbell takes.
  [[gnu::noinline, gnu::cold]] static void OpenDoorbells(uint32_t tile_xy, uint32_t own_xy) {
    const LinkTile tile(tile_xy, own_xy);
    tile.AwaitQueue();
    tile.Put(hw::kEthTransmitData, 1);
  }
  [[gnu::noinline, gnu::cold]] static void SetCoordinates(uint32_t tile_xy, uint32_t own_xy,
                                                          uint32_t far_worker_xy,
                                                          uint32_t far_tile_xy, uint32_t doorbell) {
    const LinkTile tile(tile_xy, own_xy);
    constexpr uint32_t kCoordinates[] = {hw::kNocTargetHigh, hw::kNocReturnHigh};
    uint32_t xy = far_worker_xy;
    for (const uint32_t offset : kCoordinates) {
      tile.AwaitQueue();
      tile.Put(hw::kEthTransmitData, xy);
      tile.AwaitQueue();
      tile.WriteFar(doorbell + offset);
      xy = far_tile_xy;
    }
    OpenDoorbells(tile_xy, own_xy);
  }
  // Behind AwaitQueue().
  [[gnu::always_inline]] void WriteFar(uint32_t address) const {
    PutFirst(hw::kEthTransmitDestination, address);
    Put(hw::kEthTransmitCommand, hw::kEthWriteRegister);
  }

  uint32_t niu_ = Hidden(kNiu);
  uint32_t queue_ = Hidden(hw::kEthTransmit + kQueue * hw::kEthTransmitStride);
  uint32_t tile_xy_;
  uint32_t own_xy_;
  uint32_t far_worker_xy_ = 0;
  uint32_t far_tile_xy_ = 0;
};

}  // namespace ttfd::firmware
