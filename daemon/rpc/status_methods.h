// GetStatus and WatchStatus: the status, with the card as the device thread has just read it. Poller thread.
#pragma once

#include "daemon/api/admin.h"
#include "daemon/rpc/reply_call.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd {

// Replies once and ends the call. `daemon` outlives the call; so below.
void SendStatus(ReplyCall& call, Admin& daemon);

// Replies at once, then after every change, at most once per interval. A slow client delays the next sample; nothing
// queues up for it. An interval that is not allowed ends the call.
void WatchStatus(ReplyCall& call, Admin& daemon, const v1::WatchStatusRequest& request);

}  // namespace ttfd
