// Launches of operations, enqueued or recorded.
#include "client/tensor/src/stream.h"

namespace ttfd::tensor {

bool Stream::BeginRecording(std::unique_ptr<RecordedLaunches> recording) {
  if (recording_ != nullptr) return false;
  recording_ = std::move(recording);
  recording_->thread = std::this_thread::get_id();
  return true;
}

RecordedLaunches* Stream::recording() const {
  const bool is_own = recording_ != nullptr && recording_->thread == std::this_thread::get_id();
  return is_own ? recording_.get() : nullptr;
}

client::Status Stream::Launch(const client::LaunchRequest& launch) {
  if (const auto position = queue_.EnqueueLaunch(launch); !position.ok()) return position.status();
  ++launches_;
  return client::Status();
}

}  // namespace ttfd::tensor
