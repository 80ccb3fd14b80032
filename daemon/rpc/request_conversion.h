// The client's messages as the daemon's values.
//
// Nothing is judged here, with one exception: a list longer than its limit is converted to one element past the limit
// only, so that a small message cannot be made to fill the memory before daemon/session refuses it.
#pragma once

#include "daemon/api/reply.h"
#include "daemon/api/request.h"
#include "daemon/rpc/message_scan.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd {

HelloRequest HelloFromProto(const v1::Hello& hello);

// Converts a message that is not Hello. Payloads are moved out of it, which is why it is not const. `scan` is of the
// same message.
MessageRequest MessageFromProto(v1::ClientMessage& message, const MessageScan& scan,
                                const SessionLimits& limits);

inline QueuePosition PositionFromProto(const v1::QueuePosition& position) {
  return {position.queue(), position.value()};
}

}  // namespace ttfd
