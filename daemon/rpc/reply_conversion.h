// The daemon's answers to clients as protobuf messages.
#pragma once

#include "daemon/api/reply.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd {

v1::Priority ToProto(Priority from);
// Without its links, which the status alone has.
void ToProto(const DeviceReply& from, v1::Device* to);
void ToProto(const LinkStatus& from, v1::EthernetLink* to);
void ToProto(const SessionLimits& from, v1::Limits* to);
void ToProto(const WelcomeReply& from, v1::Welcome* to);
void ToProto(const SessionClient& from, v1::SessionClient* to);

// The holders of a LeaseWait or LeaseInfo.
template <typename Message>
void HoldersToProto(const LeaseHolders& from, Message* to) {
  for (const SessionClient& client : from.named) ToProto(client, to->add_holders());
  to->set_more_holders(from.more);
}

// All of the batch but a welcome. Payloads are moved, not copied.
void ToProto(SessionOutputBatch* from, v1::ServerMessage* to);

}  // namespace ttfd
