// Messages of the admin service to the values of ttfd/admin_types.h.
#pragma once

#include "ttfd/admin_types.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd::client {

DaemonStatus FromProto(const v1::DaemonStatus& status);
SessionInfo FromProto(const v1::SessionInfo& info);
Progress FromProto(const v1::Progress& progress);
LeaseInfo FromProto(const v1::LeaseInfo& info);
LimitInfo FromProto(const v1::LimitInfo& info);
LimitUsage FromProto(const v1::LimitUsage& usage);
HangReportInfo FromProto(const v1::HangReportInfo& info);
Timeouts FromProto(const v1::Timeouts& timeouts);
void ToProto(const Timeouts& timeouts, v1::Timeouts* proto);

}  // namespace ttfd::client
