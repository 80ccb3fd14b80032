// Recordings of a card.
#include "ttfd/tensor/recording.h"

#include <iterator>
#include <optional>
#include <utility>

#include "client/tensor/src/card_state.h"
#include "client/tensor/src/clock_stamps.h"
#include "client/tensor/src/error.h"
#include "client/tensor/src/operation_tasks.h"
#include "ttfd/tensor/card.h"

namespace ttfd::tensor {

// Memory of the tensors that recorded operations use, and their card.
class RecordedTensors {
 public:
  RecordedTensors(std::shared_ptr<CardState> card, RecordedLaunches* recorded)
      : card_(std::move(card)),
        memory_(std::move(recorded->memory)),
        inputs_(std::move(recorded->inputs)) {}
  ~RecordedTensors() { card_->Release(memory_.get()); }
  RecordedTensors(const RecordedTensors&) = delete;
  RecordedTensors& operator=(const RecordedTensors&) = delete;

  CardState& card() const { return *card_; }
  RecordingMemory& memory() const { return *memory_; }

 private:
  std::shared_ptr<CardState> card_;
  std::shared_ptr<RecordingMemory> memory_;
  std::set<std::shared_ptr<Allocation>> inputs_;
};

class RecordingState {
 public:
  RecordingState(std::shared_ptr<CardState> card, std::unique_ptr<RecordedLaunches> recorded,
                 std::optional<ClockStamps> stamps, client::Trace trace)
      : tensors_(std::move(card), recorded.get()),
        changed_(std::move(recorded->changed)),
        stamps_(std::move(stamps)),
        trace_(std::move(trace)) {}

  Status Replay(uint32_t times) {
    client::Queue queue = tensors_.card().queue();
    Status status;
    for (uint32_t i = 0; i < times && status.ok(); ++i) {
      status = queue.EnqueueReplay(client::ReplayRequest(trace_)).status();
      if (status.ok()) tensors_.memory().has_run = true;
    }
    for (const std::weak_ptr<Storage>& changed : changed_) {
      if (const std::shared_ptr<Storage> storage = changed.lock()) storage->NoteChange();
    }
    return status;
  }

  uint64_t launches() const { return trace_.launches(); }

  Result<std::vector<OperationClocks>> Clocks() const {
    if (!stamps_) return Status(Code::kFailedPrecondition, "the recording was made without clocks");
    if (!tensors_.memory().has_run) {
      return Status(Code::kFailedPrecondition, "the recording has not been replayed");
    }
    return stamps_->Read();
  }

 private:
  RecordedTensors tensors_;
  std::vector<std::weak_ptr<Storage>> changed_;
  std::optional<ClockStamps> stamps_;
  client::Trace trace_;
};

class TaskRecordingState {
 public:
  TaskRecordingState(std::shared_ptr<CardState> card, RecordedLaunches* recorded, uint32_t tasks)
      : tensors_(std::move(card), recorded), tasks_(tasks) {
    tensors_.memory().has_run = true;  // the graph does not say when it has
  }

  uint32_t tasks() const { return tasks_; }

 private:
  RecordedTensors tensors_;
  uint32_t tasks_;
};

namespace {

// OK: it has operations, and none has failed. Releases its memory otherwise.
Status CheckRecorded(CardState* card, RecordedLaunches* recorded) {
  if (recorded == nullptr) {
    return Status(Code::kFailedPrecondition, "no recording is under way");
  }
  Status status = recorded->error;
  if (status.ok() && recorded->operations.empty()) {
    status = Status(Code::kFailedPrecondition, "no operation has been called in the recording");
  }
  if (!status.ok()) card->Release(recorded->memory.get());
  return status;
}

}  // namespace

Status Recording::Replay(uint32_t times) { return state_->Replay(times); }
uint64_t Recording::launches() const { return state_->launches(); }
Result<std::vector<OperationClocks>> Recording::Clocks() const { return state_->Clocks(); }

bool Card::IsRecording() const { return state_->IsRecording(); }

Status Card::BeginRecording(const RecordingOptions& options) {
  return state_->BeginRecording(options);
}

Result<Recording> Card::EndRecording() {
  std::unique_ptr<RecordedLaunches> recorded = state_->EndRecording();
  if (Status status = CheckRecorded(state_.get(), recorded.get()); !status.ok()) return status;
  Status status;
  std::optional<ClockStamps> stamps;
  if (recorded->options.clocks) {
    Result<ClockStamps> added = ClockStamps::AddTo(state_.get(), &recorded->operations);
    status = added.status();
    if (status.ok()) stamps = std::move(*added);
  }
  std::vector<client::LaunchRequest> launches;
  for (const RecordedOperation& operation : recorded->operations) {
    if (!status.ok()) break;
    Result<std::vector<client::LaunchRequest>> requests = state_->RequestsOf(operation);
    status = requests.status();
    if (status.ok()) std::move(requests->begin(), requests->end(), std::back_inserter(launches));
  }
  if (status.ok()) {
    Result<client::Trace> trace = state_->queue().RecordTrace(launches);
    if (trace.ok()) {
      return Recording(std::make_shared<RecordingState>(state_, std::move(recorded),
                                                        std::move(stamps), std::move(*trace)));
    }
    status = trace.status();
  }
  state_->Release(recorded->memory.get());
  return status;
}

Result<TaskRecording> Card::EndRecordingAsTasks(graph::Graph* graph) {
  std::unique_ptr<RecordedLaunches> recorded = state_->EndRecording();
  if (Status status = CheckRecorded(state_.get(), recorded.get()); !status.ok()) return status;
  OperationTasks tasks(state_.get(), graph);
  Status status;
  if (&graph->session() != &state_->session()) {
    status = Invalid("graph", "the graph is in another session than the card");
  }
  for (const RecordedOperation& operation : recorded->operations) {
    if (status.ok()) status = tasks.Add(operation);
  }
  if (!status.ok()) {
    state_->Release(recorded->memory.get());
    return status;
  }
  return TaskRecording(std::make_shared<TaskRecordingState>(state_, recorded.get(), tasks.tasks()));
}

Result<TaskRecording> Card::RecordTasks(graph::Graph* graph,
                                        const std::function<void()>& operations) {
  if (Status status = BeginRecording(); !status.ok()) return status;
  operations();
  return EndRecordingAsTasks(graph);
}

uint32_t TaskRecording::tasks() const { return state_->tasks(); }

Result<Recording> Card::Record(const std::function<void()>& operations,
                               const RecordingOptions& options) {
  if (Status status = BeginRecording(options); !status.ok()) return status;
  operations();
  return EndRecording();
}

}  // namespace ttfd::tensor
