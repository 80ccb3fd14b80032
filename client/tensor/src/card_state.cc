// A card's programs, memory and stream behind one lock.
#include "client/tensor/src/card_state.h"

#include <utility>

namespace ttfd::tensor {

using client::MutexLock;

CardState::CardState(std::shared_ptr<client::Session> session, CoreSet cores,
                     const CardLimits& limits)
    : session_(std::move(session)),
      session_id_(session_->id()),
      queue_(session_->queue()),
      cores_(std::move(cores)),
      limits_(limits),
      pool_(session_.get()),
      programs_(session_.get()),
      stream_(queue_) {}

client::Status CardState::CheckSession() const {
  if (client::Status status = session_->status(); !status.ok()) return status;
  if (session_->id() == session_id_) return client::Status();
  return client::Status(client::ErrorInfo{
      .code = client::Code::kUnavailable,
      .message = "the session of this card was lost, with all its tensors; open the card again",
      .reason = "SESSION_LOST"});
}

client::Result<std::shared_ptr<Allocation>> CardState::Allocate(
    const TensorSpec& spec, std::shared_ptr<RecordingMemory> recording) {
  if (client::Status status = CheckSession(); !status.ok()) return status;
  BufferPool& pool = recording == nullptr ? pool_ : recording->pool;
  client::Result<client::Buffer> buffer = pool.Take(spec.size_bytes(), spec.page_bytes());
  if (!buffer.ok()) return buffer.status();
  return std::make_shared<Allocation>(shared_from_this(), std::move(*buffer), std::move(recording));
}

client::Result<std::shared_ptr<Allocation>> CardState::AllocateForHost(const TensorSpec& spec) {
  const MutexLock lock(&mutex_);
  return Allocate(spec, nullptr);
}

client::Result<std::shared_ptr<Allocation>> CardState::AllocateForOutput(const TensorSpec& spec) {
  const MutexLock lock(&mutex_);
  const RecordedLaunches* const recording = stream_.recording();
  return Allocate(spec, recording == nullptr ? nullptr : recording->memory);
}

void CardState::Return(client::Buffer buffer, RecordingMemory* recording) {
  const MutexLock lock(&mutex_);
  (recording == nullptr ? pool_ : recording->pool).Return(std::move(buffer));
}

client::LaunchRequest CardState::RequestOf(const RecordedOperation& operation,
                                           const client::Program& program, uint32_t index) const {
  client::LaunchRequest request(program);
  const Lowering& lowering = operation.lowering;
  const auto kernels = InfoOf(lowering.family).kernels;
  for (uint32_t kernel = 0; kernel < kernels.size(); ++kernel) {
    const KernelWords& words = lowering.kernels[kernels[kernel].words];
    request.Common(kernel, LaunchWords(lowering, words, index, cores_));
    for (const auto& [word, tensor] : words.addresses) {
      request.Address(kernel, word, client::Buffer(nullptr, operation.buffer(tensor), 0, 0));
    }
  }
  return request;
}

client::Result<std::vector<client::LaunchRequest>> CardState::RequestsOf(
    const RecordedOperation& operation) {
  const MutexLock lock(&mutex_);
  if (client::Status status = CheckSession(); !status.ok()) return status;
  const client::Result<const client::Program*> program = programs_.Of(operation.lowering, cores_);
  if (!program.ok()) return program.status();
  std::vector<client::LaunchRequest> requests;
  for (uint32_t i = 0; i < operation.lowering.launches(); ++i) {
    requests.push_back(RequestOf(operation, **program, i));
  }
  return requests;
}

client::Result<const KernelSet::Kernels*> CardState::KernelsOf(Family family) {
  const MutexLock lock(&mutex_);
  if (client::Status status = CheckSession(); !status.ok()) return status;
  return programs_.kernels().Of(family);
}

client::Status CardState::Launch(std::string_view name, const Lowering& lowering,
                                 std::span<const std::shared_ptr<Allocation>> inputs,
                                 const Allocation& output,
                                 const std::shared_ptr<Storage>& changed) {
  RecordedOperation operation = {.name = std::string(name),
                                 .lowering = lowering,
                                 .inputs = {},
                                 .output = output.buffer().handle()};
  for (const std::shared_ptr<Allocation>& input : inputs) {
    operation.inputs.push_back(input->buffer().handle());
  }
  const MutexLock lock(&mutex_);
  if (client::Status status = CheckSession(); !status.ok()) return status;
  ++operations_;
  if (RecordedLaunches* const recording = stream_.recording(); recording != nullptr) {
    for (const std::shared_ptr<Allocation>& input : inputs) {
      if (input->recording() != recording->memory) recording->inputs.insert(input);
    }
    recording->changed.push_back(changed);
    recording->operations.push_back(std::move(operation));
    return client::Status();
  }
  const client::Result<const client::Program*> program = programs_.Of(lowering, cores_);
  if (!program.ok()) return program.status();
  for (uint32_t i = 0; i < lowering.launches(); ++i) {
    client::Status status = stream_.Launch(RequestOf(operation, **program, i));
    if (!status.ok()) return status;
  }
  return client::Status();
}

client::Status CardState::BeginRecording(const RecordingOptions& options) {
  auto recording = std::make_unique<RecordedLaunches>();
  recording->options = options;
  const MutexLock lock(&mutex_);
  recording->memory = std::make_shared<RecordingMemory>(&pool_);
  if (stream_.BeginRecording(std::move(recording))) return client::Status();
  return client::Status(client::Code::kFailedPrecondition,
                        "the card is recording; end that recording first");
}

std::unique_ptr<RecordedLaunches> CardState::EndRecording() {
  const MutexLock lock(&mutex_);
  return stream_.EndRecording();
}

bool CardState::IsRecording() const {
  const MutexLock lock(&mutex_);
  return stream_.recording() != nullptr;
}

bool CardState::RecordsInto(const RecordingMemory* memory) const {
  const MutexLock lock(&mutex_);
  const RecordedLaunches* const recording = stream_.recording();
  return recording != nullptr && recording->memory.get() == memory;
}

void CardState::NoteError(const client::Status& error) {
  const MutexLock lock(&mutex_);
  RecordedLaunches* const recording = stream_.recording();
  if (recording != nullptr && recording->error.ok()) recording->error = error;
}

void CardState::Release(RecordingMemory* recording) {
  const MutexLock lock(&mutex_);
  recording->pool.Close();
}

Card::Counts CardState::counts() const {
  const MutexLock lock(&mutex_);
  return {.operations = operations_,
          .launches = stream_.launches(),
          .programs = programs_.size(),
          .pooled_bytes = pool_.free_bytes()};
}

Allocation::~Allocation() { card_->Return(std::move(buffer_), recording_.get()); }

}  // namespace ttfd::tensor
