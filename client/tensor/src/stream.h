// Where the launches of operations go: onto the queue of the session, or into a recording.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/tensor/src/storage.h"
#include "ttfd/session.h"
#include "ttfd/tensor/recording.h"

namespace ttfd::tensor {

// An operation of a recording, or a step of one that is made of several.
struct RecordedOperation {
  std::string name;  // of the operation
  uint32_t launches = 0;
};

// Launches of one thread, gathered.
struct RecordedLaunches {
  std::thread::id thread = {};
  std::shared_ptr<RecordingMemory> memory = {};
  std::vector<client::LaunchRequest> launches = {};
  std::vector<RecordedOperation> operations = {};  // whose launches these are, in their order
  // Inputs of the launches that the recording has not made.
  std::set<std::shared_ptr<Allocation>> inputs = {};
  // Tensors whose elements the launches change in place.
  std::vector<std::weak_ptr<Storage>> changed = {};
  client::Status error = {};  // the first of an operation
  RecordingOptions options = {};
};

// Under the card's lock.
class Stream {
 public:
  explicit Stream(client::Queue queue) : queue_(std::move(queue)) {}

  // Launches of the calling thread go into `recording` until EndRecording. False: one is under way.
  bool BeginRecording(std::unique_ptr<RecordedLaunches> recording);
  std::unique_ptr<RecordedLaunches> EndRecording() { return std::move(recording_); }
  // Recording of the calling thread. Null: its launches are enqueued.
  RecordedLaunches* recording() const;

  client::Status Launch(client::LaunchRequest launch);

  uint64_t launches() const { return launches_; }

 private:
  client::Queue queue_;
  std::unique_ptr<RecordedLaunches> recording_;
  uint64_t launches_ = 0;
};

}  // namespace ttfd::tensor
