// The daemon's answers as protobuf messages.
#pragma once

#include "daemon/hang/hang_store.h"
#include "daemon/session/reply.h"
#include "ttfd/v1/admin.pb.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd {

void ToProto(const ErrorReply& from, v1::Error* to);
void ToProto(const DeviceReply& from, v1::Device* to);
void ToProto(const SessionLimits& from, v1::Limits* to);
void ToProto(const CreditReply& from, v1::Credit* to);
void ToProto(const WelcomeReply& from, v1::Welcome* to);
void ToProto(const TimeoutsReply& from, v1::Timeouts* to);
void ToProto(const SessionInfoReply& from, v1::SessionInfo* to);
void ToProto(const LeaseInfoReply& from, v1::LeaseInfo* to);
void ToProto(const LimitsReply& from, v1::GetLimitsResponse* to);
void ToProto(const HangStore::Summary& from, v1::HangReportInfo* to);
void ToProto(const StatusReply& from, v1::GetStatusResponse* to);

TimeoutsReply TimeoutsFromProto(const v1::Timeouts& from);

// Moves what fits one message out of `batch`; what stays (errors beyond `max_error_bytes`, and then
// the progress that must follow them) belongs into the next. Payloads are moved, not copied.
void TakeMessage(SessionOutputBatch* batch, size_t max_error_bytes, v1::ServerMessage* to);

}  // namespace ttfd
