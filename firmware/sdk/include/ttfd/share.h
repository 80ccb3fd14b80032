// How the cores of a launch divide work without arguments of their own: each finds its share from its position.
#pragma once

#include <stdint.h>
#include <ttfd/tile.h>

namespace ttfd::kernel {

// Items first, first + step, ... below end. The cores are those of a rectangle that begins at logical position (0,0)
// and is `columns` wide, row by row; item i is that of core i % cores.
//
//   const Share share(CommonArgument(0), CommonArgument(1), CommonArgument(2));
//   for (uint32_t i = share.first; i < share.end; i += share.step) ...
struct Share {
  Share(uint32_t items, uint32_t cores, uint32_t columns)
      : first(OwnPosition().y * columns + OwnPosition().x), step(cores), end(items) {}

  uint32_t first;
  uint32_t step;
  uint32_t end;
};

}  // namespace ttfd::kernel
