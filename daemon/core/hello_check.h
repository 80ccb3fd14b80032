// Checks the Hello of a client before a session is looked for or opened.
#pragma once

#include "daemon/api/reply.h"
#include "daemon/api/request.h"
#include "daemon/api/session_port.h"
#include "runtime/base/status.h"

namespace ttfd {

inline constexpr uint32_t kApiRevision = 1;

// FAILED_PRECONDITION: the client speaks other revisions. Of a session that resumes nothing else is checked: it keeps
// what it was given when it began.
Status CheckHello(const SessionLimits& limits, const PeerIdentity& peer, const HelloRequest& hello);

}  // namespace ttfd
