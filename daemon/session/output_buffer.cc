// Collects output, hands it out a message at a time, keeps it for a client that may come back.
#include "daemon/session/output_buffer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace ttfd {
namespace {

constexpr size_t kChunksPerMessage = 1024;  // of tiny reads
constexpr size_t kHangReports = 16;
constexpr uint64_t kKeptChunkBytes = 64;   // that a chunk which is kept takes besides its payload
constexpr size_t kErrorsMerged = 64;       // of the newest: one of each queue
constexpr size_t kErrorsPerMessage = 256;  // each well below 4 KiB: a message stays below 4 MiB

// What a print takes in memory and in a message, a little more than less.
uint64_t BytesOf(const KernelPrintReply& reply) {
  return 128 + reply.print.kernel_name.size() + reply.print.text.size();
}

// Erases what `gone` says of the first `*count`.
template <typename T, typename Gone>
void EraseFirst(std::deque<T>& from, size_t* count, Gone gone) {
  const auto end = from.begin() + static_cast<ptrdiff_t>(*count);
  const auto kept = std::remove_if(from.begin(), end, gone);
  *count = static_cast<size_t>(kept - from.begin());
  from.erase(kept, end);
}

}  // namespace

void OutputBuffer::set_keep(bool keep) {
  keep_ = keep;
  if (keep) return;
  prints_.erase(prints_.begin(), prints_.begin() + static_cast<ptrdiff_t>(told_prints_));
  data_.erase(data_.begin(), data_.begin() + static_cast<ptrdiff_t>(told_data_));
  errors_.erase(errors_.begin(), errors_.begin() + static_cast<ptrdiff_t>(told_errors_));
  told_prints_ = told_data_ = told_errors_ = 0;
  print_bytes_ = data_bytes_ = 0;
  for (const KernelPrintReply& print : prints_) print_bytes_ += BytesOf(print);
  for (const DataChunk& chunk : data_) data_bytes_ += HeldBytes(chunk);
}

uint64_t OutputBuffer::HeldBytes(const DataChunk& chunk) const {
  return chunk.payload.size() + (keep_ ? kKeptChunkBytes : 0);
}

void OutputBuffer::AddPrint(KernelPrintReply print, uint64_t max_bytes) {
  print.number = ++last_print_;
  print_bytes_ += BytesOf(print);
  prints_.push_back(std::move(print));
  while (print_bytes_ > max_bytes && prints_.size() > 1) {
    print_bytes_ -= BytesOf(prints_.front());
    prints_.pop_front();
    if (told_prints_ > 0) --told_prints_;
  }
}

void OutputBuffer::AddData(DataChunk chunk) {
  data_bytes_ += HeldBytes(chunk);
  data_.push_back(std::move(chunk));
}

