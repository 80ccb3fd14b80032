// Doorbells of Ethernet tiles, and the words of LinkEnds.
#include "runtime/fabric/link_end.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/abi/link.h"
#include "runtime/fabric/ethernet_end.h"
#include "runtime/hw/ethernet.h"
#include "runtime/hw/noc.h"

namespace ttfd {
namespace {

constexpr uint32_t kIncrement =
    hw::kNocAtomic | hw::kNocResponse | hw::kNocStaticVc | hw::kNocUnicastVc << hw::kNocVcShift;
constexpr uint64_t kWaitClocks = 1000;  // between two looks

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

// Target of an increment.
struct DoorbellTarget {
  uint32_t xy = 0;
  uint32_t address = 0;
  uint32_t by = 0;
};

// One end while it is being connected.
class Side {
 public:
  static StatusOr<Side> Open(const LinkPlace& place, Clock& clock) {
    if (place.end >= abi::kLinkEnds) {
      return InvalidArgument("{}: link end {}; a worker has ends 0 to {}", place.name, place.end,
                             abi::kLinkEnds - 1);
    }
    ASSIGN_OR_RETURN(EthernetEnd tile,
                     EthernetEnd::Open(*place.device, place.channel, place.name, clock));
    Side side(place, std::move(tile));
    ASSIGN_OR_RETURN(side.worker_, place.device->OpenWindow(UnicastTarget(place.worker)));
    return side;
  }

  const std::string& name() const { return place_->name; }
  EthernetEnd& tile() { return tile_; }
  StatusOr<uint32_t> Read(uint32_t address) const { return tile_.Read(address); }
  Status Write(uint32_t address, uint32_t value) const { return tile_.Write(address, value); }

  DoorbellTarget Unused() const { return {tile_xy(), abi::kLinkUnusedAddress, 1}; }
  DoorbellTarget Worker(uint32_t doorbell) const {
    const uint32_t end = abi::LinkEndAddress(place_->end);
    const uint32_t worker = Xy(place_->worker);
    if (doorbell < abi::kLinkCreditDoorbell) {
      return {worker, end + uint32_t{offsetof(abi::LinkEnd, arrived)}, 1};
    }
    return {worker, end + uint32_t{offsetof(abi::LinkEnd, credits)}, abi::kLinkCreditSlots};
  }
  // The registers of a doorbell: offset and value.
  std::vector<std::pair<uint32_t, uint32_t>> Doorbell(uint32_t doorbell,
                                                      const DoorbellTarget& target) const {
    return {{hw::kNocTargetLow, target.address},
            {hw::kNocTargetMid, 0},
            {hw::kNocTargetHigh, target.xy},
            {hw::kNocReturnLow, abi::kLinkReturnAddress + 16 * doorbell},
            {hw::kNocReturnMid, 0},
            {hw::kNocReturnHigh, tile_xy()},
            {hw::kNocPacketTag, 0},
            {hw::kNocControl, kIncrement},
            {hw::kNocLength, hw::kNocAtomicIncrement},
            {hw::kNocData, target.by}};
  }
  Status SetDoorbell(uint32_t doorbell, const DoorbellTarget& target) const {
    for (const auto& [offset, value] : Doorbell(doorbell, target)) {
      RETURN_IF_ERROR(Write(abi::LinkDoorbellAddress(doorbell) + offset, value));
    }
    return OkStatus();
  }
  // Does the doorbell hold what SetDoorbell wrote?
  StatusOr<bool> Holds(uint32_t doorbell, const DoorbellTarget& target) const {
    for (const auto& [offset, value] : Doorbell(doorbell, target)) {
      ASSIGN_OR_RETURN(const uint32_t found, Read(abi::LinkDoorbellAddress(doorbell) + offset));
      if (found != value) return false;
    }
    return true;
  }

  StatusOr<abi::LinkEnd> ReadEnd() const {
    abi::LinkEnd end;
    RETURN_IF_ERROR(worker_->Read(abi::LinkEndAddress(place_->end), MutableBytesOf(end)));
    return end;
  }
  Status WriteEnd(const abi::LinkEnd& end) const {
    return worker_->Write(abi::LinkEndAddress(place_->end), BytesOf(end));
  }
  uint32_t tile_xy() const { return tile_.xy(); }
  uint32_t worker_xy() const { return Xy(place_->worker); }

 private:
  Side(const LinkPlace& place, EthernetEnd tile) : place_(&place), tile_(std::move(tile)) {}

