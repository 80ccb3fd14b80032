// Writes sequences for the driver: BAR windows, memory, registers and programs of tiles by name.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/hw/grid.h"
#include "runtime/hw/pcie.h"
#include "runtime/hw/tensix.h"
#include "tests/peer/driver_process.h"
#include "tests/support/random.h"
#include "tests/support/rv32_asm.h"

namespace ttfd {

// Random choices by name.
class Chooser {
 public:
  explicit Chooser(uint32_t seed) : random_(seed) {}
  uint32_t Any() { return random_(); }
  uint32_t Below(uint32_t end) { return random_() % end; }
  // From `first` to `last`, both included.
  uint32_t Between(uint32_t first, uint32_t last) { return first + Below(last - first + 1); }
  bool Percent(uint32_t percent) { return Below(100) < percent; }
  template <typename Range>
  auto Pick(const Range& range) {
    return range[Below(static_cast<uint32_t>(std::size(range)))];
  }

 private:
  Random random_;
};

class SequenceBuilder {
 public:
  explicit SequenceBuilder(Chooser& chooser) : choose_(chooser) {
    Add("callbacks");
    Add("init");
  }

  void Add(std::string operation) { sequence_.push_back(std::move(operation)); }
  // What the operations from number `first` on are there for. A difference is looked up by it.
  void Tag(size_t first, const std::string& tag) {
    for (size_t i = first; i < sequence_.size(); ++i) sequence_[i] += " # " + tag;
  }
  const Sequence& sequence() const { return sequence_; }

  // The words of a window, whatever they mean.
  void WriteWindow(uint32_t window, const std::array<uint32_t, 3>& words);
  static std::array<uint32_t, 3> WindowWords(hw::Coordinate tile, uint64_t address,
                                             uint32_t ordering);
  // Points some window at it, of 2 MiB or of 4 GiB, and tells where it is then.
  uint64_t Point(hw::Coordinate tile, uint64_t address);
  uint64_t PointMulticast(hw::Coordinate start, hw::Coordinate end, uint64_t address);

  void Read(hw::Coordinate tile, uint64_t address, uint64_t size);
  void ReadWord(hw::Coordinate tile, uint64_t address) { Read(tile, address, 4); }
  void WriteWord(hw::Coordinate tile, uint64_t address, uint32_t value);
  void WritePattern(hw::Coordinate tile, uint64_t address, uint64_t size);
  void Load(hw::Coordinate tile, uint32_t address, const Rv32Asm& program);
  void Clock(uint32_t clocks);

 private:
  Chooser& choose_;
  Sequence sequence_;
  std::array<std::array<uint32_t, 3>, hw::kTlbWindows2M + hw::kTlbWindows4G> windows_{};
};

}  // namespace ttfd
