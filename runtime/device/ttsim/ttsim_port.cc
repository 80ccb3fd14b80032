#include "runtime/device/ttsim/ttsim_port.h"

#include <algorithm>
#include <utility>

#include "runtime/hw/pcie.h"

namespace ttfd {
namespace {

using ttsim::Answer;
using ttsim::Request;
using ttsim::RequestKind;

// One call of Advance: a second or two on the slowest simulator seen, so that patience means a hang.
constexpr uint64_t kMaxClocks = 20'000;
constexpr uint32_t kConfigBar0 = 0x10;
constexpr uint32_t kNoPciDevice = 0xFFFF'FFFF;
constexpr uint32_t kMostChips = 32;  // PCI devices of a bus

}  // namespace

StatusOr<std::vector<std::unique_ptr<TtsimPort>>> TtsimPort::Start(const Options& options) {
  ASSIGN_OR_RETURN(auto started, ttsim::Simulator::Start(options));
  const std::shared_ptr<ttsim::Simulator> simulator = std::move(started);
  std::vector<std::unique_ptr<TtsimPort>> ports;
  for (uint32_t number = 0; number < kMostChips; ++number) {
    std::unique_ptr<TtsimPort> port(new TtsimPort(simulator, number));
    port->generation_ = simulator->generation();
    ASSIGN_OR_RETURN(const uint32_t id, port->ConfigRead(0));
    if (id == kNoPciDevice && number != 0) break;
    RETURN_IF_ERROR(port->Begin());
    ports.push_back(std::move(port));
  }
  return ports;
}

Status TtsimPort::Begin() {
  generation_ = simulator_->generation();
  for (uint32_t i = 0; i < std::size(bars_); ++i) {
    ASSIGN_OR_RETURN(const uint32_t low, ConfigRead(kConfigBar0 + 8 * i));
    ASSIGN_OR_RETURN(const uint32_t high, ConfigRead(kConfigBar0 + 8 * i + 4));
    constexpr uint32_t kBarFlags = 0xF;
    bars_[i] = uint64_t{high} << 32 | (low & ~kBarFlags);
  }
  used_ = false;
  return OkStatus();
}

Status TtsimPort::CheckPresence() {
  if (generation_ == simulator_->generation()) return OkStatus();
  return Error(StatusCode::kUnavailable,
               "the simulator was started again by a reset of another of its chips; chip {} is "
               "lost until it is reset",
               number_);
}

Status TtsimPort::CheckChip() {
  RETURN_IF_ERROR(simulator_->lost());
  return CheckPresence();
}

Status TtsimPort::Reset() {
  // Another port may have started the child that this one begins with.
  if (!simulator_->lost().ok() || (CheckPresence().ok() && used_)) {
    RETURN_IF_ERROR(simulator_->Restart());
  }
  return Begin();
}

StatusOr<uint32_t> TtsimPort::ConfigRead(uint32_t offset) {
  RETURN_IF_ERROR(CheckChip());
  uint32_t value = 0;
  const Request read = {RequestKind::kConfigRead, 0, offset, number_};
  RETURN_IF_ERROR(simulator_->Ask(read, MutableBytesOf(value)).status());
  return value;
}

StatusOr<uint64_t> TtsimPort::Locate(int bar, uint64_t offset, uint64_t size) const {
  // The library's address space is one; an access must not stray from one BAR into another.
  const uint64_t end = bar == 0 ? hw::kBar0Bytes : hw::kBar2Bytes;
  if ((bar != 0 && bar != 2) || size > end || offset > end - size) {
    return InvalidArgument(
        "{} bytes at {:#x} of BAR{}: the card's windows and registers are in "
        "BAR0 and BAR2",
        size, offset, bar);
  }
  return bars_[bar / 2] + offset;
}

Status TtsimPort::BarRead(int bar, uint64_t offset, MutableByteSpan to) {
  RETURN_IF_ERROR(CheckChip());
  ASSIGN_OR_RETURN(uint64_t address, Locate(bar, offset, to.size()));
  used_ = true;
  while (!to.empty()) {
    const auto size = static_cast<uint32_t>(std::min<size_t>(to.size(), ttsim::kPieceBytes));
    RETURN_IF_ERROR(simulator_->Ask({RequestKind::kRead, size, address}, to.first(size)).status());
    address += size;
    to = to.subspan(size);
  }
  return OkStatus();
}

Status TtsimPort::BarWrite(int bar, uint64_t offset, ByteSpan from) {
  RETURN_IF_ERROR(CheckChip());
  ASSIGN_OR_RETURN(uint64_t address, Locate(bar, offset, from.size()));
  used_ = true;
  while (!from.empty()) {
    const auto size = static_cast<uint32_t>(std::min<size_t>(from.size(), ttsim::kPieceBytes));
    RETURN_IF_ERROR(simulator_->Put({RequestKind::kWrite, size, address}, from.first(size)));
    address += size;
    from = from.subspan(size);
  }
  return OkStatus();
}

Status TtsimPort::MapHostMemory(uint64_t bus_address, const HostPages& pages) {
  return simulator_->MapHostMemory(bus_address, pages);
}

StatusOr<AdvanceResult> TtsimPort::Advance(uint64_t clocks) {
  RETURN_IF_ERROR(CheckChip());
  used_ = true;
  const Request clock = {RequestKind::kClock, 0, 0, std::min(clocks, kMaxClocks)};
  ASSIGN_OR_RETURN(const Answer answer, simulator_->Ask(clock, {}));
  return AdvanceResult{answer.clocks, false};
}

}  // namespace ttfd