  const LinkPlace* place_;
  EthernetEnd tile_;
  std::unique_ptr<Window> worker_;
};

class Connector {
 public:
  Connector(Side& a, Side& b) : a_(a), b_(b) {}

  Status Connect() {
    RETURN_IF_ERROR(CheckNeighbours(a_, b_));
    RETURN_IF_ERROR(CheckNeighbours(b_, a_));
    RETURN_IF_ERROR(Disarm());
    ASSIGN_OR_RETURN(const bool a_keeps, TryDoorbells(b_, a_));
    ASSIGN_OR_RETURN(const bool b_keeps, TryDoorbells(a_, b_));
    ASSIGN_OR_RETURN(const abi::LinkEnd old_a, a_.ReadEnd());
    ASSIGN_OR_RETURN(const abi::LinkEnd old_b, b_.ReadEnd());
    const uint32_t generation = std::max(old_a.generation, old_b.generation) + 1;
    RETURN_IF_ERROR(a_.WriteEnd(EndOf(a_, b_, b_keeps, generation)));
    RETURN_IF_ERROR(b_.WriteEnd(EndOf(b_, a_, a_keeps, generation)));
    for (const Side* side : {&a_, &b_}) {
      RETURN_IF_ERROR(
          SetDoorbells(*side, [side](uint32_t doorbell) { return side->Worker(doorbell); }));
    }
    RETURN_IF_ERROR(a_.ReadEnd().status());
    RETURN_IF_ERROR(b_.ReadEnd().status());
    return CheckDoorbells();
  }

  // Both ends are cleared even if the link does not answer.
  Status Disconnect() {
    Status disarmed = Disarm();
    for (const Side* side : {&a_, &b_}) {
      RETURN_IF_ERROR(side->WriteEnd({}));
      RETURN_IF_ERROR(side->ReadEnd().status());
    }
    return disarmed;
  }

 private:
  Status Annotated(const Status& status) const {
    return Annotate(status, fmt::format("link {}-{}", a_.name(), b_.name()));
  }

  // The channel is up, and its peer is the other end.
  static Status CheckNeighbours(const Side& side, const Side& other) {
    ASSIGN_OR_RETURN(const uint32_t port, side.Read(hw::kEthPortStatus));
    if (port != hw::kEthPortUp) {
      return Error(StatusCode::kFailedPrecondition, "{}: the channel is not up", side.name());
    }
    constexpr uint32_t kPlaceMask = 0xFF'FF'00;  // ASIC location and channel
    for (const uint32_t offset : {hw::kEthInfoPlace, hw::kEthInfoBoardHigh, hw::kEthInfoBoardLow}) {
      const uint32_t mask = offset == hw::kEthInfoPlace ? kPlaceMask : ~0u;
      ASSIGN_OR_RETURN(const uint32_t peer, side.Read(hw::kEthRemoteInfo + offset));
      ASSIGN_OR_RETURN(const uint32_t expected, other.Read(hw::kEthLocalInfo + offset));
      if (((peer ^ expected) & mask) == 0) continue;
      return Error(StatusCode::kFailedPrecondition, "{} is not connected to {}", side.name(),
                   other.name());
    }
    return OkStatus();
  }

  Status Await(Side& side, absl::FunctionRef<StatusOr<bool>()> done) const {
    return Annotated(side.tile().Await(kWaitClocks, done));
  }

  // Afterwards nothing of kernels is on its way, and the doorbells touch no worker.
  Status Disarm() {
    RETURN_IF_ERROR(Drain(a_, b_));
    RETURN_IF_ERROR(Drain(b_, a_));
    for (Side* side : {&a_, &b_}) {
      RETURN_IF_ERROR(AwaitIncrements(*side));
      RETURN_IF_ERROR(SetDoorbells(*side, [side](uint32_t) { return side->Unused(); }));
      RETURN_IF_ERROR(side->Write(abi::kLinkUnusedAddress, 0));
      // A read is behind the writes of its window: nothing is fired before all of them have arrived.
      RETURN_IF_ERROR(side->Read(abi::kLinkUnusedAddress).status());
    }
    return OkStatus();
  }

