// Passes the port's calls on to the chip.
#include "runtime/device/sim/sim_port.h"

namespace ttfd {

Status SimPort::BarRead(int bar, uint64_t offset, MutableByteSpan to) {
  return chip_->BarRead(bar, offset, to);
}

Status SimPort::BarWrite(int bar, uint64_t offset, ByteSpan from) {
  return chip_->BarWrite(bar, offset, from);
}

Status SimPort::MapHostMemory(uint64_t bus_address, MutableByteSpan memory) {
  return chip_->MapHostMemory(bus_address, memory);
}

StatusOr<AdvanceResult> SimPort::Advance(uint64_t clocks) {
  if (server_ != nullptr) return server_->Advance(clocks);
  ASSIGN_OR_RETURN(const sim::Chip::Progress progress, chip_->Advance(clocks));
  return AdvanceResult{progress.clocks, progress.quiescent, progress.halted};
}

}  // namespace ttfd
