// Decorators that inject one fault.
#include "tests/support/faulty_device.h"

#include <algorithm>
#include <cstring>

namespace ttfd {
namespace {

Status Injected() { return Error(StatusCode::kUnavailable, "injected fault"); }

// One bit, another for every point.
void FlipBit(MutableByteSpan bytes, uint64_t nth) {
  if (bytes.empty()) return;
  const uint64_t bit = nth * 2654435761u % (8 * bytes.size());
  bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
}

}  // namespace

// ---- the port

StatusOr<uint32_t> FaultyPort::ConfigRead(uint32_t offset) {
  const FaultAction action = point_.Next();
  if (action == FaultAction::kFail) return Injected();
  if (action == FaultAction::kKill) return ~0u;
  ASSIGN_OR_RETURN(const uint32_t word, port_->ConfigRead(offset));
  return action == FaultAction::kCorrupt ? word ^ 1u << point_.nth() % 32 : word;
}

Status FaultyPort::BarRead(int bar, uint64_t offset, MutableByteSpan to) {
  const FaultAction action = point_.Next();
  if (action == FaultAction::kFail) return Injected();
  if (action == FaultAction::kKill) {
    std::fill(to.begin(), to.end(), std::byte{0xFF});
    return OkStatus();
  }
  if (action == FaultAction::kDelay) RETURN_IF_ERROR(port_->Advance(kFaultDelayClocks).status());
  RETURN_IF_ERROR(port_->BarRead(bar, offset, to));
  if (action == FaultAction::kCorrupt) FlipBit(to, point_.nth());
  return OkStatus();
}

Status FaultyPort::BarWrite(int bar, uint64_t offset, ByteSpan from) {
  const FaultAction action = point_.Next();
  if (action == FaultAction::kFail) return Injected();
  if (action == FaultAction::kKill) return OkStatus();
  if (action == FaultAction::kDelay) RETURN_IF_ERROR(port_->Advance(kFaultDelayClocks).status());
  if (action != FaultAction::kCorrupt) return port_->BarWrite(bar, offset, from);
  std::vector<std::byte> other(from.begin(), from.end());
  FlipBit(other, point_.nth());
  return port_->BarWrite(bar, offset, other);
}

Status FaultyPort::MapHostMemory(uint64_t bus_address, const HostPages& pages) {
  // Of bytes there are none: a corrupted mapping would be the host's kernel's fault.
  if (point_.Next() == FaultAction::kFail) return Injected();
  return port_->MapHostMemory(bus_address, pages);
}

Status FaultyPort::Reset() {
  const FaultAction action = point_.Next();
  if (action == FaultAction::kFail) return Injected();
  if (action == FaultAction::kKill) return OkStatus();
  return port_->Reset();
}

StatusOr<AdvanceResult> FaultyPort::Advance(uint64_t clocks) {
  const FaultAction action = point_.Next();
  if (action == FaultAction::kFail) return Injected();
  if (action == FaultAction::kKill) return AdvanceResult{clocks, false, false};
  if (action == FaultAction::kDelay) return AdvanceResult{0, false, false};
  return port_->Advance(clocks);
}

// ---- the completion ring

uint32_t RingFault::Pointer() const {
  uint32_t pages = 0;
  std::memcpy(&pages, memory_.data() + place_.pointer, sizeof(pages));
  return pages;
}

void RingFault::SetPointer(uint32_t pages) {
  std::memcpy(memory_.data() + place_.pointer, &pages, sizeof(pages));
}

// The header of the first record that the host has not seen, or the pointer itself.
void RingFault::Spoil(uint64_t nth, uint32_t first_page) {
  constexpr size_t kHeaderBytes = 16;
  if (nth % 4 == 0) {
    FlipBit(memory_.subspan(place_.pointer, sizeof(uint32_t)), nth);
    return;
  }
  const uint64_t at = place_.ring + uint64_t{first_page % place_.pages} * place_.page_bytes;
  FlipBit(memory_.subspan(at, kHeaderBytes), nth);
}

void RingFault::Look(FaultPoint* point) {
  const uint32_t now = Pointer();
  if (hide_ > 0 || point->killed()) {
    if (now != told_) hidden_ = now;
    hide_ = point->killed() ? 1 : hide_ - 1;
    if (hide_ > 0) {
      SetPointer(told_);
      return;
    }
    SetPointer(hidden_);
    told_ = hidden_;
    return;
  }
  if (now == told_) return;
  const uint32_t before = std::exchange(told_, now);
  switch (point->Next()) {
    case FaultAction::kNone:
      return;
    case FaultAction::kFail:  // garbage
      SetPointer(0x5555'5555);
      return;
    case FaultAction::kCorrupt:
      Spoil(point->nth(), before);
      return;
    case FaultAction::kDelay:
    case FaultAction::kKill:
      hide_ = 20;
      hidden_ = now;
      told_ = before;
      SetPointer(before);
      return;
  }
}

// ---- the device

class FaultyDevice::FaultyWindow final : public Window {
 public:
  FaultyWindow(std::unique_ptr<Window> window, FaultyDevice* device)
      : window_(std::move(window)), device_(*device) {}

  Status Read(uint64_t address, MutableByteSpan to) override {
    const FaultAction action = device_.Next();
    if (action == FaultAction::kFail || action == FaultAction::kKill) return Injected();
    if (action == FaultAction::kDelay) RETURN_IF_ERROR(device_.Late());
    RETURN_IF_ERROR(window_->Read(address, to));
    if (action == FaultAction::kCorrupt) FlipBit(to, device_.point_->nth());
    return OkStatus();
  }

  Status Write(uint64_t address, ByteSpan from) override {
    const FaultAction action = device_.Next();
    if (action == FaultAction::kFail || action == FaultAction::kKill) return Injected();
    if (action == FaultAction::kDelay) RETURN_IF_ERROR(device_.Late());
    if (action != FaultAction::kCorrupt) return window_->Write(address, from);
    std::vector<std::byte> other(from.begin(), from.end());
    FlipBit(other, device_.point_->nth());
    return window_->Write(address, other);
  }

 private:
  const std::unique_ptr<Window> window_;
  FaultyDevice& device_;
};

StatusOr<std::unique_ptr<Window>> FaultyDevice::OpenWindow(const WindowTarget& target) {
  const FaultAction action = Next();
  if (action == FaultAction::kFail || action == FaultAction::kKill) return Injected();
  ASSIGN_OR_RETURN(std::unique_ptr<Window> window, device_->OpenWindow(target));
  return std::unique_ptr<Window>(std::make_unique<FaultyWindow>(std::move(window), this));
}

StatusOr<std::unique_ptr<HostMemory>> FaultyDevice::AllocateHostMemory(uint64_t size_bytes) {
  const FaultAction action = Next();
  if (action == FaultAction::kFail || action == FaultAction::kKill) return Injected();
  ASSIGN_OR_RETURN(std::unique_ptr<HostMemory> memory, device_->AllocateHostMemory(size_bytes));
  host_memory_.push_back(memory->bytes());
  if (ring_point_ != nullptr) rings_.emplace_back(memory->bytes(), completions_);
  return memory;
}

Status FaultyDevice::Reset() {
  const FaultAction action = Next();
  if (action == FaultAction::kFail || action == FaultAction::kKill) return Injected();
  // A reset also ends what was wrong with completions.
  if (ring_point_ != nullptr) {
    ring_point_->Heal();
    rings_.clear();
    for (const MutableByteSpan memory : host_memory_) rings_.emplace_back(memory, completions_);
  }
  return device_->Reset();
}

Status FaultyDevice::Late() { return device_->Advance(kFaultDelayClocks).status(); }

StatusOr<AdvanceResult> FaultyDevice::Advance(uint64_t clocks) {
  const FaultAction action = Next();
  if (action == FaultAction::kFail || action == FaultAction::kKill) return Injected();
  if (action == FaultAction::kDelay) return AdvanceResult{0, false, false};
  ASSIGN_OR_RETURN(AdvanceResult result, device_->Advance(clocks));
  if (ring_point_ == nullptr) return result;
  for (RingFault& ring : rings_) {
    ring.Look(ring_point_);
    // What is on its way will still arrive.
    result.quiescent &= !ring.hides() || ring_point_->killed();
  }
  return result;
}

}  // namespace ttfd
