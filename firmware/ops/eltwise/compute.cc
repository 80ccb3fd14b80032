// Computes a tile of an element-wise operation for each item: the inputs into tiles of Dst, which become one, to which
// the chain is applied. TRISC0, TRISC1 and TRISC2, words EltwiseCompute.
#include <ttfd/compute.h>

#include "firmware/ops/chain.h"
#include "firmware/ops/cores.h"
#include "firmware/ops/padding.h"

using namespace ttfd::compute;
using namespace ttfd::ops;
using ttfd::kernel::CircularBuffer;
using ttfd::kernel::CommonArguments;

namespace {

// How the tiles of an input reach Dst: its format and broadcast. Init functions run where it changes.
using Route = uint32_t;
constexpr Route kNoRoute = ~0u;

Route RouteOf(uint32_t input, uint32_t broadcasts) {
  return CircularBuffer::FormatWordOf(input) << 8 | (broadcasts >> 8 * input & 0xFF);
}

template <BroadcastType kBroadcast>
void TakePart(uint32_t input, bool configure) {
  if (configure) unary_bcast_init_short<kBroadcast>(input);
  unary_bcast<kBroadcast>(input, 0, input);
}

// Tile `input` of Dst = the first tile of circular buffer `input`.
void Take(uint32_t input, Route route, bool configure) {
  const auto broadcast = static_cast<Broadcast>(route & 0xFF);
  if (broadcast == Broadcast::kNone) {
    if (configure) copy_tile_init(input);
    copy_tile(input, 0, input);
  } else if (!kComputes || broadcast == Broadcast::kColumn) {  // the same for all other harts
    TakePart<BroadcastType::COL>(input, configure);
  } else if (broadcast == Broadcast::kRow) {
    TakePart<BroadcastType::ROW>(input, configure);
  } else {
    TakePart<BroadcastType::SCALAR>(input, configure);
  }
}

// Tile 0 of Dst = tiles 0, 1 and 2 combined.
void CombineTiles(Combine combine) {
  switch (combine) {
#define TTFD_OPS_COMBINE(code, name) \
  case Combine::code:                \
    return name##_tile(0, 1, 0);
    TTFD_OPS_COMBINE(kAdd, add_binary)
    TTFD_OPS_COMBINE(kSubtract, sub_binary)
    TTFD_OPS_COMBINE(kMultiply, mul_binary)
    TTFD_OPS_COMBINE(kDivide, div_binary)
    TTFD_OPS_COMBINE(kMaximum, binary_max)
    TTFD_OPS_COMBINE(kMinimum, binary_min)
    TTFD_OPS_COMBINE(kEqual, eq_binary)
    TTFD_OPS_COMBINE(kNotEqual, ne_binary)
    TTFD_OPS_COMBINE(kLess, lt_binary)
    TTFD_OPS_COMBINE(kLessOrEqual, le_binary)
    TTFD_OPS_COMBINE(kGreater, gt_binary)
    TTFD_OPS_COMBINE(kGreaterOrEqual, ge_binary)
#undef TTFD_OPS_COMBINE
    case Combine::kWhere:
      return where_tile(0, 1, 2, 0);
    case Combine::kNone:
      return;
  }
}

uint32_t InputsOf(Combine combine) {
  return combine == Combine::kNone ? 1 : combine == Combine::kWhere ? 3 : 2;
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<EltwiseCompute>();
  const auto combine = static_cast<Combine>(words.combine);
  const uint32_t inputs = InputsOf(combine);
  const bool has_padding = HasPadding(words.padding);
  const Items items(words.cores);
  output_init(kOutputBuffer);
  Route routes[kMaxInputs];
  for (uint32_t i = 0; !kPacks && i != inputs; ++i) routes[i] = RouteOf(i, words.broadcast);
  Route configured = kNoRoute;
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    tile_regs_acquire();
    for (uint32_t i = 0; !kPacks && i != inputs; ++i) {
      cb_wait_front(i, 1);
      Take(i, routes[i], routes[i] != configured);
      configured = routes[i];
      cb_pop_front(i, 1);
    }
    CombineTiles(combine);
    ApplyChain(words.chain, 0);
    if (kComputes && has_padding) ClearPaddingOf(words.padding, item, 0);
    tile_regs_commit();

    cb_reserve_back(kOutputBuffer, 1);
    tile_regs_wait();
    pack_tile(0, kOutputBuffer);
    tile_regs_release();
    cb_push_back(kOutputBuffer, 1);
  }
}
