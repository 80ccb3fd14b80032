// TT-Metalium's names for kernels that move data, over the SDK.
//
// - An address on the NoC has the tile in its upper 32 bits. Coordinates are those of the NoC: my_x, my_y, and
//   worker_logical_col_to_virtual_col of a place in the worker grid.
// - Which of the two NoCs a transfer takes is up to the hart: `noc` arguments have no effect.
// - A multicast is a write to each tile of its rectangle, one after the other: the number of its receivers and whether
//   it is linked to the next have no effect. Columns of the rectangle without workers are left out.
// - Alignment is that of <ttfd/noc.h>; semaphores that others increment lie on multiples of 16 bytes.
#pragma once

#include <ttfd/metal/names.h>

inline constexpr uint8_t noc_index = ttfd::firmware::kThisNiu;

namespace ttfd::metal {

inline kernel::NocAddress Unpacked(uint64_t address) {
  return {static_cast<uint32_t>(address >> 32), static_cast<uint32_t>(address)};
}
inline uint64_t Packed(kernel::NocAddress address) {
  return static_cast<uint64_t>(address.tile) << 32 | address.address;
}

template <typename Word>
uint32_t AddressOf(Word* word) {
  return reinterpret_cast<uintptr_t>(word);
}

// A circular buffer as this hart uses it. It may fill pages for itself, so it has two places.
struct Buffer {
  kernel::CircularBuffer produced;
  kernel::CircularBuffer consumed;
};
inline Buffer buffers[abi::kMaxCircularBuffers];

[[gnu::noinline]] inline Buffer& BufferAt(uint32_t index) {
  Buffer& buffer = buffers[index];
  if (buffer.produced.pages() == 0) {
    buffer = {kernel::CircularBuffer(index), kernel::CircularBuffer(index)};
  }
  return buffer;
}

// A rectangle of tiles, from the second bit of the tile in an address on: two corners, in any order.
inline constexpr uint32_t kCornerBits = 12;

// Calls `function` with the address of each worker of a rectangle, but this one unless `with_own`.
template <typename Function>
void ForEachWorker(uint64_t rectangle, bool with_own, Function function) {
  const auto [corners, address] = Unpacked(rectangle);
  const uint32_t a = corners & ((1u << kCornerBits) - 1);
  const uint32_t b = corners >> kCornerBits;
  const auto lower = [](uint32_t p, uint32_t q) { return p < q ? p : q; };
  const uint32_t x1 = hw::NocX(a) ^ hw::NocX(b) ^ lower(hw::NocX(a), hw::NocX(b));
  const uint32_t y1 = hw::NocY(a) ^ hw::NocY(b) ^ lower(hw::NocY(a), hw::NocY(b));
  const uint32_t own = kernel::internal::OwnXy();
  for (uint32_t y = lower(hw::NocY(a), hw::NocY(b)); y <= y1; ++y) {
    for (uint32_t x = lower(hw::NocX(a), hw::NocX(b)); x <= x1; ++x) {
      const bool has_workers = kernel::internal::XOf(kernel::internal::ColumnOf(x)) == x && x != 0;
      if (!has_workers || (!with_own && hw::NocXy(x, y) == own)) continue;
      function(kernel::NocAddress{hw::NocXy(x, y), address});
    }
  }
}

}  // namespace ttfd::metal

// ---- Circular buffers.
inline void cb_reserve_back(uint32_t buffer, uint32_t pages) {
  ttfd::metal::BufferAt(buffer).produced.Reserve(pages);
}
inline void cb_push_back(uint32_t buffer, uint32_t pages) {
  ttfd::metal::BufferAt(buffer).produced.Push(pages);
}
inline void cb_wait_front(uint32_t buffer, uint32_t pages) {
  ttfd::metal::BufferAt(buffer).consumed.Wait(pages);
}
inline void cb_pop_front(uint32_t buffer, uint32_t pages) {
  ttfd::metal::BufferAt(buffer).consumed.Pop(pages);
}
inline uint32_t get_write_ptr(uint32_t buffer) {
  return ttfd::metal::BufferAt(buffer).produced.position();
}
inline uint32_t get_read_ptr(uint32_t buffer) {
  return ttfd::metal::BufferAt(buffer).consumed.position();
}
inline uint32_t get_tile_size(uint32_t buffer) {
  return ttfd::metal::BufferAt(buffer).produced.page_bytes();
}

// ---- Addresses.
inline uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t address, uint8_t /*noc*/ = 0) {
  return ttfd::metal::Packed({ttfd::hw::NocXy(x, y), address});
}
inline uint64_t get_noc_addr(uint32_t address, uint8_t /*noc*/ = 0) {
  return ttfd::metal::Packed({ttfd::kernel::internal::OwnXy(), address});
}
template <bool kIsDram = true>
uint64_t get_noc_addr_from_bank_id(uint32_t bank, uint32_t address, uint8_t /*noc*/ = 0) {
  static_assert(kIsDram, "banks are those of DRAM");
  return ttfd::metal::Packed(ttfd::kernel::OnDramBank(bank, address));
}
inline uint64_t get_noc_multicast_addr(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1,
                                       uint32_t address, uint8_t /*noc*/ = 0) {
  return ttfd::metal::Packed(
      {ttfd::hw::NocXy(x0, y0) | ttfd::hw::NocXy(x1, y1) << ttfd::metal::kCornerBits, address});
}

