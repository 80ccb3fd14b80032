// The daemon's answers to administrators as protobuf messages.
#pragma once

#include "daemon/api/admin.h"
#include "daemon/api/reply.h"
#include "daemon/hang/hang_store.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd {

void ToProto(const TimeoutsReply& from, v1::Timeouts* to);
// INVALID_ARGUMENT for a timeout that is set to 0.
StatusOr<TimeoutsReply> TimeoutsFromProto(const v1::Timeouts& from);

void ToProto(const SessionInfoReply& from, v1::SessionInfo* to);
// Replaces what is in `to`.
void ToProto(const ProgressReply& from, v1::Progress* to);
void ToProto(const LeaseInfoReply& from, v1::LeaseInfo* to);
void ToProto(const LimitInfoReply& from, v1::LimitInfo* to);
void ToProto(const LimitUsageReply& from, v1::LimitUsage* to);
void ToProto(const HangSummary& from, v1::HangReportInfo* to);
void ToProto(const StatusReply& from, v1::DaemonStatus* to);

}  // namespace ttfd
