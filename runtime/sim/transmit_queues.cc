// Registers and commands of transmit queues.
#include "runtime/sim/transmit_queues.h"

#include <algorithm>
#include <utility>

#include "runtime/sim/noc_tile.h"
#include "runtime/sim/scheduler.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kAlignment = 16;
constexpr uint32_t kTransmitControl = 1;
constexpr uint32_t kReceiveControl = 2;

Refusal UnknownQueueRegister(uint32_t address) {
  return {FaultKind::kUnsupportedRegister, address,
          "no register of an Ethernet queue that is modelled"};
}

// A register that reads `value` and takes nothing else.
Refusal Keep(uint32_t address, uint32_t value, uint32_t written) {
  if (written == value) return {};
  return {FaultKind::kUnsupportedValue, address, "the queue stays as link firmware has set it up"};
}

uint64_t NowOf(const NocTile& tile) { return tile.machine().scheduler->now(); }

}  // namespace

Refusal TransmitQueues::Read(const NocTile& tile, uint32_t address, uint32_t* value) const {
  const uint32_t offset = address % hw::kEthTransmitStride;
  if (address >= hw::kEthReceive) {
    *value = kReceiveControl;
    return offset == hw::kEthReceiveControl ? Refusal{} : UnknownQueueRegister(address);
  }
  const uint32_t index = (address - hw::kEthTransmit) / hw::kEthTransmitStride;
  if (index >= kUsedQueues) return UnknownQueueRegister(address);
  const Queue& queue = queues_[index];
  switch (offset) {
    case hw::kEthTransmitControl:
      *value = kTransmitControl;
      return {};
    case hw::kEthTransmitCommand:
      *value = 0;
      return {};
    case hw::kEthTransmitStatus:
      *value = NowOf(tile) < queue.ready ? hw::kEthTransmitBusy : 0;
      return {};
    case hw::kEthTransmitAccepted:
      *value = queue.accepted;
      return {};
    default:
      return UnknownQueueRegister(address);
  }
}

Refusal TransmitQueues::Write(const NocTile& tile, uint32_t address, uint32_t value) {
  const uint32_t offset = address % hw::kEthTransmitStride;
  if (address >= hw::kEthReceive) {
    return offset == hw::kEthReceiveControl ? Keep(address, kReceiveControl, value)
                                            : UnknownQueueRegister(address);
  }
  const uint32_t index = (address - hw::kEthTransmit) / hw::kEthTransmitStride;
  if (index >= kUsedQueues) return UnknownQueueRegister(address);
  Queue& queue = queues_[index];
  switch (offset) {
    case hw::kEthTransmitControl:
      return Keep(address, kTransmitControl, value);
    case hw::kEthTransmitCommand:
      return Command(tile, queue, address, value);
    case hw::kEthTransmitStart:
      queue.start = value;
      return {};
    case hw::kEthTransmitSize:
      queue.size = value;
      return {};
    case hw::kEthTransmitDestination:
      queue.destination = value;
      return {};
    case hw::kEthTransmitData:
      queue.data = value;
      return {};
    default:
      return UnknownQueueRegister(address);
  }
}

Refusal TransmitQueues::CheckWrite(const NocTile& tile, const Queue& queue, uint32_t address) {
  if (queue.size == 0 || (queue.size | queue.start | queue.destination) % kAlignment != 0) {
    return {FaultKind::kLinkCommand, address,
            "start, size and destination of a write to L1 are multiples of 16, its size is not 0"};
  }
  if (queue.start >= tile.l1_bytes() || tile.l1_bytes() - queue.start < queue.size) {
    return {FaultKind::kLinkCommand, address,
            "the bytes of a write to L1 lie in the 448 KiB of the near tile's"};
  }
  return {};
}

Refusal TransmitQueues::Command(const NocTile& tile, Queue& queue, uint32_t address,
                                uint32_t command) {
  if (latency_ == 0) return {FaultKind::kLinkCommand, address, "the link is not up"};
  if (NowOf(tile) < queue.ready) {
    return {FaultKind::kLinkCommand, address,
            "the queue is busy: STATUS bit 16 has to be clear before a command"};
  }
  LinkPacket packet;
  packet.address = queue.destination;
  if (command == hw::kEthWriteL1) {
    if (Refusal refusal = CheckWrite(tile, queue, address)) return refusal;
    const std::byte* const from = tile.memory().l1() + queue.start;
    packet.bytes.assign(from, from + queue.size);
  } else if (command == hw::kEthWriteRegister) {
    if (queue.destination % 4 != 0) {
      return {FaultKind::kLinkCommand, address, "the address of a register is a multiple of 4"};
    }
    packet.data = queue.data;
  } else {
    return {FaultKind::kLinkCommand, address,
            "commands are 2 (write to L1) and 4 (write a register)"};
  }
  Send(tile, queue, std::move(packet));
  return {};
}

void TransmitQueues::Send(const NocTile& tile, Queue& queue, LinkPacket packet) {
  const uint64_t taken = std::max(NowOf(tile) + kLatch, queue.leaves[queue.oldest]);
  const auto bytes = static_cast<uint32_t>(packet.bytes.size()) + kPacketOverhead;
  const uint64_t begins = std::max(taken, wire_free_);
  const uint64_t ends = begins + (bytes + kBytesPerClock - 1) / kBytesPerClock;
  queue.ready = taken;
  queue.leaves[queue.oldest] = ends;
  queue.oldest = (queue.oldest + 1) % kDepth;
  ++queue.accepted;
  wire_free_ = ends;
  packet.arrival = ends + latency_;
  sent_.push_back(std::move(packet));
}

void TransmitQueues::Reset() {
  queues_ = {};
  wire_free_ = 0;
  sent_.clear();
}

}  // namespace ttfd::sim
