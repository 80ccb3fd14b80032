// A daemon of one card.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "daemon/card/served_card.h"

namespace ttfd {

inline std::vector<ServedCard> OneCard(std::unique_ptr<Card> card) {
  std::vector<ServedCard> cards;
  cards.emplace_back().card = std::move(card);
  return cards;
}

}  // namespace ttfd
