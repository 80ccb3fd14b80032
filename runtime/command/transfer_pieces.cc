// Cuts a transfer between host and a region into pieces.
#include "runtime/command/transfer_pieces.h"

#include <algorithm>

#include "runtime/abi/rings.h"

namespace ttfd {
namespace {

// A read takes whole pages, and drops what nobody asked for, where they are no longer than the page of
// the completion ring that any record of its own would cost.
constexpr uint64_t kWidenedPageBytes = abi::kCompletionPageBytes;

class PieceWalk {
 public:
  PieceWalk(const RegionView& region, uint64_t offset, uint64_t size, Direction direction,
            uint32_t max_bytes, const VisitPiece& visit)
      : region_(region),
        offset_(offset),
        size_(size),
        reads_(direction == Direction::kFromDevice),
        max_bytes_(max_bytes),
        visit_(visit) {}

  void Run() {
    const uint64_t page_bytes = region_.page_bytes();
    const uint64_t end = offset_ + size_;
    uint64_t first = offset_ / page_bytes;
    const uint64_t first_from = offset_ % page_bytes;
    uint64_t last = end / page_bytes;
    const uint64_t last_to = end % page_bytes;
    if (first == last) {
      InPage(first, first_from, last_to);
      return;
    }
    if (region_.stride() > max_bytes_) {
      for (uint64_t page = first; page <= last; ++page) {
        InPage(page, page == first ? first_from : 0, page == last ? last_to : page_bytes);
      }
      return;
    }
    if (reads_ && region_.stride() <= kWidenedPageBytes) {
      WholePages(first, last + (last_to != 0 ? 1 : 0));
      return;
    }
    if (first_from != 0) InPage(first++, first_from, page_bytes);
    if (first < last) WholePages(first, last);
    InPage(last, 0, last_to);
  }

 private:
  // Byte of the transfer at which a page begins; negative if it begins before.
  int64_t BeginOf(uint64_t page) const {
    return static_cast<int64_t>(page * region_.page_bytes()) - static_cast<int64_t>(offset_);
  }

  // Bytes [from, to) of one page.
  void InPage(uint64_t page, uint64_t from, uint64_t to) {
    if (from == to) return;
    uint64_t stored_to = to;
    if (reads_) {
      // A NoC read of L1 keeps the address modulo 16; what DRAM asks beyond that the prefetcher does.
      from &= ~uint64_t{hw::kL1Alignment - 1};
      stored_to = AlignUp<uint64_t>(to, hw::kL1Alignment);
    }
    const RegionView::Place place = region_.PlaceOf(page);
    while (from < stored_to) {
      TransferPiece piece;
      piece.noc_xy = place.noc_xy;
      piece.address = place.address + static_cast<uint32_t>(from);
      const auto length = static_cast<uint32_t>(std::min<uint64_t>(stored_to - from, max_bytes_));
      const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(to - from, max_bytes_));
      piece.shape = {
          BeginOf(page) + static_cast<int64_t>(from), length, bytes, length, 1, length, bytes};
      visit_(piece);
      from += length;
    }
  }

  void WholePages(uint64_t first, uint64_t end) {
    if (reads_ ? region_.pages_readable() : region_.pages_writable()) {
      Paged(first, end);
      return;
    }
    const uint64_t row_pages = region_.row_pages();
    const uint64_t group_stride = region_.shard_row_pages() * region_.stride();
    // With shards one page wide a part of a row is a matter of which columns have a page there.
    const bool columns = region_.shard_row_pages() == 1;
    const uint64_t first_row = first / row_pages;
    const uint64_t end_row = DivideRoundUp(end, row_pages);
    for (uint64_t row = first_row; row < end_row;) {
      const uint64_t begin = std::max(first, row * row_pages);
      const uint64_t row_end = std::min(end, (row + 1) * row_pages);
      if (group_stride > max_bytes_ || (!columns && row_end - begin != row_pages)) {
        InRow(begin, row_end);
        ++row;
        continue;
      }
      uint64_t rows = std::min(region_.shard_rows() - row % region_.shard_rows(), end_row - row);
      rows = std::min(rows, max_bytes_ / group_stride);
      if (!columns && (row + rows) * row_pages > end) --rows;  // the last row is part of one
      Rows(row, rows, first, end);
      row += rows;
    }
  }

