// An alarm looks whether the card was read.
#include "daemon/rpc/status_call.h"

#include "daemon/rpc/admin_conversion.h"

namespace ttfd {

StatusCall* StatusCall::Start(Admin& daemon, v1::DaemonStatus* response) {
  auto* const call = new StatusCall(daemon, response);
  call->Sample();
  return call;
}

void StatusCall::Sample() {
  const StatusReply status = daemon_.GetStatus();
  if (reading_.IsOver(status)) {
    ToProto(status, response_);
    return Finish(grpc::Status::OK);  // which may destroy this
  }
  alarms_[next_alarm_++].Set(std::chrono::system_clock::now() + ReadingWait::kSampleEvery,
                             [this](bool) { Sample(); });
}

}  // namespace ttfd
