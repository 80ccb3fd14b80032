// WRITE_PACKED: one address, many targets, a packet each (or the same packet for all).
//
//   command | targets, padded to 16 | packet 0, padded to 16 | packet 1 ...
//
// The targets lie in the command's first page. Most commands lie there altogether and are executed in
// place; otherwise the targets are copied to local RAM first, since the page they are in may be given
// back before the last packet arrives.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/cq/dispatch/niu.h"
#include "firmware/cq/dispatch/ring.h"
#include "runtime/abi/boot_block.h"
#include "runtime/abi/dispatch_commands.h"

namespace ttfd::firmware::dispatch {

inline constexpr uint32_t RoundUp16(uint32_t value) { return (value + 15) & ~15u; }

// Where targets are read from; two words a target when multicast.
class PackedTargets {
 public:
  static constexpr uint32_t kMaxWords = abi::kMaxL1Banks;

  void Copy(uint32_t from, uint32_t words) {
    for (uint32_t i = 0; i != words; ++i) {
      words_[i] = Load(from + 4 * i);
    }
  }
  uint32_t word(uint32_t index) const { return words_[index]; }

 private:
  uint32_t words_[kMaxWords];
};

// All of the command is in its first page: no packet needs waiting for or splitting.
inline void WritePackedInPlace(Writes& writes, uint32_t at, uint32_t targets, uint32_t targets_end,
                               uint32_t from, uint32_t stride, uint32_t to, uint32_t size,
                               bool multicast) {
  if (multicast) {
    for (; targets != targets_end; targets += 8, from += stride) {
      const uint32_t receivers = Load(targets + 4);
      if (receivers - 1 >= abi::kMaxL1Banks) [[unlikely]] {
        Refuse(at, abi::kFaultBadCount, receivers, abi::kMaxL1Banks);
      }
      writes.Multicast(from, Load(targets), receivers, to, size, false, false);
    }
    return;
  }
  for (; targets != targets_end; targets += 4, from += stride) {
    Writes::SetUnicastTile(TileOf(Load(targets)));
    writes.Unicast(from, to, size);
  }
}

[[gnu::noinline]] inline void WritePackedStreamed(Ring& ring, Writes& writes,
                                                  uint32_t targets_address, uint32_t target_words,
                                                  uint32_t to, uint32_t size, bool multicast) {
  PackedTargets targets;
  targets.Copy(targets_address, target_words);
  if (multicast) {
    for (uint32_t i = 1; i < target_words; i += 2) {
      if (targets.word(i) - 1 >= abi::kMaxL1Banks) [[unlikely]] {
        Refuse(ring.cursor(), abi::kFaultBadCount, targets.word(i), abi::kMaxL1Banks);
      }
    }
  }
  ring.Skip(sizeof(abi::WritePacked) + RoundUp16(4 * target_words));
  const uint32_t step = multicast ? 2 : 1;
  for (uint32_t i = 0; i != target_words; i += step) {
    for (uint32_t done = 0; done != size;) {
      const uint32_t piece = ring.Contiguous(size - done);
      if (multicast) {
        writes.Multicast(ring.cursor(), targets.word(i), targets.word(i + 1), to + done, piece,
                         false, false);
      } else {
        Writes::SetUnicastTile(TileOf(targets.word(i)));
        writes.Unicast(ring.cursor(), to + done, piece);
      }
      ring.Skip(piece);
      done += piece;
    }
    ring.SkipAll(RoundUp16(size) - size);
  }
  ring.FinishCommand();
}

inline void WritePacked(Ring& ring, Writes& writes, uint32_t word, const uint32_t* write_offsets,
                        uint32_t worker_count) {
  const uint32_t at = ring.cursor();
  const uint32_t sizes = Load(at + offsetof(abi::WritePacked, write_offset_index));
  const uint32_t count = word >> 16;
  const uint32_t size = sizes >> 16;
  const bool multicast = (word >> 8 & abi::kPackedMulticast) != 0;
  const bool no_stride = (word >> 8 & abi::kPackedNoStride) != 0;
  const uint32_t target_words = multicast ? 2 * count : count;
  if (target_words > worker_count + (multicast ? 1 : 0) || count == 0) [[unlikely]] {
    Refuse(at, abi::kFaultBadCount, count, worker_count);
  }
  if (size == 0 || size > abi::kDispatchPageBytes || (sizes & 0xFFFF) >= abi::kMaxWriteOffsets)
      [[unlikely]] {
    Refuse(at, abi::kFaultBadLength, size, sizes & 0xFFFF);
  }
  const uint32_t to =
      Load(at + offsetof(abi::WritePacked, address)) + write_offsets[sizes & 0xFFFF];
  RequireAligned(at, to, size);
  const uint32_t targets = at + sizeof(abi::WritePacked);
  const uint32_t stride = no_stride ? 0 : RoundUp16(size);
  const uint32_t data = sizeof(abi::WritePacked) + RoundUp16(4 * target_words);
  const uint32_t total = data + (no_stride ? RoundUp16(size) : count * stride);
  const uint32_t left = ring.LeftInPage();
  if (total <= left) [[likely]] {
    WritePackedInPlace(writes, at, targets, targets + 4 * target_words, at + data, stride, to, size,
                       multicast);
    ring.FinishPage();
    return;
  }
  if (no_stride || data > left) [[unlikely]] {
    Refuse(at, abi::kFaultBadLength, total, left);
  }
  WritePackedStreamed(ring, writes, targets, target_words, to, size, multicast);
}

}  // namespace ttfd::firmware::dispatch
