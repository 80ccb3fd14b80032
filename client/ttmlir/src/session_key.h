// Which session of which card something belongs to.
#pragma once

#include <cstdint>
#include <utility>

#include "ttfd/tensor/card.h"

namespace ttfd::ttmlir {

// Numbers of sessions repeat on other daemons. What holds a tensor of the card keeps the object, whose successors have
// other numbers.
using SessionKey = std::pair<const client::Session*, uint64_t>;

inline SessionKey SessionKeyOf(tensor::Card& card) {
  return {&card.session(), card.session().id()};
}

}  // namespace ttfd::ttmlir