  void Paged(uint64_t first, uint64_t end) {
    const uint64_t stride = region_.stride();
    const uint64_t banks = region_.banks();
    const uint64_t most = max_bytes_ / stride;
    for (uint64_t page = first; page < end;) {
      const uint64_t pages = std::min(end - page, most);
      TransferPiece piece;
      piece.paged = true;
      piece.first_bank = static_cast<uint32_t>(page % banks);
      piece.stride = static_cast<uint32_t>(stride);
      // Whole rounds of banks are folded into the address, because start_page has few bits.
      piece.address = region_.base_address() + static_cast<uint32_t>(page / banks) * piece.stride;
      piece.shape = ShapeOf(page, pages, 1, pages * stride);
      visit_(piece);
      page += pages;
    }
  }

  // Pages [first, end) of one row, shard by shard.
  void InRow(uint64_t first, uint64_t end) {
    const uint64_t width = region_.shard_row_pages();
    const uint64_t most = max_bytes_ / region_.stride();
    for (uint64_t page = first; page < end;) {
      const uint64_t left_in_shard = width - page % region_.row_pages() % width;
      const uint64_t pages = std::min({end - page, left_in_shard, most});
      Linear(page, ShapeOf(page, pages, 1, pages * region_.stride()));
      page += pages;
    }
  }

  // `rows` rows from `row` on, all in the same shards, without the pages outside [first, end).
  void Rows(uint64_t row, uint64_t rows, uint64_t first, uint64_t end) {
    const uint64_t row_pages = region_.row_pages();
    const uint64_t width = region_.shard_row_pages();
    for (uint64_t column = 0; column < row_pages; column += width) {
      uint64_t page = row * row_pages + column;
      uint64_t here = rows;
      if (page + (here - 1) * row_pages >= end) --here;
      if (page < first && here > 0) {
        page += row_pages;
        --here;
      }
      if (here == 0) continue;
      const uint64_t pages = std::min(width, row_pages - column);
      Linear(page, ShapeOf(page, pages, here, width * region_.stride()));
    }
  }

  // `groups` groups of `pages` pages, row_pages apart. Nothing is stored behind the last page.
  PieceShape ShapeOf(uint64_t page, uint64_t pages, uint64_t groups, uint64_t group_stride) const {
    PieceShape shape;
    shape.begin = BeginOf(page);
    shape.stored_bytes =
        static_cast<uint32_t>((groups - 1) * group_stride + pages * region_.stride());
    shape.page_bytes = static_cast<uint32_t>(region_.page_bytes());
    shape.stride = static_cast<uint32_t>(region_.stride());
    shape.group_pages = static_cast<uint32_t>(pages);
    shape.group_stride = static_cast<uint32_t>(group_stride);
    shape.step = region_.row_pages() * region_.page_bytes();
    if (!region_.padded()) {
      shape.page_bytes *= shape.group_pages;
      shape.stride = shape.page_bytes;
      shape.group_pages = 1;
    }
    if (groups == 1) shape.group_stride = shape.stored_bytes;
    return shape;
  }

  void Linear(uint64_t page, const PieceShape& shape) {
    const RegionView::Place place = region_.PlaceOf(page);
    TransferPiece piece;
    piece.noc_xy = place.noc_xy;
    piece.address = place.address;
    piece.shape = shape;
    visit_(piece);
  }

  const RegionView& region_;
  const uint64_t offset_;
  const uint64_t size_;
  const bool reads_;
  const uint64_t max_bytes_;
  const VisitPiece& visit_;
};

}  // namespace

void ForEachPiece(const RegionView& region, uint64_t offset, uint64_t size, Direction direction,
                  uint32_t max_bytes, const VisitPiece& visit) {
  PieceWalk(region, offset, size, direction, max_bytes, visit).Run();
}

}  // namespace ttfd
