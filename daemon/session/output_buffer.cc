// Collects a session's output and hands it out a message at a time.
#include "daemon/session/output_buffer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "daemon/api/errors.h"

namespace ttfd {
namespace {

constexpr size_t kChunksPerMessage = 1024;  // of tiny reads
constexpr size_t kErrorsMerged = 64;        // of the newest: one of each queue
// With everything else a message takes, encoded errors leave it below 4 MiB.
constexpr uint64_t kErrorBytesPerMessage = 512 << 10;

// In memory and in a message, a little more than less.
uint64_t HeldBytes(const KernelPrintReply& reply) {
  return 128 + reply.print.kernel_name.size() + reply.print.text.size();
}

uint64_t HeldBytes(const DataChunk& chunk) {
  return sizeof(DataChunk) + kHeapBlockBytes + chunk.payload.size();
}

uint64_t HeldBytes(const CommandErrorReply& reply) {
  return sizeof(CommandErrorReply) + 2 * kHeapBlockBytes + reply.error.message.size() +
         reply.error.field.size();
}

}  // namespace

void OutputBuffer::AddPrint(KernelPrintReply print, uint64_t max_bytes) {
  print_bytes_ += HeldBytes(print);
  prints_.push_back(std::move(print));
  while (print_bytes_ > max_bytes && prints_.size() > 1) {
    print_bytes_ -= HeldBytes(prints_.front());
    prints_.pop_front();
    ++lost_prints_;
  }
}

void OutputBuffer::AddData(DataChunk chunk) {
  data_bytes_ += HeldBytes(chunk);
  data_.push_back(std::move(chunk));
}

void OutputBuffer::AddError(uint32_t queue, uint64_t first_value, uint64_t last_value,
                            const ErrorReply& error) {
  // Errors of several failed queues may alternate.
  const auto end =
      errors_.rbegin() + static_cast<ptrdiff_t>(std::min(errors_.size(), kErrorsMerged));
  const auto last = std::find_if(
      errors_.rbegin(), end, [queue](const CommandErrorReply& one) { return one.queue == queue; });
  if (last != end && last->last_value + 1 == first_value && HasCause(error) &&
      last->error.code == error.code && last->error.cause == error.cause) {
    last->last_value = last_value;
    return;
  }
  errors_.push_back({queue, first_value, last_value, error});
  error_bytes_ += HeldBytes(errors_.back());
}

void OutputBuffer::SetProgress(uint32_t queue, uint64_t value) {
  progress_changed_ = true;
  for (Progress& progress : progress_) {
    if (progress.queue != queue) continue;
    progress.value = value;
    return;
  }
  progress_.push_back({queue, value, 0});
}

void OutputBuffer::SetWelcome(std::string lease_token) {
  welcome_ = std::move(lease_token);
  waiting_.reset();
}

bool OutputBuffer::empty() const {
  return prints_.empty() && data_.empty() && !has_results() && !waiting_ && !welcome_;
}

SessionOutputBatch OutputBuffer::Take(uint64_t max_bytes) {
  taken_ = taken_ || !empty();
  SessionOutputBatch batch;
  batch.has_welcome = welcome_.has_value();
  if (batch.has_welcome) {
    batch.lease_token = *std::exchange(welcome_, std::nullopt);
    return batch;
  }
  batch.has_waiting = waiting_.has_value();
  if (batch.has_waiting) batch.waiting = *std::exchange(waiting_, std::nullopt);
  TakePrints(&batch);
  TakeData(max_bytes, &batch);
  TakeErrors(&batch);
  if (progress_changed_) TakeProgress(&batch);
  return batch;
}

// All of them: they are few, and everything else may be of the same commands.
void OutputBuffer::TakePrints(SessionOutputBatch* batch) {
  if (prints_.empty()) return;
  prints_.front().lost = std::exchange(lost_prints_, 0);
  batch->prints.assign(std::make_move_iterator(prints_.begin()),
                       std::make_move_iterator(prints_.end()));
  prints_.clear();
  print_bytes_ = 0;
}

void OutputBuffer::TakeData(uint64_t max_bytes, SessionOutputBatch* batch) {
  uint64_t bytes = 0;
  while (!data_.empty() && batch->data.size() < kChunksPerMessage) {
    DataChunk& next = data_.front();
    bytes += next.payload.size();
    if (!batch->data.empty() && bytes > max_bytes) break;
    data_bytes_ -= HeldBytes(next);
    batch->data.push_back(std::move(next));
    data_.pop_front();
  }
}

void OutputBuffer::TakeErrors(SessionOutputBatch* batch) {
  for (auto& [queue, error] : open_errors_)
    batch->errors.push_back({queue, 0, 0, std::move(error)});
  open_errors_.clear();
  uint64_t bytes = 0;
  while (!errors_.empty() && bytes < kErrorBytesPerMessage) {
    bytes += HeldBytes(errors_.front());
    error_bytes_ -= HeldBytes(errors_.front());
    batch->errors.push_back(std::move(errors_.front()));
    errors_.pop_front();
  }
}

void OutputBuffer::TakeProgress(SessionOutputBatch* batch) {
  progress_changed_ = false;
  // The first value of each queue whose data or error has not been taken. One pass over these for all queues.
  std::map<uint32_t, uint64_t> left;
  auto last = left.end();
  const auto note = [&](uint32_t queue, uint64_t value) {
    if (last == left.end() || last->first != queue) {
      last = left.try_emplace(queue, value).first;
    }
    last->second = std::min(last->second, value);
  };
  for (const DataChunk& chunk : data_) note(chunk.queue, chunk.value);
  for (const CommandErrorReply& error : errors_) note(error.queue, error.first_value);
  for (Progress& progress : progress_) {
    if (progress.taken == progress.value) continue;
    const auto first = left.find(progress.queue);
    const uint64_t value =
        first == left.end() ? progress.value : std::min(progress.value, first->second - 1);
    if (value < progress.value) progress_changed_ = true;
    if (value <= progress.taken) continue;
    progress.taken = value;
    batch->progress.push_back({progress.queue, value});
  }
}

}  // namespace ttfd
