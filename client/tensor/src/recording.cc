// Recordings of a card.
#include "ttfd/tensor/recording.h"

#include <optional>
#include <utility>

#include "client/tensor/src/card_state.h"
#include "client/tensor/src/clock_stamps.h"
#include "ttfd/tensor/card.h"

namespace ttfd::tensor {

class RecordingState {
 public:
  RecordingState(std::shared_ptr<CardState> card, std::unique_ptr<RecordedLaunches> recorded,
                 std::optional<ClockStamps> stamps, client::Trace trace)
      : card_(std::move(card)),
        memory_(std::move(recorded->memory)),
        inputs_(std::move(recorded->inputs)),
        changed_(std::move(recorded->changed)),
        stamps_(std::move(stamps)),
        trace_(std::move(trace)) {}
  ~RecordingState() { card_->Release(memory_.get()); }
  RecordingState(const RecordingState&) = delete;
  RecordingState& operator=(const RecordingState&) = delete;

  Status Replay(uint32_t times) {
    client::Queue queue = card_->queue();
    Status status;
    for (uint32_t i = 0; i < times && status.ok(); ++i) {
      status = queue.EnqueueReplay(client::ReplayRequest(trace_)).status();
      if (status.ok()) memory_->has_run = true;
    }
    for (const std::weak_ptr<Storage>& changed : changed_) {
      if (const std::shared_ptr<Storage> storage = changed.lock()) storage->NoteChange();
    }
    return status;
  }

  uint64_t launches() const { return trace_.launches(); }

  Result<std::vector<OperationClocks>> Clocks() const {
    if (!stamps_) return Status(Code::kFailedPrecondition, "the recording was made without clocks");
    if (!memory_->has_run) {
      return Status(Code::kFailedPrecondition, "the recording has not been replayed");
    }
    return stamps_->Read();
  }

 private:
  std::shared_ptr<CardState> card_;
  std::shared_ptr<RecordingMemory> memory_;
  std::set<std::shared_ptr<Allocation>> inputs_;
  std::vector<std::weak_ptr<Storage>> changed_;
  std::optional<ClockStamps> stamps_;
  client::Trace trace_;
};

Status Recording::Replay(uint32_t times) { return state_->Replay(times); }
uint64_t Recording::launches() const { return state_->launches(); }
Result<std::vector<OperationClocks>> Recording::Clocks() const { return state_->Clocks(); }

bool Card::IsRecording() const { return state_->IsRecording(); }

Status Card::BeginRecording(const RecordingOptions& options) {
  return state_->BeginRecording(options);
}

Result<Recording> Card::EndRecording() {
  std::unique_ptr<RecordedLaunches> recorded = state_->EndRecording();
  if (recorded == nullptr) {
    return Status(Code::kFailedPrecondition, "no recording is under way");
  }
  Status status = recorded->error;
  if (status.ok() && recorded->launches.empty()) {
    status = Status(Code::kFailedPrecondition, "no operation has been called in the recording");
  }
  std::optional<ClockStamps> stamps;
  if (status.ok() && recorded->options.clocks) {
    Result<ClockStamps> added = ClockStamps::AddTo(state_.get(), recorded.get());
    status = added.status();
    if (status.ok()) stamps = std::move(*added);
  }
  if (status.ok()) {
    Result<client::Trace> trace = state_->queue().RecordTrace(recorded->launches);
    if (trace.ok()) {
      return Recording(std::make_shared<RecordingState>(state_, std::move(recorded),
                                                        std::move(stamps), std::move(*trace)));
    }
    status = trace.status();
  }
  state_->Release(recorded->memory.get());
  return status;
}

Result<Recording> Card::Record(const std::function<void()>& operations,
                               const RecordingOptions& options) {
  if (Status status = BeginRecording(options); !status.ok()) return status;
  operations();
  return EndRecording();
}

}  // namespace ttfd::tensor
