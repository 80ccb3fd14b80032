// Chooses when the stages of a packet happen, and does them then.
#include "runtime/sim/noc_transit.h"

#include <algorithm>
#include <iterator>

#include "runtime/hw/noc.h"
#include "runtime/sim/hart_access.h"
#include "runtime/sim/noc.h"
#include "runtime/sim/noc_view.h"
#include "runtime/sim/scheduler.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kUnit = 16;        // L1 is read and written in such, in any order
constexpr uint32_t kUncutBytes = 64;  // shorter packets travel in one piece
constexpr uint32_t kMostPieces = 4;
constexpr uint32_t kMostWaves = 4;

uint32_t Channel(const NocOrigin& origin) { return origin.control >> hw::kNocVcShift & 7; }
bool HasStaticChannel(const NocOrigin& origin) { return (origin.control & hw::kNocStaticVc) != 0; }
uint32_t Place(const NocTile& tile) { return hw::NocXy(tile.translated().x, tile.translated().y); }
uint32_t SenderKey(const NocPacket& packet, const NocOrigin& origin) {
  return Place(*packet.source) << 1 | origin.niu;
}

}  // namespace

NocTransit::NocTransit(Noc& noc, Machine& machine)
    : noc_(noc), machine_(machine), rng_(machine.hazards.seed, kRngOfNoc) {}

void NocTransit::Reset() {
  flights_.clear();
  senders_.clear();
  flows_.clear();
}

Refusal NocTransit::Send(const NocPacket& packet, const NocOrigin& origin) {
  if (Refusal refusal = noc_.CheckReach(packet)) return refusal;
  Flight& flight = Begin(packet, origin);
  Sender& sender = senders_[SenderKey(packet, origin)];
  const bool linked = (origin.control & hw::kNocLinked) != 0;
  if (linked && !sender.linked) sender.transaction.clear();
  sender.accepted = std::max(sender.accepted, Later(machine_.scheduler->now()));
  At<&NocTransit::Accept>(sender.accepted, flight);
  switch (packet.kind) {
    case PacketKind::kRead:
      PlanRead(flight, sender.accepted);
      break;
    case PacketKind::kWrite:
    case PacketKind::kMulticast:
      PlanWrite(flight, sender, sender.accepted);
      break;
    case PacketKind::kInline:
      flight.bytes.resize(sizeof(packet.data));
      StoreAt(flight.bytes.data(), packet.data);
      PlanArrivals(flight, sender, {sender.accepted}, sender.accepted);
      break;
    case PacketKind::kIncrement:
      PlanIncrement(flight, sender, sender.accepted);
      break;
  }
  sender.linked = linked;
  return {};
}

NocTransit::Flight& NocTransit::Begin(const NocPacket& packet, const NocOrigin& origin) {
  Flight& flight = flights_.emplace_back();
  flight.self = std::prev(flights_.end());
  flight.transit = this;
  flight.packet = packet;
  flight.origin = origin;
  flight.pc = origin.hart != nullptr ? origin.hart->pc : 0;
  if (packet.kind == PacketKind::kMulticast) {
    flight.packet.receivers = nullptr;  // it is not kept for us
    flight.receivers = *packet.receivers;
    for (TensixTile*& tile : flight.receivers) {
      if (!packet.Receives(tile)) tile = nullptr;
    }
  }
  Cut(flight);
  packet.niu->Take(origin.buffer);
  packet.source->RegisterChanged(packet.niu->CommandAddress(origin.buffer));
  if (!packet.posted) Noc::CountOutstanding(packet, 1);
  if (packet.ReadsLocal()) Noc::CountOutgoing(packet, 1);
  ShowNoc(NocEvent::kIssued, packet, origin);
  return flight;
}

// Ranges of whole units; the bytes of a multicast stay together, each of its copies is different enough.
void NocTransit::Cut(Flight& flight) {
  const uint32_t length = flight.packet.kind == PacketKind::kIncrement ? 4 : flight.packet.length;
  uint32_t offset = 0;
  if (length > kUncutBytes && flight.packet.kind != PacketKind::kMulticast) {
    for (uint32_t cuts = rng_.Below(kMostPieces); cuts != 0; --cuts) {
      // To the next unit of the far end's memory: the near end is equal modulo 16.
      const uint32_t start = static_cast<uint32_t>(flight.packet.remote % kUnit);
      const uint32_t at = offset + kUnit * (1 + rng_.Below((length - offset) / kUnit));
      const uint32_t end = at - (start + at) % kUnit;
      if (end <= offset || end >= length) break;
      flight.pieces.push_back({offset, end - offset});
      offset = end;
    }
  }
  flight.pieces.push_back({offset, length - offset});
}