  // Packets of kernels may still be on their way: waits until they have arrived, which a marker behind them shows.
  Status Drain(Side& near, Side& far) const {
    for (const uint32_t queue : {0u, 1u}) {
      const uint32_t at = abi::kLinkMarkerAddress + 16 * queue;
      ASSIGN_OR_RETURN(const uint32_t old, far.Read(at));
      RETURN_IF_ERROR(near.Write(at, old + 1));
      RETURN_IF_ERROR(near.Read(at).status());  // it is there
      RETURN_IF_ERROR(Annotated(near.tile().SendBytes(queue, at, at, 16)));
      RETURN_IF_ERROR(Await(near, [&]() -> StatusOr<bool> {
        ASSIGN_OR_RETURN(const uint32_t found, far.Read(at));
        return found == old + 1;
      }));
    }
    return OkStatus();
  }

  // Waits until every increment that was fired at the tile has been answered.
  Status AwaitIncrements(Side& side) const {
    return Await(side, [&]() -> StatusOr<bool> {
      uint32_t outstanding = 0;
      for (const uint32_t niu : {0u, 1u}) {
        ASSIGN_OR_RETURN(const uint32_t count,
                         side.Read(hw::kNiuAddress + niu * hw::kNiuStride + hw::kNocStatus +
                                   4 * hw::kNocRequestsOutstanding));
        outstanding |= count;
      }
      return outstanding == 0;
    });
  }

  static Status SetDoorbells(const Side& side, absl::FunctionRef<DoorbellTarget(uint32_t)> target) {
    for (uint32_t doorbell = 0; doorbell < abi::kLinkDoorbells; ++doorbell) {
      RETURN_IF_ERROR(side.SetDoorbell(doorbell, target(doorbell)));
    }
    return OkStatus();
  }

  // Fires every doorbell of `far` from the other end. Do its NIUs keep the coordinates of a command?
  StatusOr<bool> TryDoorbells(Side& near, Side& far) const {
    for (uint32_t doorbell = 0; doorbell < abi::kLinkDoorbells; ++doorbell) {
      const uint32_t queue = doorbell < abi::kLinkCreditDoorbell ? 0 : 1;
      RETURN_IF_ERROR(Annotated(near.tile().SendRegister(
          queue, abi::LinkDoorbellAddress(doorbell) + hw::kNocCommand, 1)));
    }
    RETURN_IF_ERROR(Await(near, [&]() -> StatusOr<bool> {
      ASSIGN_OR_RETURN(const uint32_t rung, far.Read(abi::kLinkUnusedAddress));
      return rung == abi::kLinkDoorbells;
    }));
    for (uint32_t doorbell = 0; doorbell < abi::kLinkDoorbells; ++doorbell) {
      ASSIGN_OR_RETURN(const bool kept, far.Holds(doorbell, far.Unused()));
      if (!kept) return false;
    }
    return true;
  }

  static abi::LinkEnd EndOf(const Side& side, const Side& far, bool far_keeps,
                            uint32_t generation) {
    abi::LinkEnd end{};
    end.generation = generation;
    end.tile_xy = side.tile_xy();
    if (!far_keeps) {
      end.far_worker_xy = far.worker_xy();
      end.far_tile_xy = far.tile_xy();
    }
    return end;
  }

  Status CheckDoorbells() const {
    for (const Side* side : {&a_, &b_}) {
      for (uint32_t doorbell = 0; doorbell < abi::kLinkDoorbells; ++doorbell) {
        ASSIGN_OR_RETURN(const bool holds, side->Holds(doorbell, side->Worker(doorbell)));
        if (holds) continue;
        return Annotated(Error(StatusCode::kFailedPrecondition,
                               "{}: the Ethernet tile does not hold the command in buffer {}",
                               side->name(), doorbell));
      }
    }
    return OkStatus();
  }

  Side& a_;
  Side& b_;
};

}  // namespace

Status ConnectLink(const LinkPlace& a, const LinkPlace& b, Clock& clock) {
  ASSIGN_OR_RETURN(Side side_a, Side::Open(a, clock));
  ASSIGN_OR_RETURN(Side side_b, Side::Open(b, clock));
  return Connector(side_a, side_b).Connect();
}

Status DisconnectLink(const LinkPlace& a, const LinkPlace& b, Clock& clock) {
  StatusOr<Side> side_a = Side::Open(a, clock);
  StatusOr<Side> side_b = Side::Open(b, clock);
  if (side_a.ok() && side_b.ok()) return Connector(*side_a, *side_b).Disconnect();
  for (StatusOr<Side>* side : {&side_a, &side_b}) {
    if (side->ok()) (*side)->WriteEnd({}).IgnoreError();
  }
  return side_a.ok() ? side_b.status() : side_a.status();
}

}  // namespace ttfd
