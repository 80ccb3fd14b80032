// A GetStatus call: the status, with the card as it is now.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "daemon/rpc/reading_wait.h"
#include "daemon/session/service.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd {

// gRPC calls it on its threads; it owns itself until the call is done.
class StatusCall final : public grpc::ServerUnaryReactor {
 public:
  // `daemon` and `response` outlive the call.
  static StatusCall* Start(DaemonService& daemon, v1::DaemonStatus* response);

  void OnDone() override { delete this; }

 private:
  StatusCall(DaemonService& daemon, v1::DaemonStatus* response)
      : daemon_(daemon), response_(response) {}
  void Sample();

  DaemonService& daemon_;
  v1::DaemonStatus* const response_;
  ReadingWait reading_;
  std::unique_ptr<grpc::Alarm> alarm_;
};

}  // namespace ttfd