std::vector<NocTransit::Clocks*> NocTransit::Holds(const Flight& flight, Sender& sender) {
  const NocOrigin& origin = flight.origin;
  std::vector<Clocks*> holds;
  if (HasStaticChannel(origin)) {
    if (flows_.size() >= forget_at_) ForgetOldFlows();
    const bool multicast = flight.packet.kind == PacketKind::kMulticast;
    const uint64_t key = uint64_t{SenderKey(flight.packet, origin)} << 32 |
                         uint64_t{Channel(origin)} << 28 | uint64_t{multicast} << 24 | origin.to;
    holds.push_back(&flows_[key]);
  }
  if (sender.linked || (origin.control & hw::kNocLinked) != 0) {
    holds.push_back(&sender.transaction);
  }
  for (Clocks* const clocks : holds) {
    clocks->resize(std::max<size_t>(flight.receivers.size(), 1));
  }
  return holds;
}

// Packets that have arrived already delay no others.
void NocTransit::ForgetOldFlows() {
  const uint64_t now = machine_.scheduler->now();
  std::erase_if(flows_, [now](const auto& flow) {
    return std::all_of(flow.second.begin(), flow.second.end(),
                       [now](uint64_t clock) { return clock < now; });
  });
  forget_at_ = std::max(kFlowsKept, 2 * flows_.size());
}

uint64_t NocTransit::Between(uint64_t from, uint64_t to) {
  return from + rng_.Below(static_cast<uint32_t>(to - from) + 1);
}

void NocTransit::PlanRead(Flight& flight, uint64_t accepted) {
  flight.bytes.resize(flight.packet.length);
  uint64_t last = accepted;
  for (uint32_t i = 0; i < flight.pieces.size(); ++i) {
    const uint64_t sampled = Later(accepted);
    const uint64_t arrived = Later(sampled);
    At<&NocTransit::Sample>(sampled, flight, i);
    At<&NocTransit::Arrive>(arrived, flight, i);
    ++flight.arrivals;
    last = std::max(last, arrived);
  }
  PlanAnswer(flight, last, 1);
}

void NocTransit::PlanWrite(Flight& flight, Sender& sender, uint64_t accepted) {
  flight.bytes.resize(flight.packet.length);
  uint64_t sent = Later(accepted);
  if (HasStaticChannel(flight.origin)) {
    uint64_t& before = sender.sent[Channel(flight.origin)];
    sent = before = std::max(before, sent);
  }
  std::vector<uint64_t> sampled(flight.pieces.size());
  for (uint32_t i = 0; i < flight.pieces.size(); ++i) {
    sampled[i] = Between(accepted, sent);
    At<&NocTransit::Sample>(sampled[i], flight, i);
  }
  At<&NocTransit::Sent>(sent, flight);
  if (flight.packet.kind == PacketKind::kMulticast) {
    PlanMulticast(flight, sender, sampled[0], sent);
  } else {
    PlanArrivals(flight, sender, sampled, sent);
  }
}

void NocTransit::PlanArrivals(Flight& flight, Sender& sender, const std::vector<uint64_t>& ready,
                              uint64_t sent) {
  const std::vector<Clocks*> holds = Holds(flight, sender);
  uint64_t earliest = 0;
  for (const Clocks* const clocks : holds) earliest = std::max(earliest, clocks->front());
  uint64_t last = 0;
  for (uint32_t i = 0; i < flight.pieces.size(); ++i) {
    const uint64_t arrived = Later(std::max(earliest, ready[i]));
    At<&NocTransit::Arrive>(arrived, flight, i);
    ++flight.arrivals;
    last = std::max(last, arrived);
  }
  for (Clocks* const clocks : holds) clocks->front() = last;
  PlanAnswer(flight, std::max(last, sent), 1);
}

void NocTransit::PlanMulticast(Flight& flight, Sender& sender, uint64_t ready, uint64_t sent) {
  const std::vector<Clocks*> holds = Holds(flight, sender);
  const uint32_t waves = 1 + rng_.Below(kMostWaves);
  flight.waves.resize(flight.receivers.size());
  for (uint32_t& wave : flight.waves) wave = rng_.Below(waves);
  for (uint32_t wave = 0; wave < waves; ++wave) {
    uint64_t earliest = ready;
    uint32_t receivers = 0;
    for (size_t i = 0; i < flight.waves.size(); ++i) {
      if (!flight.Reaches(i, wave)) continue;
      ++receivers;
      for (const Clocks* const clocks : holds) earliest = std::max(earliest, (*clocks)[i]);
    }
    if (receivers == 0) continue;
    const uint64_t arrived = Later(earliest);
    for (size_t i = 0; i < flight.waves.size(); ++i) {
      if (!flight.Reaches(i, wave)) continue;
      for (Clocks* const clocks : holds) (*clocks)[i] = arrived;
    }
    At<&NocTransit::ArriveInWave>(arrived, flight, wave);
    ++flight.arrivals;
    PlanAnswer(flight, std::max(arrived, sent), receivers);
  }
}

