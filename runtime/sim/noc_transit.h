// Packets that take time: what Noc::Complete() does in one go, spread over clocks that the seed chooses.
//
// A command waits in its buffer until the NIU accepts it; a write's bytes are read some time before the
// NIU counts it as sent, in pieces if there are many; they arrive later, pieces in any order; the answer
// is counted later still. A read's bytes are fetched at one time and written to L1 at another. The copies
// of a multicast arrive on different tiles at different times. What keeps order (tt-isa-documentation
// NoC/Ordering.md):
//   - NIUs accept commands in the order in which they were issued;
//   - writes, inline writes and increments with the same source, destination, NoC and static virtual
//     channel arrive one after the other, and leave one after the other whatever their destination;
//   - so do multicasts to one rectangle, at each of its tiles;
//   - so do the packets of a linked transaction.
// Nothing else does: not reads (stricter than the documents, which let them stay behind writes on their
// static channel), not unicasts and multicasts, not packets without the static bit, not two NoCs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "runtime/sim/machine.h"
#include "runtime/sim/noc_packet.h"
#include "runtime/sim/rng.h"

namespace ttfd::sim {

class NocTransit {
 public:
  // Both outlive it.
  NocTransit(Noc& noc, Machine& machine);

  // A hart has written CMD_CTRL; the command was checked.
  Refusal Send(const NocPacket& packet, const NocOrigin& origin);

  // Forgets what is on its way. The scheduler has forgotten its events.
  void Reset();

 private:
  // When the last packet that has to stay in front arrived: one clock, or one for each tile of a
  // multicast's rectangle.
  using Clocks = std::vector<uint64_t>;

  // Bytes that travel together.
  struct Piece {
    uint32_t offset;
    uint32_t length;
  };

  // A packet on its way. Events hold its address; the last of them ends it.
  struct Flight {
    NocTransit* transit = nullptr;
    NocPacket packet;
    NocOrigin origin;
    uint32_t pc = 0;  // of the store to CMD_CTRL
    std::vector<Piece> pieces;
    std::vector<std::byte> bytes;
    // Tiles of a multicast's rectangle, in an order that is the same for every multicast to it; null: not for this
    // one (the source's own).
    std::vector<TensixTile*> receivers;
    std::vector<uint32_t> waves;  // of each receiver: copies of one wave arrive together
    bool Reaches(size_t receiver, uint32_t wave) const {
      return receivers[receiver] != nullptr && waves[receiver] == wave;
    }
    uint32_t events = 0;    // to come
    uint32_t arrivals = 0;  // to come
    uint32_t answers = 0;   // to come
    std::list<Flight>::iterator self;
  };

  struct Sender {                    // an NIU
    uint64_t accepted = 0;           // the last command
    std::array<uint64_t, 8> sent{};  // the last write, by static virtual channel
    bool linked = false;             // a transaction is open
    Clocks transaction;
  };

  Flight& Begin(const NocPacket& packet, const NocOrigin& origin);
  // Clocks that the packet has to stay behind; it leaves its own arrival there.
  std::vector<Clocks*> Holds(const Flight& flight, Sender& sender);
  void ForgetOldFlows();

  // Choose the clocks of what has to happen from `accepted` on.
  void PlanRead(Flight& flight, uint64_t accepted);
  void PlanWrite(Flight& flight, Sender& sender, uint64_t accepted);
  void PlanArrivals(Flight& flight, Sender& sender, const std::vector<uint64_t>& ready,
                    uint64_t sent);
  void PlanMulticast(Flight& flight, Sender& sender, uint64_t ready, uint64_t sent);
  void PlanIncrement(Flight& flight, Sender& sender, uint64_t accepted);
  void PlanAnswer(Flight& flight, uint64_t earliest, uint32_t answers);
  void Cut(Flight& flight);

  // Stages that happen at these clocks.
  Refusal Accept(Flight& flight, uint32_t);
  Refusal Sample(Flight& flight, uint32_t piece);
  Refusal Sent(Flight& flight, uint32_t);
  Refusal Arrive(Flight& flight, uint32_t piece);
  Refusal ArriveInWave(Flight& flight, uint32_t wave);
  Refusal Increment(Flight& flight, uint32_t);
  Refusal ReturnOld(Flight& flight, uint32_t);
  Refusal Answer(Flight& flight, uint32_t answers);

  template <Refusal (NocTransit::*kStage)(Flight&, uint32_t)>
  void At(uint64_t clock, Flight& flight, uint32_t argument = 0);
  void Happened(Flight& flight, const Refusal& refusal);
  void OneArrived(Flight& flight);
  uint64_t Later(uint64_t clock) { return clock + Delay(rng_); }
  uint64_t Between(uint64_t from, uint64_t to);

  Noc& noc_;
  Machine& machine_;
  Rng rng_;
  std::list<Flight> flights_;
  std::unordered_map<uint32_t, Sender> senders_;
  std::unordered_map<uint64_t, Clocks> flows_;
  size_t forget_at_ = kFlowsKept;
  static constexpr size_t kFlowsKept = 4096;
};

}  // namespace ttfd::sim
