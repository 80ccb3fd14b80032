// Memory that a buffer takes on the card.
#include "daemon/session/objects.h"

#include "daemon/session/card_resources.h"

namespace ttfd {
namespace {

// More than any bank has, far from overflow.
constexpr uint64_t kAbsurdBytes = uint64_t{1} << 56;

}  // namespace

Status Buffer::Allocate() {
  ASSIGN_OR_RETURN(allocation, card->memory.Allocate(memory, bank_bytes, owner));
  return OkStatus();
}

void Buffer::Measure(uint32_t banks) {
  const Region one = region();
  const uint64_t slots = SlotsPerBank(one, banks);
  const uint64_t stride = StrideOf(memory, page_bytes);
  bank_bytes = slots > kAbsurdBytes / stride
                   ? kAbsurdBytes
                   : AlignUp<uint64_t>(slots * stride, hw::kDramAlignment);
  // Over all banks, the last round is taken in each of them.
  const bool all = single_bank < 0 && cores == nullptr;
  whole_bytes = bank_bytes * (all ? banks : BanksUsed(one, banks));
}

TileSet Buffer::PartWorkers(uint32_t workers) const {
  TileSet parts;
  const uint32_t used = BanksUsed(region(), workers);
  for (uint32_t i = 0; i < used; ++i) parts.set(cores == nullptr ? i : cores->workers[i]);
  return parts;
}

}  // namespace ttfd
