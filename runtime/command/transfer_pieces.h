// Cuts a transfer between host and a region into pieces of device memory, each named by one record.
//
// A piece may hold pages that are far apart in the transfer but lie one after the other in a bank:
// a shard of many short rows, or every hundredth page of a buffer over a hundred workers. So small
// pages cost a record per bank and not per page.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/base/status.h"
#include "runtime/command/piece_shape.h"
#include "runtime/command/region_view.h"

namespace ttfd {

struct TransferPiece {
  bool paged = false;
  uint32_t noc_xy = 0;      // linear: the bank's tile
  uint32_t first_bank = 0;  // paged: bank of the first page
  uint32_t stride = 0;      // paged: from page to page; the piece is whole slots
  uint32_t address =
      0;  // linear: first byte, multiple of 16; paged: base of the first page's round
  PieceShape shape;
};

enum class Direction { kToDevice, kFromDevice };

using VisitPiece = std::function<void(const TransferPiece&)>;

// Calls `visit` for pieces of at most `max_bytes` (a multiple of 64) that hold [offset, offset + size)
// together, each byte once. Pieces to the device cover nothing else but
// padding: offset and end are unit boundaries. Pieces from the device may cover more. Their order is
// ascending where the region's pages lie over all banks or in one.
void ForEachPiece(const RegionView& region, uint64_t offset, uint64_t size, Direction direction,
                  uint32_t max_bytes, const VisitPiece& visit);

}  // namespace ttfd
