// Errors on their way out: the daemon's errors as google.rpc.Status with standard details (types.proto, Errors).
#pragma once

#include <grpcpp/support/status.h>

#include "daemon/api/reply.h"
#include "google/rpc/status.pb.h"
#include "runtime/base/status.h"

namespace ttfd {

void ToProto(const ErrorReply& from, google::rpc::Status* to);

// `status` as an error of the API, with the reason, field and limit that lower layers attached
// (session/status_reason.h). REQUIRES: not OK.
ErrorReply ErrorOf(const Status& status);

// The status a call ends with. gRPC sends its details in the trailer grpc-status-details-bin.
grpc::Status ToGrpc(const Status& status);

}  // namespace ttfd
