// Errors on their way out: a Status as the status of a call, with the API's Error beside it.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "daemon/session/reply.h"
#include "runtime/base/status.h"

namespace ttfd {

// What goes into the trailer for `status`,
// with reason and field where the layers below attached them
// (session/status_reason.h).
ErrorReply ErrorOf(const Status& status);

// The status to finish a call with. A failed one also leaves Error in the call's trailer
// "ttfd-error-bin", so it must be called before Finish, once.
grpc::Status FinishStatus(const Status& status, grpc::ServerContextBase* context);

}  // namespace ttfd
