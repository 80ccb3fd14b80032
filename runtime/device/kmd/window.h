// A view of a tile through hardware windows.
//
// Registers: one aligned load or store of 4 bytes. Memory: reads are aligned words, uncached, from which the bytes
// asked for are taken. Writes are aligned words, with aligned stores of 2 and 1 bytes before and after them, so
// that an aligned write of 2 bytes (a slot of a fetch queue) is one store. kBulkBytes and more go through the
// write-combining mapping, between two store fences: the first orders them behind the last move of the window, the
// second before whatever the host writes next. Bytes of one bulk write arrive in any order.
#pragma once

#include "runtime/device/device.h"
#include "runtime/device/kmd/presence.h"
#include "runtime/device/kmd/window_pool.h"

namespace ttfd::kmd {

// From here on two fences are expected to cost less than uncached stores. Not measured.
inline constexpr size_t kBulkBytes = 256;

class KmdWindow final : public Window {
 public:
  // All outlive it.
  KmdWindow(Node& node, WindowPool& pool, Presence& presence, const WindowTarget& target)
      : node_(node), presence_(presence), claim_(pool, target) {}

  Status Read(uint64_t address, MutableByteSpan to) override;
  Status Write(uint64_t address, ByteSpan from) override;

 private:
  // Both stay within the 2 MiB that the window shows.
  Status ReadPart(const HardwareWindow& window, uint64_t offset, MutableByteSpan to);
  Status WritePart(HardwareWindow& window, uint64_t offset, ByteSpan from);
  Status StoreNarrow(const HardwareWindow& window, uint64_t offset, ByteSpan from);
  Status StoreBulk(HardwareWindow& window, uint64_t offset, ByteSpan words);
  Status CheckBus(bool done) { return done ? OkStatus() : node_.Lose(kMappingWithdrawn); }

  Node& node_;
  Presence& presence_;
  WindowClaim claim_;
};

}  // namespace ttfd::kmd
