// Names of TT-Metalium that kernels for any hart use.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ttfd/kernel.h>
#include <ttfd/metal/arguments.h>

// The part of the C++ library that the compiler of tt-mlir puts into kernels.
namespace std {
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;

template <typename T>
struct underlying_type {
  using type = __underlying_type(T);
};
template <typename T>
using underlying_type_t = typename underlying_type<T>::type;
}  // namespace std

// Indices of circular buffers.
namespace tt {
// clang-format off
enum CB : uint8_t {
  c_in0, c_in1, c_in2, c_in3, c_in4, c_in5, c_in6, c_in7,
  dataflow0, dataflow1, dataflow2, dataflow3, dataflow4, dataflow5, dataflow6, dataflow7,
  c_out0, c_out1, c_out2, c_out3, c_out4, c_out5, c_out6, c_out7,
  c_intermed0, c_intermed1, c_intermed2, c_intermed3,
  c_intermed4, c_intermed5, c_intermed6, c_intermed7,
};
enum CBIndex : uint8_t {
  c_0, c_1, c_2, c_3, c_4, c_5, c_6, c_7, c_8, c_9, c_10, c_11, c_12, c_13, c_14, c_15,
  c_16, c_17, c_18, c_19, c_20, c_21, c_22, c_23, c_24, c_25, c_26, c_27, c_28, c_29, c_30, c_31,
};
// clang-format on
}  // namespace tt

#define FORCE_INLINE inline __attribute__((always_inline))
#define ALWI FORCE_INLINE
#define tt_l1_ptr
#define tt_reg_ptr

inline void invalidate_l1_cache() { ttfd::firmware::Fence(); }

namespace ttfd::metal {

// Columns and rows of the NoC.
struct OwnColumn {
  uint32_t operator[](uint32_t /*noc*/) const { return hw::NocX(kernel::internal::OwnXy()); }
};
struct OwnRow {
  uint32_t operator[](uint32_t /*noc*/) const { return hw::NocY(kernel::internal::OwnXy()); }
};
struct ColumnOfWorker {
  uint32_t operator[](uint32_t x) const { return hw::NocX(kernel::TileAt({x, 0})); }
};
struct RowOfWorker {
  uint32_t operator[](uint32_t y) const { return hw::NocY(kernel::TileAt({0, y})); }
};

}  // namespace ttfd::metal

inline constexpr ttfd::metal::OwnColumn my_x;
inline constexpr ttfd::metal::OwnRow my_y;
inline constexpr ttfd::metal::ColumnOfWorker worker_logical_col_to_virtual_col;
inline constexpr ttfd::metal::RowOfWorker worker_logical_row_to_virtual_row;

inline uint32_t get_absolute_logical_x() { return ttfd::kernel::OwnPosition().x; }
inline uint32_t get_absolute_logical_y() { return ttfd::kernel::OwnPosition().y; }
#define my_logical_x_ (get_absolute_logical_x())
#define my_logical_y_ (get_absolute_logical_y())

inline uint32_t get_semaphore(uint32_t index) { return ttfd::kernel::Semaphore(index).address(); }
