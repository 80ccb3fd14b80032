// The client's messages as the daemon's values.
//
// Nothing is judged here, with one care: a list longer than its limit is converted to one element
// past the limit only, so that a small message cannot be made to fill the memory before
// daemon/session refuses it.
#pragma once

#include "daemon/session/reply.h"
#include "daemon/session/request.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd {

HelloRequest HelloFromProto(const v1::Hello& hello);

// Payloads are moved out of the message, which is why it is not const.
BatchRequest BatchFromProto(v1::Batch& batch, const SessionLimits& limits);
DataChunk DataFromProto(v1::Data& data);

ReceivedRequest ReceivedFromProto(
    const google::protobuf::RepeatedPtrField<v1::QueuePosition>& ended,
    const google::protobuf::RepeatedPtrField<v1::DataPosition>& data);
EndingKind EndingFromProto(v1::Ending ending);

inline QueuePosition PositionFromProto(const v1::QueuePosition& position) {
  return {position.queue(), position.value()};
}

}  // namespace ttfd
