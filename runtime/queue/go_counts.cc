// How many go signals all workers have answered.
#include "runtime/queue/go_counts.h"

#include "runtime/queue/shared_word.h"

namespace ttfd {

StatusOr<uint64_t> GoCounts::Answered(uint32_t sub_device, uint64_t sent) {
  const uint32_t word = LoadShared(memory_.data() + sub_device * sizeof(uint32_t));
  uint64_t& answered = answered_[sub_device];
  // The count ends in `word`; less than 2^32 are outstanding.
  const uint64_t now = answered + (word - static_cast<uint32_t>(answered));
  if (now > sent) {
    return Internal(
        "the card reported {} answered go signals of sub-device {}; {} were sent, {} of them "
        "were answered before",
        word, sub_device, sent, answered);
  }
  return answered = now;
}

}  // namespace ttfd
