// All that operations on a card share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "client/cpp/src/mutex.h"
#include "client/tensor/src/buffer_pool.h"
#include "client/tensor/src/core_set.h"
#include "client/tensor/src/lowering.h"
#include "client/tensor/src/programs.h"
#include "client/tensor/src/storage.h"
#include "client/tensor/src/stream.h"
#include "ttfd/session.h"
#include "ttfd/tensor/card.h"

namespace ttfd::tensor {

// Shared by the copies of a Card, the allocations of its tensors and its recordings. Thread-safe: launches of an
// operation are enqueued together, under one lock, which no call holds while it waits for the card to compute.
class CardState : public std::enable_shared_from_this<CardState> {
 public:
  CardState(std::shared_ptr<client::Session> session, CoreSet cores, const CardLimits& limits);

  const CardLimits& limits() const { return limits_; }
  client::Session& session() { return *session_; }
  client::Queue queue() const { return queue_; }

  // Memory for a tensor of the host's.
  client::Result<std::shared_ptr<Allocation>> AllocateForHost(const TensorSpec& spec);
  // Memory for the output of an operation: that of the recording, if the calling thread records.
  client::Result<std::shared_ptr<Allocation>> AllocateForOutput(const TensorSpec& spec);
  // From an allocation that ends.
  void Return(client::Buffer buffer, RecordingMemory* recording);

  // Enqueues the launches of an operation, or records them. `inputs` and `output` are what the lowering's addresses
  // name; `changed` is the tensor whose elements they make, or change in place. `operation` is the name of its call.
  client::Status Launch(std::string_view operation, const Lowering& lowering,
                        std::span<const std::shared_ptr<Allocation>> inputs,
                        const Allocation& output, const std::shared_ptr<Storage>& changed);
  // The launches of an operation of a recording.
  client::Result<std::vector<client::LaunchRequest>> RequestsOf(const RecordedOperation& operation);
  // Kernels of a family, in the order of FamilyInfo::kernels; valid while the card exists.
  client::Result<const KernelSet::Kernels*> KernelsOf(Family family);

  // ---- Recordings.
  // FAILED_PRECONDITION: one is under way.
  client::Status BeginRecording(const RecordingOptions& options);
  std::unique_ptr<RecordedLaunches> EndRecording();
  bool IsRecording() const;                               // the calling thread
  bool RecordsInto(const RecordingMemory* memory) const;  // the same
  // Makes the recording of the calling thread, if any, fail with its first error.
  void NoteError(const client::Status& error);
  // The recording is gone.
  void Release(RecordingMemory* recording);

  Card::Counts counts() const;

 private:
  client::Result<std::shared_ptr<Allocation>> Allocate(const TensorSpec& spec,
                                                       std::shared_ptr<RecordingMemory> recording)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  client::LaunchRequest RequestOf(const RecordedOperation& operation,
                                  const client::Program& program, uint32_t index) const;

  // Error: the session is lost. A call that creates something would begin its successor, where nothing of this is.
  client::Status CheckSession() const;

  const std::shared_ptr<client::Session> session_;
  const uint64_t session_id_;
  const client::Queue queue_;
  const CoreSet cores_;
  const CardLimits limits_;

  mutable client::Mutex mutex_;
  BufferPool pool_ ABSL_GUARDED_BY(mutex_);
  ProgramCache programs_ ABSL_GUARDED_BY(mutex_);
  Stream stream_ ABSL_GUARDED_BY(mutex_);
  uint64_t operations_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace ttfd::tensor
