// Launches of operations, enqueued.
#include "client/tensor/src/stream.h"

namespace ttfd::tensor {

client::Status Stream::Launch(const client::LaunchRequest& launch) {
  if (const auto position = queue_.EnqueueLaunch(launch); !position.ok()) return position.status();
  ++launches_;
  return client::Status();
}

}  // namespace ttfd::tensor
