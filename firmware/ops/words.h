// Common words of the kernels of operations, as one layout for the kernels and for client/tensor, which fills them in.
//
// An operation runs one family of kernels on a set of cores. A family that computes has a reader (NCRISC), a compute
// kernel (TRISC0, TRISC1, TRISC2) and a writer (BRISC); others have one kernel (NCRISC). They have common words only: a
// core finds its items from its position. Addresses of buffers are words, too. Circular buffers have pages of one tile
// and the tensor's format; those that no tensor goes through have Float32, a scaler bfloat16.
//
//   family    items                      circular buffers            words
//   eltwise   tiles of the output        0 to 2 inputs, 3 output     EltwiseReader, EltwiseCompute, TileWriter
//   matmul    blocks of output tiles     0 a, 1 b, 2 bias, 3 output  MatmulReader, MatmulCompute, TileWriter
//   reduce    tiles of the output        0 input, 1 scaler, 3 output, ReduceReader, ReduceCompute, TileWriter
//                                        4 maxima
//   rows      rows of tiles              0 to 2 inputs, 3 output,    RowsReader, RowsCompute, TileWriter
//                                        4 shift, 5 factor, 6 terms
//   move      blocks of the output       0 its memory                Move, of move_words.h
//   attention, argmax, integers, stamp: as attention_words.h, argmax_words.h, integers_words.h and stamp_words.h say
//
// Tensors are interleaved over the DRAM banks, a tile a page: batches, in each the rows of tiles, in each the tiles.
// Tensors of layout row-major, which move has, too, have a row a page.
// Elements of a tile beyond the tensor's shape, its padding, are 0 in every tensor; every operation writes them as 0.
//
// Plain C++, for both sides: nothing but constants and structures of 32-bit words.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ttfd::ops {

inline constexpr uint32_t kMaxInputs = 3;
inline constexpr uint32_t kOutputBuffer =
    3;  // index of the circular buffer, in families that compute
inline constexpr uint32_t kMaxChain = 4;
inline constexpr uint32_t kDimensions = 4;
inline constexpr uint32_t kDstTiles = 4;  // tiles of a block of matmul, at most

// The cores of a launch and their items: core i has the items first + i, first + i + count, ... below end.
struct Cores {
  uint32_t count;
  // The cores as a rectangle, the last row of which may be partly used: x of the first core in 7:0, y in 15:8, columns
  // in 23:16. Cores are numbered row by row. Columns 0: any set of cores, as a bitmap of kBitmapWords words that begins
  // at common word 31:24.
  uint32_t shape;
  uint32_t first;
  uint32_t end;
};

// Bit y * 16 + x is that of the worker at logical position (x, y). Cores are numbered in the order of their bits.
inline constexpr uint32_t kBitmapWords = 5;
inline constexpr uint32_t kBitmapColumns = 16;
inline constexpr uint32_t kBitmapRows = 2 * kBitmapWords;

// Function that makes one tile of the first inputs of eltwise.
enum class Combine : uint32_t {
  kNone,  // one input
  // Two inputs; comparisons yield 1 or 0.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMaximum,
  kMinimum,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kWhere  // three inputs: the second where the first is not 0, else the third
};

// A function of each element, in Dst.
enum class Unary : uint8_t {
  kNone,
  kExp,
  kReciprocal,
  kSqrt,
  kRsqrt,
  kSilu,
  kSigmoid,
  kGelu,
  kTanh,
  kRelu,
  kAbs,
  kNegate,
  kSquare,
  kLog,
  kSin,
  kCos,
  kFloor,
  // With the step's operand.
  kAddScalar,
  kMultiplyScalar,
  kMaximumScalar,
  kMinimumScalar,
  // To bfloat16, halves away from zero: before the packer makes bfp8 of 32 bits.
  kRound,
  kErf,
  kAtan
};

// Functions that are applied in order, up to the first kNone. `codes` has a Unary in each byte, the first in 7:0;
// `operands` are bits of 32-bit floats.
struct Chain {
  uint32_t codes;
  uint32_t operands[kMaxChain];
};

// Which elements of the output's last tiles are in its shape: those of the rows and columns below these, 1 to 32. All
// 32: there is no padding, and the other two words are not read.
struct Padding {
  uint32_t last_rows;
  uint32_t last_columns;
  uint32_t tile_rows;     // of tiles, of a matrix of the output
  uint32_t tile_columns;  // tiles of a row
};

// ---- eltwise

// Item (((i0 * size[1]) + i1) * size[2] + i2) * size[3] + i3 reads tile i0 * stride[0] + ... + i3 * stride[3] of each
// input.
struct EltwiseReader {
  Cores cores;
  uint32_t inputs;  // 1 to kMaxInputs
  uint32_t size[kDimensions];
  struct Input {
    uint32_t address;
    uint32_t stride[kDimensions];  // in tiles; 0: broadcast
  } input[kMaxInputs];
};

