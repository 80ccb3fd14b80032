// When a booted card is asked what its kernels print.
#include "runtime/dispatch/card_dispatcher.h"

namespace ttfd {

Status CardDispatcher::PollPrints() {
  if (!prints_.active()) return OkStatus();
  ASSIGN_OR_RETURN(const bool any, prints_.DrainIfDue());
  if (any) ++progress_;
  return OkStatus();
}

void CardDispatcher::SalvagePrints() {
  if (!prints_.active()) return;
  // A reset leaves L1 as it is.
  if (!prints_.Drain().ok() && device_.Reset().ok()) prints_.Drain().status().IgnoreError();
  prints_.Forget();
}

}  // namespace ttfd