// ---- Transfers.
inline void noc_async_read(uint64_t from, uint32_t to, uint32_t bytes, uint8_t /*noc*/ = 0) {
  ttfd::kernel::Read(ttfd::metal::Unpacked(from), to, bytes);
}
inline void noc_async_read_barrier(uint8_t /*noc*/ = 0) { ttfd::kernel::ReadBarrier(); }
inline void noc_async_write(uint32_t from, uint64_t to, uint32_t bytes, uint8_t /*noc*/ = 0) {
  ttfd::kernel::Write(from, ttfd::metal::Unpacked(to), bytes);
}
inline void noc_async_write_multicast(uint32_t from, uint64_t to, uint32_t bytes,
                                      uint32_t /*receivers*/, bool /*linked*/ = false,
                                      uint8_t /*noc*/ = 0) {
  ttfd::metal::ForEachWorker(
      to, false, [=](ttfd::kernel::NocAddress one) { ttfd::kernel::Write(from, one, bytes); });
}
inline void noc_async_write_multicast_one_packet(uint32_t from, uint64_t to, uint32_t bytes,
                                                 uint32_t receivers, bool linked = false,
                                                 uint8_t noc = 0) {
  noc_async_write_multicast(from, to, bytes, receivers, linked, noc);
}
inline void noc_async_write_multicast_loopback_src(uint32_t from, uint64_t to, uint32_t bytes,
                                                   uint32_t /*receivers*/, bool /*linked*/ = false,
                                                   uint8_t /*noc*/ = 0) {
  ttfd::metal::ForEachWorker(
      to, true, [=](ttfd::kernel::NocAddress one) { ttfd::kernel::Write(from, one, bytes); });
}
inline void noc_async_writes_flushed(uint8_t /*noc*/ = 0) { ttfd::kernel::WritesFlushedBarrier(); }
inline void noc_async_write_barrier(uint8_t /*noc*/ = 0) { ttfd::kernel::WriteBarrier(); }
inline void noc_async_atomic_barrier(uint8_t /*noc*/ = 0) { ttfd::kernel::IncrementBarrier(); }

// ---- Semaphores: words in L1, by pointers to them.
template <typename Word>
void noc_semaphore_set(Word* semaphore, uint32_t value) {
  ttfd::firmware::Store(ttfd::metal::AddressOf(semaphore), value);
  ttfd::firmware::Fence();
}
template <typename Word>
void noc_semaphore_wait(Word* semaphore, uint32_t value) {
  const uint32_t address = ttfd::metal::AddressOf(semaphore);
  ttfd::firmware::WaitForMemory(ttfd::abi::kWaypointSemaphore,
                                [=] { return ttfd::firmware::Load(address) == value; });
}
template <typename Word>
void noc_semaphore_wait_min(Word* semaphore, uint32_t value) {
  const uint32_t address = ttfd::metal::AddressOf(semaphore);
  ttfd::firmware::WaitForMemory(ttfd::abi::kWaypointSemaphore,
                                [=] { return ttfd::firmware::Load(address) >= value; });
}
template <bool kIsPosted = false>
void noc_semaphore_inc(uint64_t to, uint32_t increment, uint8_t /*noc*/ = 0) {
  ttfd::kernel::Increment(ttfd::metal::Unpacked(to), increment);
}
template <bool kIsPosted = false>
void noc_semaphore_inc_multicast(uint64_t to, uint32_t increment, uint32_t /*receivers*/,
                                 uint8_t /*noc*/ = 0) {
  ttfd::metal::ForEachWorker(
      to, false, [=](ttfd::kernel::NocAddress one) { ttfd::kernel::Increment(one, increment); });
}
inline void noc_semaphore_set_remote(uint32_t from, uint64_t to, uint8_t /*noc*/ = 0) {
  noc_async_write(from, to, sizeof(uint32_t));
}
inline void noc_semaphore_set_multicast(uint32_t from, uint64_t to, uint32_t receivers,
                                        bool linked = false, uint8_t noc = 0) {
  noc_async_write_multicast(from, to, sizeof(uint32_t), receivers, linked, noc);
}
inline void noc_semaphore_set_multicast_loopback_src(uint32_t from, uint64_t to, uint32_t receivers,
                                                     bool linked = false, uint8_t noc = 0) {
  noc_async_write_multicast_loopback_src(from, to, sizeof(uint32_t), receivers, linked, noc);
}
