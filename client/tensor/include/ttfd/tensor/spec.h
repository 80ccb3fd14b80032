// Descriptions of tensors: the shape, the type of its elements, and how they lie in the card's memory.
//
// Values without a card; any thread may use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::tensor {

using client::Code;
using client::Result;
using client::Status;

// Extents of a tensor, the outermost first. Operations take the last one for columns, the one before it for rows, and
// those before them for a batch of matrices; a shape of one extent is a matrix of one row.
class Shape {
 public:
  static constexpr size_t kMaxRank = 8;

  Shape() = default;  // no extents: not a shape of a tensor
  Shape(std::initializer_list<uint32_t> extents) : extents_(extents) {}
  explicit Shape(std::vector<uint32_t> extents) : extents_(std::move(extents)) {}

  size_t rank() const { return extents_.size(); }
  // Extent `i` of rank().
  uint32_t operator[](size_t i) const { return extents_[i]; }
  std::span<const uint32_t> extents() const { return extents_; }

  uint64_t elements() const;
  uint32_t rows() const { return rank() < 2 ? 1 : extents_[rank() - 2]; }
  uint32_t columns() const { return extents_.empty() ? 0 : extents_.back(); }
  uint64_t matrices() const;  // of the batch

  // "[2, 128, 768]"
  std::string ToString() const;

  bool operator==(const Shape&) const = default;

 private:
  std::vector<uint32_t> extents_;
};

// The type of the elements.
enum class DType : uint8_t {
  kBFloat16,
  kFloat32,  // the engine multiplies with 10 bits of mantissa; unary operations use all 24
  kBfp8,  // the 16 elements of a row of a face share an exponent, each has 7 bits of its own: <ttfd/tiles.h>
  kUInt32,  // indices and positions: operations that move elements take it, and of those that compute those of two
            // tensors, of bits, and typecast
};

inline constexpr DType kDTypes[] = {DType::kBFloat16, DType::kFloat32, DType::kBfp8,
                                    DType::kUInt32};

// "bfloat16", "float32", "bfp8", "uint32".
const char* DTypeName(DType dtype);
// The format of circular buffers for the type: kInt32 stands for all 32 bits of kUInt32.
client::DataFormat FormatOf(DType dtype);
// Bytes of an element; 0: elements of kBfp8 have no bytes of their own.
uint32_t ElementBytes(DType dtype);

enum class Layout : uint8_t {
  kTile,      // a page is a tile of 32 x 32 elements: what operations compute with
  kRowMajor,  // a page is a row
};

// "tile", "row_major".
const char* LayoutName(Layout layout);

// A tensor lies in pages that go round the DRAM banks of the card. The matrices of a batch follow one another; in each
// the rows of tiles, and in each of those the tiles. A last tile whose rows or columns are not all in the shape has 0
// there, its padding.
struct TensorSpec {
  Shape shape = {};
  DType dtype = DType::kBFloat16;
  Layout layout = Layout::kTile;

  bool operator==(const TensorSpec&) const = default;

  // INVALID_ARGUMENT: the shape has no extent, more than Shape::kMaxRank or one of 0, or needs more than kMaxBytes; the
  // type has no such layout.
  Status Check() const;
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 36;

  // Tiles of a matrix, of the tensor. REQUIRES Check().
  uint32_t tile_rows() const { return (shape.rows() + 31) / 32; }
  uint32_t tile_columns() const { return (shape.columns() + 31) / 32; }
  uint32_t tiles() const;
  // Bytes of a page, of the buffer. REQUIRES Check().
  uint32_t page_bytes() const;
  uint64_t size_bytes() const;

  // "bfloat16 [128, 768] in layout tile"
  std::string ToString() const;
};

}  // namespace ttfd::tensor
