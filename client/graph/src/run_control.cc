// Runs of a graph.
#include "client/graph/src/run_control.h"

#include <string>
#include <utility>

#include "firmware/graph/layout.h"

namespace ttfd::graph {
namespace {

// A number is compared with the one that was cancelled last, as a distance of 31 bits.
constexpr uint32_t kFarAhead = 1u << 30;

}  // namespace

Status RunControl::Allocate(client::Core scheduler) {
  if (control_.handle() != 0) return {};
  constexpr uint32_t kHalf = sizeof(layout::Control) / 2;
  Result<client::Buffer> control =
      session_.AllocateL1(sizeof(layout::Control),
                          {.page_bytes = kHalf, .cores = {client::CoreRange::Single(scheduler)}});
  if (!control.ok()) return control.status();
  control_ = std::move(*control);
  return {};
}

// After 2^30 runs none of which was cancelled the numbers begin again.
uint32_t RunControl::Begin() {
  const std::lock_guard lock(mutex_);
  if (last_ - attempted_ == kFarAhead) last_ = attempted_;
  if (++last_ == 0) ++last_;  // 0 is none
  return last_;
}

Status RunControl::Cancel(client::Queue& transfers) {
  const std::lock_guard lock(mutex_);
  if (last_ == 0) return {};
  attempted_ = last_;  // also if the write is late
  layout::Control control{};
  control.cancelled = last_;
  const auto bytes = std::as_bytes(std::span(&control, 1));
  return transfers.Write(control_, 0, bytes.first(sizeof(layout::Control) / 2));
}

Status RunControl::StatusOf(uint32_t run, client::Queue& queue) {
  {
    const std::lock_guard lock(mutex_);
    if (static_cast<int32_t>(attempted_ - run) < 0) return {};
  }
  const Result<Ended> ended = ReadEnded(queue);
  if (!ended.ok()) return ended.status();
  if (ended->run != run || !ended->report.cancelled) return {};
  return Status(client::ErrorInfo{.code = client::Code::kCancelled,
                                  .message = "the graph was cancelled after " +
                                             std::to_string(ended->report.blocks) +
                                             " of its blocks of 64 records",
                                  .reason = "CANCELLED"});
}

Result<RunControl::Ended> RunControl::ReadEnded(client::Queue& queue) {
  layout::Control control;
  const Status status = queue.Read(control_, 0, std::as_writable_bytes(std::span(&control, 1)));
  if (!status.ok()) return status;
  const layout::Report& report = control.report;
  return Ended{report.run, {report.cancelled != 0, report.blocks, report.clocks, report.rounds}};
}

Result<RunReport> RunControl::ReadReport(client::Queue& queue) {
  const Result<Ended> ended = ReadEnded(queue);
  if (!ended.ok()) return ended.status();
  if (ended->report.blocks != 0 || ended->report.cancelled) return ended->report;
  return Status(client::ErrorInfo{.code = client::Code::kFailedPrecondition,
                                  .message = "the graph has not run",
                                  .reason = "INVALID"});
}

}  // namespace ttfd::graph
