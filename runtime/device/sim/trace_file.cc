// Buffers lines, keeps the limit, keeps the last events.
#include "runtime/device/sim/trace_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <variant>

namespace ttfd {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kLongestLastLine = 200;  // kept free for the line that says why the trace ends

}  // namespace

StatusOr<std::unique_ptr<TraceFile>> TraceFile::Open(const TraceOptions& options, sim::Chip* chip) {
  UniqueFd file(open(options.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) {
    return InvalidArgument("trace: cannot write \"{}\": {}", options.path, std::strerror(errno));
  }
  return std::unique_ptr<TraceFile>(new TraceFile(options, chip, std::move(file)));
}

TraceFile::TraceFile(const TraceOptions& options, sim::Chip* chip, UniqueFd file)
    : options_(options),
      chip_(chip),
      file_(std::move(file)),
      tracer_(options.filter, [this](const sim::TraceEvent& event) { Take(event); }) {
  buffer_.append(sim::kTraceHeading.data(), sim::kTraceHeading.data() + sim::kTraceHeading.size());
  bytes_ = buffer_.size();
  kept_.reserve(options_.last);
  Watch(chip_->clock(), chip_->clock() + 1);
}

TraceFile::~TraceFile() {
  WriteKept("the end");
  Flush();
}

void TraceFile::BeforeAdvance(uint64_t clocks) {
  // The advance is not cut where the range begins: a traced chip does what an untraced one does, and how it is advanced
  // is part of that. What lies outside the range the filter leaves out.
  const uint64_t now = chip_->clock();
  Watch(now, now + std::min(clocks, std::numeric_limits<uint64_t>::max() - now));
}

void TraceFile::AfterAdvance(bool going_on) {
  const std::optional<sim::Fault>& fault = chip_->fault();
  const bool new_fault = fault.has_value() && !fault_written_;
  fault_written_ = fault.has_value();
  if (attached_) tracer_.Settle(new_fault ? &*fault : nullptr);
  if (new_fault) WriteKept("the fault");
  if (chip_->clock() >= options_.filter.to || !WantsMore()) Watch(0, 0);
  if (!going_on) Flush();
}

void TraceFile::BeforeReset() {
  WriteKept("a reset");
  Flush();
  Watch(0, 1);
}

void TraceFile::Watch(uint64_t from, uint64_t to) {
  const bool wanted = to > options_.filter.from && from < options_.filter.to && WantsMore();
  if (wanted == attached_) return;
  attached_ = wanted;
  if (wanted) {
    chip_->Attach(&tracer_);
  } else {
    chip_->Detach(&tracer_);
    Flush();
  }
}

void TraceFile::Take(const sim::TraceEvent& event) {
  if (options_.last == 0) return Write(event);
  if (std::holds_alternative<sim::TraceReset>(event)) return;  // what is kept is written before
  if (kept_.size() < options_.last) {
    kept_.push_back(event);
  } else {
    kept_[taken_ % options_.last] = event;
  }
  ++taken_;
}

void TraceFile::Write(const sim::TraceEvent& event) {
  if (!WantsMore()) return;
  const size_t before = buffer_.size();
  text_.Append(event, &buffer_);
  bytes_ += buffer_.size() - before;
  if (bytes_ + kLongestLastLine > options_.limit_bytes) {
    buffer_.resize(before);
    full_ = true;
    fmt::format_to(std::back_inserter(buffer_),
                   "# trace_limit is reached: {} bytes; what came behind this line is not here\n",
                   options_.limit_bytes);
  }
  if (buffer_.size() >= kBufferBytes || full_) Flush();
}

void TraceFile::WriteKept(std::string_view why) {
  const uint64_t count = std::min<uint64_t>(taken_ - shown_, kept_.size());
  if (count == 0) return;
  if (WantsMore()) {
    const size_t before = buffer_.size();
    fmt::format_to(std::back_inserter(buffer_), "# the last {} events before {}, {} left out\n",
                   count, why, taken_ - shown_ - count);
    bytes_ += buffer_.size() - before;
  }
  for (uint64_t i = taken_ - count; i != taken_; ++i) Write(kept_[i % options_.last]);
  shown_ = taken_;
}

void TraceFile::Flush() {
  const char* from = buffer_.data();
  size_t left = buffer_.size();
  while (left != 0 && file_.valid()) {
    const ssize_t size = write(file_.get(), from, left);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      file_.Reset();  // a full disk: there is nowhere to say so
      break;
    }
    from += size;
    left -= static_cast<size_t>(size);
  }
  buffer_.clear();
}

}  // namespace ttfd
