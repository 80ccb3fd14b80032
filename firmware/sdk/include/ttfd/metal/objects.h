// The NoC and its ends as objects, as TT-Metalium's kernels of 2026 name them: the functions of data_movement.h and
// accessors.h by other names.
#pragma once

#include <ttfd/metal/accessors.h>

// ---- Ends of a transfer.
struct UnicastEndpoint {
  uint64_t get_noc_unicast_addr(uint32_t x, uint32_t y, uint32_t address, uint32_t noc = 0) const {
    return get_noc_addr(x, y, address, static_cast<uint8_t>(noc));
  }
};
struct MulticastEndpoint {};
enum class AllocatorBankType : uint8_t { DRAM };
template <AllocatorBankType>
struct AllocatorBank {};
// The own tile's L1.
template <typename T>
struct CoreLocalMem {
  explicit CoreLocalMem(uint32_t l1_address) : address(l1_address) {}
  uint32_t address;
};

namespace ttfd::metal {

struct PlaceOnTile {
  uint32_t noc_x;
  uint32_t noc_y;
  uint32_t addr;
};
struct PlaceOnTiles {
  uint32_t noc_x_start;
  uint32_t noc_y_start;
  uint32_t noc_x_end;
  uint32_t noc_y_end;
  uint32_t addr;
};
struct PlaceInBank {
  uint32_t bank_id;
  uint32_t addr;
};
struct PlaceInL1 {
  uint32_t offset_bytes = 0;
};
struct PlaceInPages {
  uint32_t page_id;
  uint32_t offset_bytes = 0;
};

inline uint64_t AddressAt(UnicastEndpoint /*end*/, PlaceOnTile place) {
  return get_noc_addr(place.noc_x, place.noc_y, place.addr);
}
inline uint64_t AddressAt(AllocatorBank<AllocatorBankType::DRAM> /*end*/, PlaceInBank place) {
  return get_noc_addr_from_bank_id<true>(place.bank_id, place.addr);
}
template <typename Pages>
uint64_t AddressAt(const Pages& pages, PlaceInPages place) {
  return pages.get_noc_addr(place.page_id, place.offset_bytes);
}

}  // namespace ttfd::metal

// Traits of buffers by their pages; the other ends follow.
template <typename End>
struct noc_traits_t {
  using src_args_type = ttfd::metal::PlaceInPages;
  using dst_args_type = ttfd::metal::PlaceInPages;
};
template <>
struct noc_traits_t<UnicastEndpoint> {
  using src_args_type = ttfd::metal::PlaceOnTile;
  using dst_args_type = ttfd::metal::PlaceOnTile;
};
template <>
struct noc_traits_t<MulticastEndpoint> {
  using dst_args_mcast_type = ttfd::metal::PlaceOnTiles;
};
template <>
struct noc_traits_t<AllocatorBank<AllocatorBankType::DRAM>> {
  using src_args_type = ttfd::metal::PlaceInBank;
  using dst_args_type = ttfd::metal::PlaceInBank;
};
template <typename T>
struct noc_traits_t<CoreLocalMem<T>> {
  using src_args_type = ttfd::metal::PlaceInL1;
  using dst_args_type = ttfd::metal::PlaceInL1;
};

enum class NocOptions : uint8_t { DEFAULT, MCAST_INCL_SRC };
inline constexpr uint32_t NOC_MAX_BURST_SIZE = ttfd::hw::kNocMaxPacketBytes;

class Noc {
 public:
  explicit Noc(uint32_t /*noc*/ = 0) {}
  uint32_t get_noc_id() const { return noc_index; }

  template <typename From, typename T>
  void async_read(const From& from, CoreLocalMem<T> to, uint32_t bytes,
                  typename noc_traits_t<From>::src_args_type place,
                  ttfd::metal::PlaceInL1 to_place = {}) const {
    noc_async_read(ttfd::metal::AddressAt(from, place), to.address + to_place.offset_bytes, bytes);
  }
  template <typename T, typename To>
  void async_write(CoreLocalMem<T> from, const To& to, uint32_t bytes,
                   ttfd::metal::PlaceInL1 from_place,
                   typename noc_traits_t<To>::dst_args_type place) const {
    noc_async_write(from.address + from_place.offset_bytes, ttfd::metal::AddressAt(to, place),
                    bytes);
  }
  template <NocOptions kOptions = NocOptions::DEFAULT, uint32_t kMaxBytes = NOC_MAX_BURST_SIZE + 1,
            typename T>
  void async_write_multicast(CoreLocalMem<T> from, MulticastEndpoint /*to*/, uint32_t bytes,
                             uint32_t receivers, ttfd::metal::PlaceInL1 from_place,
                             ttfd::metal::PlaceOnTiles place, bool linked = false) const {
    const uint64_t rectangle = get_noc_multicast_addr(place.noc_x_start, place.noc_y_start,
                                                      place.noc_x_end, place.noc_y_end, place.addr);
    const uint32_t address = from.address + from_place.offset_bytes;
    if constexpr (kOptions == NocOptions::MCAST_INCL_SRC) {
      noc_async_write_multicast_loopback_src(address, rectangle, bytes, receivers, linked);
    } else {
      noc_async_write_multicast(address, rectangle, bytes, receivers, linked);
    }
  }

  void async_read_barrier() const { noc_async_read_barrier(); }
  void async_write_barrier() const { noc_async_write_barrier(); }
  void async_atomic_barrier() const { noc_async_atomic_barrier(); }
};
