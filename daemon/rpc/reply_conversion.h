// The daemon's answers to clients as protobuf messages.
#pragma once

#include "daemon/session/reply.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd {

v1::Priority ToProto(Priority from);
void ToProto(const DeviceReply& from, v1::Device* to);
void ToProto(const SessionLimits& from, v1::Limits* to);
void ToProto(const WelcomeReply& from, v1::Welcome* to);

// All of the batch but a welcome. Payloads are moved, not copied.
void ToProto(SessionOutputBatch* from, v1::ServerMessage* to);

}  // namespace ttfd
