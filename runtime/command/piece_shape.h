// How the bytes of a transfer lie in one piece of device memory: stretches of the transfer at regular
// distances in the piece.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ttfd {

// Page k of group g begins at byte g * group_stride + k * stride of the piece and at byte `begin` + g *
// step + k * page_bytes of the transfer, up to `stored_bytes` of the piece. Only the bytes of [0, size)
// of the transfer are meant; what else the piece holds is padding, or (in reads) nobody asked for it.
struct PieceShape {
  int64_t begin = 0;
  uint32_t stored_bytes = 0;
  uint32_t page_bytes = 0;
  uint32_t stride = 0;
  uint32_t group_pages = 0;
  uint32_t group_stride = 0;
  uint64_t step = 0;

  // Every stored byte belongs to the transfer, in order.
  bool plain(uint64_t size) const {
    return stored_bytes <= page_bytes && begin >= 0 &&
           static_cast<uint64_t>(begin) + stored_bytes <= size;
  }
};

// Calls visit(uint32_t stored, uint64_t at, uint32_t length) for every stretch: `length` bytes of the
// transfer from `at` lie in the piece from `stored` on.
template <typename Visit>
void ForEachStretch(const PieceShape& piece, uint64_t size, const Visit& visit) {
  int64_t group_begin = piece.begin;
  for (uint64_t group = 0; group < piece.stored_bytes;
       group += piece.group_stride, group_begin += static_cast<int64_t>(piece.step)) {
    uint64_t stored = group;
    int64_t at = group_begin;
    for (uint32_t page = 0; page < piece.group_pages && stored < piece.stored_bytes; ++page) {
      const int64_t from = std::max<int64_t>(at, 0);
      const auto length =
          static_cast<int64_t>(std::min<uint64_t>(piece.page_bytes, piece.stored_bytes - stored));
      const int64_t to = std::min(at + length, static_cast<int64_t>(size));
      if (from < to) {
        visit(static_cast<uint32_t>(stored + static_cast<uint64_t>(from - at)),
              static_cast<uint64_t>(from), static_cast<uint32_t>(to - from));
      }
      stored += piece.stride;
      at += piece.page_bytes;
    }
  }
}

}  // namespace ttfd
