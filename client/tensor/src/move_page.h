// Moves of elements that are moves of whole tiles.
#pragma once

#include <optional>
#include <span>

#include "client/tensor/src/lower_move.h"

namespace ttfd::tensor {

// The same operation on tiles in place of elements: its sizes are numbers of tiles. None: some tile of the output has
// elements of several tiles of the sources, or is not all of one.
std::optional<MoveOperation> InTiles(const MoveOperation& operation,
                                     std::span<const TensorSpec> inputs, const TensorSpec& output);

}  // namespace ttfd::tensor
