// Registers of transmit queues, and waits with a deadline.
#include "runtime/fabric/ethernet_end.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/hw/ethernet.h"
#include "runtime/hw/noc.h"

namespace ttfd {
namespace {

constexpr uint64_t kQueueClocks = 16;  // a queue takes a command every few clocks
// Far more than any command of a NIU takes.
constexpr uint64_t kSettleClocks = 100'000;
constexpr uint64_t kSettleSteps = 100;
constexpr Duration kSettleTime = std::chrono::milliseconds(1);

uint32_t Register(uint32_t queue, uint32_t offset) {
  return hw::kEthTransmit + queue * hw::kEthTransmitStride + offset;
}

}  // namespace

StatusOr<EthernetEnd> EthernetEnd::Open(Device& device, uint32_t channel, std::string name,
                                        Clock& clock) {
  const std::vector<uint32_t>& channels = device.info().ethernet_channels;
  const auto found = std::find(channels.begin(), channels.end(), channel);
  if (found == channels.end()) {
    return InvalidArgument("{}: the chip has no Ethernet channel {}", name, channel);
  }
  const hw::Coordinate at = {hw::kEthTranslatedX + static_cast<uint32_t>(found - channels.begin()),
                             hw::kEthTranslatedY};
  EthernetEnd end(device, hw::NocXy(at.x, at.y), std::move(name), clock);
  ASSIGN_OR_RETURN(end.window_, device.OpenWindow(UnicastTarget(at)));
  return end;
}

Status EthernetEnd::Set(uint32_t queue, uint32_t offset, std::optional<uint32_t> Queue::*holds,
                        uint32_t value) {
  std::optional<uint32_t>& held = queues_[queue].*holds;
  if (held == value) return OkStatus();
  held.reset();
  RETURN_IF_ERROR(Write(Register(queue, offset), value));
  held = value;
  return OkStatus();
}

Status EthernetEnd::AwaitQueue(uint32_t queue) const {
  return Await(kQueueClocks, [&]() -> StatusOr<bool> {
    ASSIGN_OR_RETURN(const uint32_t status, Read(Register(queue, hw::kEthTransmitStatus)));
    return (status & hw::kEthTransmitBusy) == 0;
  });
}

Status EthernetEnd::SendBytes(uint32_t queue, uint32_t from, uint32_t to, uint32_t bytes) {
  RETURN_IF_ERROR(AwaitQueue(queue));
  RETURN_IF_ERROR(Set(queue, hw::kEthTransmitStart, &Queue::start, from));
  RETURN_IF_ERROR(Set(queue, hw::kEthTransmitSize, &Queue::size, bytes));
  RETURN_IF_ERROR(Set(queue, hw::kEthTransmitDestination, &Queue::destination, to));
  return Write(Register(queue, hw::kEthTransmitCommand), hw::kEthWriteL1);
}

Status EthernetEnd::SendRegister(uint32_t queue, uint32_t address, uint32_t value) {
  RETURN_IF_ERROR(AwaitQueue(queue));
  RETURN_IF_ERROR(Set(queue, hw::kEthTransmitDestination, &Queue::destination, address));
  RETURN_IF_ERROR(Set(queue, hw::kEthTransmitData, &Queue::data, value));
  return Write(Register(queue, hw::kEthTransmitCommand), hw::kEthWriteRegister);
}

StatusOr<Waited> EthernetEnd::Wait(uint64_t clocks,
                                   absl::FunctionRef<StatusOr<bool>()> done) const {
  const TimePoint deadline = clock_->Now() + kLinkDeadline;
  Status fault;
  const auto step = [&]() -> StatusOr<bool> {
    const StatusOr<AdvanceResult> result = device_->Advance(clocks);
    if (result.ok()) return !result->quiescent;
    // A hart of this chip has stopped, which is for others to find. Its Ethernet tiles work.
    if (!device_->fault().has_value() || !fault.ok()) return result.status();
    fault = result.status();
    return true;
  };
  const auto late = [&] { return clock_->Now() >= deadline; };
  StatusOr<Waited> waited = WaitUntil(done, step, late, NoTick, Pacing(device_->info(), *clock_));
  if (!fault.ok()) device_->ReturnFault(fault);
  return waited;
}

Status EthernetEnd::Await(uint64_t clocks, absl::FunctionRef<StatusOr<bool>()> done) const {
  ASSIGN_OR_RETURN(const Waited waited, Wait(clocks, done));
  if (waited == Waited::kDone) return OkStatus();
  return Error(StatusCode::kUnavailable, "no answer over the link at {} ({})", name_, Describe());
}

Status EthernetEnd::Settle() const {
  if (device_->info().runs_by_itself) {
    clock_->Sleep(kSettleTime);
    return OkStatus();
  }
  uint64_t steps = 0;
  return Wait(kSettleClocks / kSettleSteps,
              [&]() -> StatusOr<bool> { return ++steps > kSettleSteps; })
      .status();
}

std::string EthernetEnd::Describe() const {
  const StatusOr<uint32_t> port = Read(hw::kEthPortStatus);
  const StatusOr<uint32_t> retrains = Read(hw::kEthRetrains);
  std::string text = port.ok() && retrains.ok()
                         ? fmt::format("port status {}, {} retrains", *port, *retrains)
                         : "the tile cannot be read";
  for (uint32_t queue = 0; queue < queues_.size(); ++queue) {
    const StatusOr<uint32_t> status = Read(Register(queue, hw::kEthTransmitStatus));
    if (status.ok() && (*status & hw::kEthTransmitBusy) != 0) {
      text += fmt::format(", queue {} is busy", queue);
    }
  }
  return text;
}

}  // namespace ttfd
