// Runs of a graph.
#include "client/graph/src/run_control.h"

#include <string>
#include <utility>

#include "firmware/graph/layout.h"

namespace ttfd::graph {

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

uint32_t RunControl::Begin() {
  const std::lock_guard lock(mutex_);
  if (++last_ == 0) ++last_;  // 0 is none
  return last_;
}

Status RunControl::Cancel() {
  const std::lock_guard lock(mutex_);
  if (cancelled_ == last_) return {};
  if (!transfers_) {
    Result<client::Queue> queue = session_.OpenQueue({.kind = client::QueueKind::kTransfer});
    if (!queue.ok()) return queue.status();
    transfers_ = std::move(*queue);
  }
  layout::Control control{};
  control.cancelled = last_;
  const auto bytes = std::as_bytes(std::span(&control, 1));
  const Status status = transfers_->Write(control_, 0, bytes.first(sizeof(layout::Control) / 2));
  if (status.ok()) cancelled_ = last_;
  return status;
}

Status RunControl::StatusOf(uint32_t run, client::Queue& queue) {
  {
    const std::lock_guard lock(mutex_);
    if (static_cast<int32_t>(cancelled_ - run) < 0) return {};
  }
  const Result<RunReport> report = ReadReport(queue);
  if (!report.ok()) return report.status();
  if (!report->cancelled) return {};
  return Status(client::ErrorInfo{.code = client::Code::kCancelled,
                                  .message = "the graph was cancelled after " +
                                             std::to_string(report->blocks) +
                                             " of its blocks of 64 tasks",
                                  .reason = "CANCELLED"});
}

Result<RunReport> RunControl::ReadReport(client::Queue& queue) {
  layout::Control control;
  const Status status = queue.Read(control_, 0, std::as_writable_bytes(std::span(&control, 1)));
  if (!status.ok()) return status;
  const layout::Report& report = control.report;
  return RunReport{report.cancelled != 0, report.blocks, report.clocks, report.rounds};
}

}  // namespace ttfd::graph
