// Where the launches of operations go: onto the queue of the session, or into a recording.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/tensor/src/lowering.h"
#include "client/tensor/src/storage.h"
#include "ttfd/session.h"
#include "ttfd/tensor/recording.h"

namespace ttfd::tensor {

// An operation of a recording, or a step of one that is made of several. It keeps no memory: tensors of the recording
// share buffers.
struct RecordedOperation {
  std::string name;  // of the operation
  Lowering lowering;
  std::vector<uint64_t> inputs;  // handles of buffers
  uint64_t output = 0;

  // Handle of the buffer that KernelWords::Address::tensor names.
  uint64_t buffer(uint32_t tensor) const {
    return tensor == Lowering::kOutput ? output : inputs[tensor];
  }
};

// Operations of one thread, gathered.
struct RecordedLaunches {
  std::thread::id thread = {};
  std::shared_ptr<RecordingMemory> memory = {};
  std::vector<RecordedOperation> operations = {};  // in their order
  // Inputs of the operations that the recording has not made.
  std::set<std::shared_ptr<Allocation>> inputs = {};
  // Tensors whose elements the operations change in place.
  std::vector<std::weak_ptr<Storage>> changed = {};
  client::Status error = {};  // the first of an operation
  RecordingOptions options = {};
};

// Under the card's lock.
class Stream {
 public:
  explicit Stream(client::Queue queue) : queue_(std::move(queue)) {}

  // Operations of the calling thread go into `recording` until EndRecording. False: one is under way.
  bool BeginRecording(std::unique_ptr<RecordedLaunches> recording);
  std::unique_ptr<RecordedLaunches> EndRecording() { return std::move(recording_); }
  // Recording of the calling thread. Null: its operations are enqueued.
  RecordedLaunches* recording() const;

  // Enqueues a launch.
  client::Status Launch(const client::LaunchRequest& launch);

  uint64_t launches() const { return launches_; }

 private:
  client::Queue queue_;
  std::unique_ptr<RecordedLaunches> recording_;
  uint64_t launches_ = 0;
};

}  // namespace ttfd::tensor
