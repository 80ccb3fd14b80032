// TT-Metalium's names for the pages of buffers: generators of addresses, and accessors.
#pragma once

#include <ttfd/metal/data_movement.h>

template <bool kIsDram>
struct InterleavedAddrGen {
  uint32_t bank_base_address;
  uint32_t page_size;  // bytes

  uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t /*noc*/ = 0) const {
    return ttfd::metal::Packed(
        ttfd::kernel::InterleavedBuffer(bank_base_address, page_size, kIsDram).Page(page, offset));
  }
};

enum class DataFormat : uint8_t;

// The same of pages that are tiles.
template <bool kIsDram>
struct InterleavedAddrGenFast {
  uint32_t bank_base_address;
  uint32_t page_size;  // bytes
  DataFormat data_format;

  uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t noc = 0) const {
    return InterleavedAddrGen<kIsDram>{bank_base_address, page_size}.get_noc_addr(page, offset,
                                                                                  noc);
  }
};

namespace ttfd::metal {

// The compile-time arguments of an accessor, in their order. Those of a sharded buffer are followed by its workers, in
// the order of its shards: x in the lower 16 bits, y in the upper ones.
enum AccessorArgument : uint32_t {
  kAccessorKind,  // AccessorKind
  kAccessorRowPages,
  kAccessorShardRows,
  kAccessorShardRowPages,
  kAccessorWorkers,  // their number
  kAccessorHeader,   // the number of these
};
enum AccessorKind : uint32_t { kInterleavedDram, kShardedL1 };

}  // namespace ttfd::metal

// Arguments that begin at compile-time argument `kFirst`; there are none among the common ones.
template <uint32_t kFirst, uint32_t kFirstCommon = 0>
struct TensorAccessorArgs {
  static constexpr uint32_t kBegin = kFirst;

  template <uint32_t kIndex>
  static constexpr uint32_t At() {
    return ttfd::metal::CompileTimeArgumentAt<kFirst + kIndex>();
  }
  static constexpr uint32_t next_compile_time_args_offset() {
    return kFirst + ttfd::metal::kAccessorHeader + At<ttfd::metal::kAccessorWorkers>();
  }
  static constexpr uint32_t next_common_runtime_args_offset() { return kFirstCommon; }
};

// Pages of a buffer at `bank_base_address`, the same in all banks or workers.
template <typename Arguments>
class TensorAccessor {
 public:
  TensorAccessor(Arguments /*arguments*/, uint32_t bank_base_address, uint32_t page_size)
      : base_(bank_base_address), page_bytes_(page_size) {}

  uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t /*noc*/ = 0) const {
    using namespace ttfd::metal;
    if constexpr (kKind == kShardedL1) {
      constexpr uint32_t kRowPages = Arguments::template At<kAccessorRowPages>();
      constexpr uint32_t kShardRows = Arguments::template At<kAccessorShardRows>();
      constexpr uint32_t kShardRowPages = Arguments::template At<kAccessorShardRowPages>();
      constexpr uint32_t kShardsPerRow = (kRowPages + kShardRowPages - 1) / kShardRowPages;
      const uint32_t row = page / kRowPages;
      const uint32_t column = page % kRowPages;
      const uint32_t shard = row / kShardRows * kShardsPerRow + column / kShardRowPages;
      const uint32_t within = row % kShardRows * kShardRowPages + column % kShardRowPages;
      const uint32_t worker =
          kCompileTimeArguments[Arguments::kBegin + kAccessorHeader + shard].value;
      return Packed(ttfd::kernel::OnTile({worker & 0xFFFF, worker >> 16},
                                         base_ + within * get_aligned_page_size() + offset));
    } else {
      return Packed(ttfd::kernel::InterleavedBuffer(base_, page_bytes_, kKind == kInterleavedDram)
                        .Page(page, offset));
    }
  }
  // From one page of a bank or a worker to the next.
  uint32_t get_aligned_page_size() const {
    constexpr uint32_t kAlignment =
        kKind == ttfd::metal::kInterleavedDram ? ttfd::hw::kDramAlignment : ttfd::hw::kL1Alignment;
    return (page_bytes_ + kAlignment - 1) & ~(kAlignment - 1);
  }
  uint32_t page_bytes() const { return page_bytes_; }

 private:
  static constexpr uint32_t kKind = Arguments::template At<ttfd::metal::kAccessorKind>();

  uint32_t base_;
  uint32_t page_bytes_;
};

namespace ttfd::metal {

template <typename Generator>
uint32_t PageBytesOf(const Generator& pages) {
  return pages.page_size;
}
template <typename Arguments>
uint32_t PageBytesOf(const TensorAccessor<Arguments>& pages) {
  return pages.page_bytes();
}

}  // namespace ttfd::metal

// ---- Transfers of pages.
template <typename Pages>
uint64_t get_noc_addr(uint32_t page, const Pages& pages, uint32_t offset = 0, uint8_t noc = 0) {
  return pages.get_noc_addr(page, offset, noc);
}
template <typename Pages>
void noc_async_read_page(uint32_t page, const Pages& pages, uint32_t to, uint32_t offset = 0,
                         uint8_t noc = 0) {
  const uint32_t bytes = ttfd::metal::PageBytesOf(pages) - offset;
  noc_async_read(pages.get_noc_addr(page, offset), to, bytes, noc);
}
template <typename Pages>
void noc_async_write_page(uint32_t page, const Pages& pages, uint32_t from, uint32_t offset = 0,
                          uint8_t noc = 0) {
  const uint32_t bytes = ttfd::metal::PageBytesOf(pages) - offset;
  noc_async_write(from, pages.get_noc_addr(page, offset), bytes, noc);
}
template <typename Pages>
void noc_async_read_tile(uint32_t page, const Pages& pages, uint32_t to, uint32_t offset = 0,
                         uint8_t noc = 0) {
  noc_async_read_page(page, pages, to, offset, noc);
}
template <typename Pages>
void noc_async_write_tile(uint32_t page, const Pages& pages, uint32_t from, uint8_t noc = 0) {
  noc_async_write_page(page, pages, from, 0, noc);
}