void NocTransit::PlanIncrement(Flight& flight, Sender& sender, uint64_t accepted) {
  const std::vector<Clocks*> holds = Holds(flight, sender);
  uint64_t done = accepted;
  for (const Clocks* const clocks : holds) done = std::max(done, clocks->front());
  done = Later(done);
  for (Clocks* const clocks : holds) clocks->front() = done;
  flight.bytes.resize(sizeof(uint32_t));
  At<&NocTransit::Increment>(done, flight);
  ++flight.arrivals;
  const uint64_t returned = Later(done);
  At<&NocTransit::ReturnOld>(returned, flight);
  PlanAnswer(flight, returned, 1);
}

void NocTransit::PlanAnswer(Flight& flight, uint64_t earliest, uint32_t answers) {
  if (flight.packet.posted) return;
  At<&NocTransit::Answer>(Later(earliest), flight, answers);
  ++flight.answers;
}

template <Refusal (NocTransit::*kStage)(NocTransit::Flight&, uint32_t)>
void NocTransit::At(uint64_t clock, Flight& flight, uint32_t argument) {
  ++flight.events;
  // Small enough to be kept without memory of its own.
  machine_.scheduler->At(clock, [at = &flight, argument] {
    NocTransit& transit = *at->transit;
    transit.Happened(*at, (transit.*kStage)(*at, argument));
  });
}

// A refusal that only the far end could give (a register's value, say) is the issuing hart's.
void NocTransit::Happened(Flight& flight, const Refusal& refusal) {
  if (refusal) flight.packet.source->Fail(flight.origin.hart, flight.pc, refusal);
  if (--flight.events == 0) flights_.erase(flight.self);
}

Refusal NocTransit::Accept(Flight& flight, uint32_t) {
  const NocPacket& packet = flight.packet;
  packet.niu->Accept(flight.origin.buffer);
  packet.source->RegisterChanged(packet.niu->CommandAddress(flight.origin.buffer));
  if (packet.kind == PacketKind::kInline) Noc::CountSent(packet);
  return {};
}

Refusal NocTransit::Sample(Flight& flight, uint32_t piece) {
  const Piece& at = flight.pieces[piece];
  return noc_.Sample(flight.packet, at.offset, at.length, flight.bytes.data() + at.offset);
}

Refusal NocTransit::Sent(Flight& flight, uint32_t) {
  Noc::CountSent(flight.packet);
  Noc::CountOutgoing(flight.packet, ~uint32_t{0});
  return {};
}

void NocTransit::OneArrived(Flight& flight) {
  if (--flight.arrivals != 0) return;
  ShowNoc(NocEvent::kDelivered, flight.packet, flight.origin);
  if (flight.packet.posted) ShowNoc(NocEvent::kCounted, flight.packet, flight.origin);
}

Refusal NocTransit::Arrive(Flight& flight, uint32_t piece) {
  const Piece& at = flight.pieces[piece];
  const Refusal refusal =
      noc_.Deliver(flight.packet, at.offset, at.length, flight.bytes.data() + at.offset);
  OneArrived(flight);
  return refusal;
}

Refusal NocTransit::ArriveInWave(Flight& flight, uint32_t wave) {
  Refusal refusal;
  for (size_t i = 0; i < flight.receivers.size() && !refusal; ++i) {
    if (!flight.Reaches(i, wave)) continue;
    refusal = Noc::DeliverTo(*flight.receivers[i], flight.packet, flight.bytes.data());
  }
  OneArrived(flight);
  return refusal;
}

Refusal NocTransit::Increment(Flight& flight, uint32_t) {
  StoreAt(flight.bytes.data(), noc_.Increment(flight.packet));
  OneArrived(flight);
  return {};
}

Refusal NocTransit::ReturnOld(Flight& flight, uint32_t) {
  Noc::ReturnOld(flight.packet, LoadAt<uint32_t>(flight.bytes.data()));
  return {};
}

Refusal NocTransit::Answer(Flight& flight, uint32_t answers) {
  Noc::CountAnswers(flight.packet, answers);
  if (--flight.answers == 0) ShowNoc(NocEvent::kCounted, flight.packet, flight.origin);
  return {};
}

}  // namespace ttfd::sim
