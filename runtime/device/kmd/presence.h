// Distinguishes a card that is gone from memory that holds all ones.
//
// Drivers from 2.7 on withdraw the mappings of a card that was reset; before, and when the link fails, reads
// answer all ones. The boot status in the ARC tile never has that value.
#pragma once

#include "runtime/device/kmd/window_pool.h"

namespace ttfd::kmd {

inline constexpr uint32_t kAllOnes = 0xFFFFFFFF;
inline constexpr char kMappingWithdrawn[] = "the driver has withdrawn the mapping of a window";

class Presence {
 public:
  Presence(Node& node, WindowPool& pool);
  // Called when a read answered all ones. UNAVAILABLE: the card is gone; DATA_LOSS: it is silent (Node::FallSilent).
  Status Check();

 private:
  Node& node_;
  WindowClaim claim_;
};

}  // namespace ttfd::kmd