void OutputBuffer::AddError(uint32_t queue, uint64_t first_value, uint64_t last_value,
                            const ErrorReply& error) {
  // Those of failed queues may alternate.
  size_t looked = 0;
  for (auto last = errors_.rbegin(); looked < std::min(errors(), kErrorsMerged); ++last, ++looked) {
    if (last->queue != queue) continue;
    if (last->last_value + 1 != first_value || error.cause.value == 0 ||
        last->error.code != error.code || last->error.cause != error.cause) {
      break;
    }
    last->last_value = last_value;
    return;
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
  progress_.push_back({queue, value, 0, 0});
}

void OutputBuffer::SetCredit(const CreditReply& credit) {
  has_credit_ = true;
  credit_ = credit;
}

void OutputBuffer::SetDraining(uint32_t within_ms) {
  draining_ = has_draining_ = true;
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

// The last few: a client that does not read need not hear of all.
void OutputBuffer::AddHangReport(std::string id) {
  if (hang_reports_.size() == kHangReports) hang_reports_.pop_front();
  hang_reports_.push_back(std::move(id));
}

bool OutputBuffer::empty() const {
  return prints_.size() == told_prints_ && data_.size() == told_data_ &&
         errors_.size() == told_errors_ && !progress_changed_ && !has_credit_ && !has_draining_ &&
         !has_waiting_ && !has_welcome_ && hang_reports_.empty();
}

bool OutputBuffer::all_received() const {
  if (!keep_) return true;
  return prints_.empty() && data_.empty() && errors_.empty() &&
         std::all_of(progress_.begin(), progress_.end(),
                     [](const Progress& one) { return one.received >= one.value; });
}

SessionOutputBatch OutputBuffer::Take(uint64_t max_bytes) {
  SessionOutputBatch batch;
  batch.hang_reports.assign(hang_reports_.begin(), hang_reports_.end());
  hang_reports_.clear();
  TakePrints(&batch);
  TakeData(max_bytes, &batch);
  TakeErrors(&batch);
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

// All of them: they are few, and whatever else is told may be of the same commands.
void OutputBuffer::TakePrints(SessionOutputBatch* batch) {
  const auto untold = prints_.begin() + static_cast<ptrdiff_t>(told_prints_);
  for (auto print = untold; print != prints_.end(); ++print) {
    print->lost = print->number - last_told_print_ - 1;
    last_told_print_ = print->number;
  }
  if (keep_) {
    batch->prints.assign(untold, prints_.end());
    told_prints_ = prints_.size();
    return;
  }
  batch->prints.assign(std::make_move_iterator(untold), std::make_move_iterator(prints_.end()));
  prints_.clear();
  print_bytes_ = 0;
}

void OutputBuffer::TakeData(uint64_t max_bytes, SessionOutputBatch* batch) {
  uint64_t bytes = 0;
  while (told_data_ < data_.size() && batch->data.size() < kChunksPerMessage) {
    DataChunk& next = data_[told_data_];
    const uint64_t size = next.payload.size();
    if (!batch->data.empty() && bytes + size > max_bytes) break;
    bytes += size;
    if (keep_) {
      batch->data.push_back(next);
      ++told_data_;
    } else {
      batch->data.push_back(std::move(next));
      data_.pop_front();
    }
  }
  if (!keep_) data_bytes_ -= bytes;
}

void OutputBuffer::TakeErrors(SessionOutputBatch* batch) {
  while (told_errors_ < errors_.size() && batch->errors.size() < kErrorsPerMessage) {
    if (keep_) {
      batch->errors.push_back(errors_[told_errors_++]);
    } else {
      batch->errors.push_back(std::move(errors_.front()));
      errors_.pop_front();
    }
  }
}

void OutputBuffer::TakeProgress(SessionOutputBatch* batch) {
  progress_changed_ = false;
  for (Progress& progress : progress_) {
    if (progress.told == progress.value) continue;
    uint64_t value = progress.value;
    for (size_t i = told_data_; i < data_.size(); ++i) {
      if (data_[i].queue == progress.queue) value = std::min(value, data_[i].value - 1);
    }
    for (size_t i = told_errors_; i < errors_.size(); ++i) {
      if (errors_[i].queue == progress.queue) value = std::min(value, errors_[i].first_value - 1);
    }
    if (value < progress.value) progress_changed_ = true;
    if (value <= progress.told) continue;
    progress.told = value;
    batch->progress.push_back({progress.queue, value});
  }
}

// ---- what is kept

uint64_t OutputBuffer::ReceivedOf(uint32_t queue) const {
  const auto progress = std::find_if(progress_.begin(), progress_.end(),
                                     [queue](const Progress& one) { return one.queue == queue; });
  return progress == progress_.end() ? 0 : progress->received;
}

// One look at what is kept, however much the client says at once: others wait for the session's lock meanwhile.
void OutputBuffer::Received(const ReceivedRequest& received) {
  if (!keep_) return;
  for (Progress& progress : progress_) {
    for (const QueuePosition& ended : received.ended) {
      if (ended.queue != progress.queue) continue;
      // Nobody has what was not told.
      progress.received = std::max(progress.received, std::min(ended.value, progress.told));
    }
  }
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> bytes_of;  // of reads that go on
  for (const DataPosition& data : received.data) {
    uint64_t& bytes = bytes_of[{data.read.queue, data.read.value}];
    bytes = std::max(bytes, data.bytes);
  }
  EraseFirst(prints_, &told_prints_, [&](const KernelPrintReply& print) {
    const bool gone = print.position.value <= ReceivedOf(print.position.queue);
    if (gone) print_bytes_ -= BytesOf(print);
    return gone;
  });
  EraseFirst(data_, &told_data_, [&](const DataChunk& chunk) {
    bool gone = chunk.value <= ReceivedOf(chunk.queue);
    if (!gone) {
      const auto part = bytes_of.find({chunk.queue, chunk.value});
      gone = part != bytes_of.end() && chunk.offset + chunk.payload.size() <= part->second;
    }
    if (gone) data_bytes_ -= HeldBytes(chunk);
    if (gone) data_received_ += chunk.payload.size();
    return gone;
  });
  EraseFirst(errors_, &told_errors_, [&](const CommandErrorReply& error) {
    return error.last_value <= ReceivedOf(error.queue);
  });
}

void OutputBuffer::Rewind(const ReceivedRequest& received, uint64_t prints) {
  Received(received);
  const uint64_t last = std::min(prints, last_told_print_);
  EraseFirst(prints_, &told_prints_, [&](const KernelPrintReply& print) {
    const bool gone = print.number <= last;
    if (gone) print_bytes_ -= BytesOf(print);
    return gone;
  });
  last_told_print_ = last;
  told_prints_ = told_data_ = told_errors_ = 0;
  for (Progress& progress : progress_) {
    progress.told = progress.received;
    progress_changed_ |= progress.told != progress.value;
  }
  has_draining_ = draining_;
  has_credit_ = false;  // it is the old connection's: the new one's begins with its Welcome
}

}  // namespace ttfd
