// A card's programs, memory and queue behind one lock.
#include "client/tensor/src/card_state.h"

#include <utility>

namespace ttfd::tensor {

CardState::CardState(client::Session session, CoreSet cores, const CardLimits& limits)
    : session_(std::move(session)),
      cores_(std::move(cores)),
      limits_(limits),
      pool_(&session_),
      programs_(&session_),
      stream_(session_.queue()) {}

client::Result<std::shared_ptr<Storage>> CardState::Allocate(const TensorSpec& spec) {
  const client::MutexLock lock(&mutex_);
  client::Result<client::Buffer> buffer = pool_.Take(spec.size_bytes(), spec.page_bytes());
  if (!buffer.ok()) return buffer.status();
  return std::make_shared<Storage>(shared_from_this(), std::move(*buffer));
}

void CardState::Return(client::Buffer buffer) {
  const client::MutexLock lock(&mutex_);
  pool_.Return(std::move(buffer));
}

client::LaunchRequest CardState::RequestOf(const Lowering& lowering, const client::Program& program,
                                           uint32_t index,
                                           std::span<const client::Buffer* const> inputs,
                                           const client::Buffer& output) const {
  client::LaunchRequest request(program);
  const auto add = [&](uint32_t kernel, const KernelWords& words) {
    request.Common(kernel, LaunchWords(lowering, words, index, cores_));
    for (const auto& [word, tensor] : words.addresses) {
      request.Address(kernel, word, tensor == Lowering::kOutput ? output : *inputs[tensor]);
    }
  };
  add(kReaderKernel, lowering.reader);
  for (uint32_t kernel = kComputeKernel; kernel < kWriterKernel; ++kernel) {
    add(kernel, lowering.compute);
  }
  add(kWriterKernel, lowering.writer);
  return request;
}

client::Status CardState::Launch(const Lowering& lowering,
                                 std::span<const client::Buffer* const> inputs,
                                 const client::Buffer& output) {
  const client::MutexLock lock(&mutex_);
  const client::Result<const client::Program*> program = programs_.Of(lowering, cores_);
  if (!program.ok()) return program.status();
  ++operations_;
  for (uint32_t i = 0; i < lowering.launches(); ++i) {
    const client::Status status = stream_.Launch(RequestOf(lowering, **program, i, inputs, output));
    if (!status.ok()) return status;
  }
  return client::Status();
}

Card::Counts CardState::counts() const {
  const client::MutexLock lock(&mutex_);
  return {.operations = operations_,
          .launches = stream_.launches(),
          .programs = programs_.size(),
          .pooled_bytes = pool_.free_bytes()};
}

void Storage::Deallocate() {
  if (buffer_.handle() != 0) card_->Return(std::exchange(buffer_, client::Buffer()));
}

}  // namespace ttfd::tensor
