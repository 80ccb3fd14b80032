// A GetStatus call: the status, with the card as it is now.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/support/server_callback.h>

#include <array>

#include "daemon/api/admin.h"
#include "daemon/rpc/reading_wait.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd {

// gRPC calls it on its threads; it owns itself until the call is done.
class StatusCall final : public grpc::ServerUnaryReactor {
 public:
  // `daemon` and `response` outlive the call.
  static StatusCall* Start(Admin& daemon, v1::DaemonStatus* response);

  void OnDone() override { delete this; }

 private:
  StatusCall(Admin& daemon, v1::DaemonStatus* response) : daemon_(daemon), response_(response) {}
  void Sample();

  Admin& daemon_;
  v1::DaemonStatus* const response_;
  ReadingWait reading_;
  // One for each sample but the first: an alarm may not be set again while it calls back.
  std::array<grpc::Alarm, ReadingWait::kSamples> alarms_;
  size_t next_alarm_ = 0;
};

}  // namespace ttfd
