// Transmit queues of an Ethernet tile and the wire behind them.
//
// Queues 0 and 1 take writes to the peer's L1 and to its registers; queue 2 is refused: whether link firmware uses it
// is not known. A command takes kLatch clocks until the queue takes the next one, longer while kDepth packets of the
// queue have not left. Packets leave in the order of their commands at kBytesPerClock. Bytes are read from L1 when the
// command is given.
//
// Source: tt-isa-documentation BlackholeA0/EthernetTile/EthernetTxRx.md. The figures are ours: 400 GbE at 1.35 GHz
// with 64 bytes of headers a packet; depth and latch were not measured on silicon.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/hw/ethernet.h"
#include "runtime/sim/fault.h"

namespace ttfd::sim {

class NocTile;

// A write to the peer.
struct LinkPacket {
  uint64_t arrival = 0;  // clock
  uint32_t address = 0;
  uint32_t data = 0;             // of a register write
  std::vector<std::byte> bytes;  // of a write to L1; none: a register write
};

class TransmitQueues {
 public:
  static constexpr uint32_t kBytesPerClock = 37;
  static constexpr uint32_t kPacketOverhead = 64;
  static constexpr uint32_t kDepth = 4;
  static constexpr uint32_t kLatch = 8;

  // Registers of transmit and receive queues. `tile`, whose queues they are, outlives them.
  static bool Has(uint32_t address) {
    return address >= hw::kEthTransmit &&
           address < hw::kEthReceive + hw::kEthQueues * hw::kEthTransmitStride;
  }
  Refusal Read(const NocTile& tile, uint32_t address, uint32_t* value) const;
  Refusal Write(const NocTile& tile, uint32_t address, uint32_t value);

  // Clocks from the end of a packet at this end until it has arrived; 0: there is no peer, and commands are refused.
  void SetLatency(uint32_t clocks) { latency_ = clocks; }

  // Packets since the last call, in their order.
  std::vector<LinkPacket> TakeSent() { return std::exchange(sent_, {}); }
  bool has_sent() const { return !sent_.empty(); }
  // Clock from which every queue takes a command.
  uint64_t free_at() const { return std::max(queues_[0].ready, queues_[1].ready); }
  void Reset();

 private:
  static constexpr uint32_t kUsedQueues = 2;

  struct Queue {
    uint32_t start = 0, size = 0, destination = 0, data = 0;
    uint32_t accepted = 0;                  // commands
    uint64_t ready = 0;                     // clock from which it takes the next one
    std::array<uint64_t, kDepth> leaves{};  // clocks at which its last packets have left
    uint32_t oldest = 0;                    // of `leaves`
  };
  Refusal Command(const NocTile& tile, Queue& queue, uint32_t address, uint32_t command);
  static Refusal CheckWrite(const NocTile& tile, const Queue& queue, uint32_t address);
  void Send(const NocTile& tile, Queue& queue, LinkPacket packet);

  uint32_t latency_ = 0;
  uint64_t wire_free_ = 0;  // clock
  std::array<Queue, kUsedQueues> queues_;
  std::vector<LinkPacket> sent_;
};

}  // namespace ttfd::sim
