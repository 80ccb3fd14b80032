// Collects output, hands it out a message at a time.
#include "daemon/session/output_buffer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ttfd {
namespace {

constexpr size_t kChunksPerMessage = 1024;  // of tiny reads
constexpr size_t kErrorsPerMessage = 256;   // each well below 4 KiB: a message stays below 4 MiB

// What a print takes in memory and in a message, a little more than less.
uint64_t BytesOf(const KernelPrintReply& reply) {
  return 128 + reply.print.kernel_name.size() + reply.print.text.size();
}

}  // namespace

void OutputBuffer::AddPrint(KernelPrintReply print, uint64_t max_bytes) {
  print_bytes_ += BytesOf(print);
  prints_.push_back(std::move(print));
  while (print_bytes_ > max_bytes && prints_.size() > 1) {
    print_bytes_ -= BytesOf(prints_.front());
    prints_.pop_front();
    ++prints_lost_;
  }
}

void OutputBuffer::AddData(DataChunk chunk) {
  data_bytes_ += chunk.payload.size();
  data_.push_back(std::move(chunk));
}

void OutputBuffer::AddError(uint32_t queue, uint64_t first_value, uint64_t last_value,
                            const ErrorReply& error) {
  if (!errors_.empty()) {
    CommandErrorReply& last = errors_.back();
    if (last.queue == queue && last.last_value + 1 == first_value && error.cause.value != 0 &&
        last.error.code == error.code && last.error.cause == error.cause) {
      last.last_value = last_value;
      return;
    }
  }
  errors_.push_back({queue, first_value, last_value, error});
}

void OutputBuffer::SetProgress(uint32_t queue, uint64_t value) {
  progress_changed_ = true;
  for (Progress& progress : progress_) {
    if (progress.queue == queue) {
      progress.value = value;
      return;
    }
  }
  progress_.push_back({queue, value, 0});
}

void OutputBuffer::SetCredit(const CreditReply& credit) {
  has_credit_ = true;
  credit_ = credit;
}

void OutputBuffer::SetDraining(uint32_t within_ms) {
  has_draining_ = true;
  draining_within_ms_ = within_ms;
}

void OutputBuffer::SetWaiting(const LeaseWaitReply& wait) {
  has_waiting_ = true;
  waiting_ = wait;
}

void OutputBuffer::SetWelcome(std::string lease_token) {
  has_welcome_ = true;
  lease_token_ = std::move(lease_token);
  has_waiting_ = false;
}

bool OutputBuffer::empty() const {
  return prints_.empty() && data_.empty() && errors_.empty() && !progress_changed_ &&
         !has_credit_ && !has_draining_ && !has_waiting_ && !has_welcome_;
}

SessionOutputBatch OutputBuffer::Take(uint64_t max_bytes) {
  SessionOutputBatch batch;
  // All of them: they are few, and whatever else is told may be of the same commands.
  if (!prints_.empty()) prints_.front().lost = std::exchange(prints_lost_, 0);
  batch.prints.assign(std::make_move_iterator(prints_.begin()),
                      std::make_move_iterator(prints_.end()));
  prints_.clear();
  print_bytes_ = 0;
  uint64_t bytes = 0;
  while (!data_.empty() && batch.data.size() < kChunksPerMessage) {
    const uint64_t size = data_.front().payload.size();
    if (!batch.data.empty() && bytes + size > max_bytes) break;
    bytes += size;
    batch.data.push_back(std::move(data_.front()));
    data_.pop_front();
  }
  data_bytes_ -= bytes;
  while (!errors_.empty() && batch.errors.size() < kErrorsPerMessage) {
    batch.errors.push_back(std::move(errors_.front()));
    errors_.pop_front();
  }
  if (progress_changed_) TakeProgress(&batch);
  batch.has_credit = std::exchange(has_credit_, false);
  batch.credit = credit_;
  batch.has_draining = std::exchange(has_draining_, false);
  batch.draining_within_ms = draining_within_ms_;
  batch.has_waiting = std::exchange(has_waiting_, false);
  if (batch.has_waiting) batch.waiting = waiting_;
  batch.has_welcome = std::exchange(has_welcome_, false);
  if (batch.has_welcome) batch.lease_token = std::move(lease_token_);
  return batch;
}

void OutputBuffer::TakeProgress(SessionOutputBatch* batch) {
  progress_changed_ = false;
  for (Progress& progress : progress_) {
    if (progress.told == progress.value) continue;
    uint64_t value = progress.value;
    for (const DataChunk& chunk : data_) {
      if (chunk.queue == progress.queue) value = std::min(value, chunk.value - 1);
    }
    for (const CommandErrorReply& error : errors_) {
      if (error.queue == progress.queue) value = std::min(value, error.first_value - 1);
    }
    if (value < progress.value) progress_changed_ = true;
    if (value <= progress.told) continue;
    progress.told = value;
    batch->progress.push_back({progress.queue, value});
  }
}

}  // namespace ttfd