// Part of an input's tile that stands for the whole tile; kNone: all of it. The values are those of BroadcastType.
enum class Broadcast : uint8_t { kNone = 0, kColumn = 1, kRow = 2, kScalar = 3 };

// The inputs, broadcast, become tiles of Dst; combine makes one of them, the chain is applied to it, padding becomes 0.
struct EltwiseCompute {
  Cores cores;
  uint32_t combine;    // Combine
  uint32_t broadcast;  // a Broadcast in each byte, of input 0 in 7:0
  Chain chain;
  Padding padding;
};

// ---- matmul

// Item (batch * row_blocks + i) * column_blocks + j is a block of block_rows x block_columns tiles of the output, at
// most kDstTiles. A block starts as the bias, or 0; products are added in the order of k, with 32 bits; then the chain
// is applied. The sum is not divided between cores. For each k the reader pushes block_rows tiles of a and
// block_columns tiles of b; tiles of the bias, block_columns of them, come first.
struct MatmulBlocks {
  uint32_t block_rows;
  uint32_t block_columns;
  uint32_t row_blocks;  // of a matrix of the output
  uint32_t column_blocks;
};

struct MatmulReader {
  Cores cores;
  MatmulBlocks blocks;
  uint32_t k_tiles;
  uint32_t inner_batches;  // batch = outer * inner_batches + inner
  struct Factor {
    uint32_t address;
    uint32_t outer_stride;  // in tiles; 0: the same matrix for all
    uint32_t inner_stride;
    uint32_t row_stride;     // of a: from a row of tiles to the next; of b: from k to k + 1
    uint32_t column_stride;  // of a: from k to k + 1; of b: from a column of tiles to the next
  } a, b;
  uint32_t has_bias;
  uint32_t bias_address;  // one row of tiles, broadcast to all rows
};

struct MatmulCompute {
  Cores cores;
  MatmulBlocks blocks;
  uint32_t k_tiles;
  uint32_t has_bias;
  uint32_t transpose_b;  // the factor is the transpose of each tile of b
  uint32_t fidelity;     // passes of a product, 1 to 4
  Chain chain;
  Padding padding;
};

// ---- reduce

enum class Pool : uint32_t { kSum, kMaximum, kMinimum };

// Item i is the reduction of tiles (i / stride * tiles + k) * stride + i % stride of the input, k below `tiles`: of a
// row of tiles to its column 0 (stride 1), or of a column of tiles to its row 0.
struct ReduceReader {
  Cores cores;
  uint32_t tiles;
  uint32_t stride;
  uint32_t address;
};

struct ReduceCompute {
  Cores cores;
  uint32_t tiles;
  uint32_t pool;    // Pool
  uint32_t to_row;  // each column becomes a number, else each row
  uint32_t last;    // rows (to_row) or columns of the last tile that are in the shape, 1 to 32
  uint32_t factor;  // of the results, the bits of a 32-bit float
  uint32_t rounds;  // to bfloat16, before the packer makes bfp8 of 32 bits
  Padding padding;
};

// ---- rows

// Item i is a row of `tiles` tiles, which is read once. Weight and bias are one row of tiles, read with each item.
//
//   softmax     terms = exp(x - shift), shift = maximum of the row;  output = terms * factor, factor = 1 / their sum
//   rms_norm    factor = 1 / sqrt(mean of x * x + epsilon);          output = x * factor * weight + bias
//   layer_norm  shift = mean of x, then rms_norm of x - shift
//
// Shift and factor are a tile each, with the number of a row in all its columns.
struct RowsReader {
  Cores cores;
  uint32_t tiles;
  uint32_t address;
  uint32_t has_weight;
  uint32_t weight_address;
  uint32_t has_bias;
  uint32_t bias_address;
};

enum class RowsFunction : uint32_t { kSoftmax, kRmsNorm, kLayerNorm };

struct RowsCompute {
  Cores cores;
  uint32_t tiles;
  uint32_t function;  // RowsFunction
  uint32_t has_weight;
  uint32_t has_bias;
  uint32_t mean_factor;  // 1 / columns, as the bits of a 32-bit float
  uint32_t epsilon;      // bits of a 32-bit float
  uint32_t rounds;       // to bfloat16, before the packer makes bfp8 of 32 bits
  Padding padding;
};

// ---- families that compute

// Writes blocks of tiles from circular buffer kOutputBuffer, row by row. Blocks of one tile: item i is tile i.
struct TileWriter {
  Cores cores;
  MatmulBlocks blocks;
  uint32_t address;
};

}  // namespace ttfd::ops
