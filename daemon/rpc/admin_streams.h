// Streams of replies to administrators: progress of a drain or a reset, files of a hang report, a profile. Each has at
// most one reply that is not written. Poller thread.
#pragma once

#include <vector>

#include "daemon/api/admin.h"
#include "daemon/hang/hang_store.h"
#include "daemon/rpc/reply_call.h"
#include "runtime/card/profile.h"

namespace ttfd {

// Returns the function that takes the reports: any thread's, also after the call has ended. The report with `done` ends
// the call. Coalesced: a slow client sees the latest state, not every state.
Admin::ProgressCallback StreamProgress(ReplyCall& call);

// Sends the files one after the other, in parts, and ends the call.
void SendFiles(ReplyCall& call, std::vector<HangStore::File> files);

// Sends the folded stacks in parts, the last of them with the summary, and ends the call.
void SendProfile(ReplyCall& call, ProfileResult result);

}  // namespace ttfd
