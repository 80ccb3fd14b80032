// Commands that act on the daemon: sessions end, drain, reset, log-level, hang-report.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"

namespace ttfd::cli {
namespace {

using client::Admin;
using client::Status;

int Done(const Status& status, const std::string& what) {
  if (!status.ok()) {
    return Fail(status);
  }
  fmt::print("{}\n", what);
  return kOk;
}

void PrintStep(const client::ProgressStep& step) {
  if (!step.step.empty()) {
    fmt::print("{}{}\n", step.step, step.left != 0 ? fmt::format(" ({} left)", step.left) : "");
    std::fflush(stdout);
  }
}

}  // namespace

int EndSession(const Common& common, uint64_t session, const std::string& reason) {
  return Done(Admin::Connect(common.address, common.timeout()).EndSession(session, reason),
              fmt::format("session {} ended", session));
}

int Drain(const Common& common, double within_s) {
  const std::chrono::milliseconds within(static_cast<int64_t>(within_s * 1000));
  return Done(Admin::Connect(common.address, common.timeout()).Drain(within, PrintStep), "drained");
}

int ResetDevice(const Common& common, uint32_t device) {
  return Done(Admin::Connect(common.address, common.timeout()).ResetDevice(device, PrintStep),
              fmt::format("device {} was reset", device));
}

int SetLogLevel(const Common& common, const std::string& level) {
  return Done(Admin::Connect(common.address, common.timeout()).SetLogLevel(level),
              fmt::format("log level is {}", level));
}

int SaveHangReport(const Common& common, const std::string& report, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string failed;
  const Status status =
      Admin::Connect(common.address, common.timeout())
          .GetHangReport(report, [&](const std::string& name, const std::string& bytes) {
            // The daemon names files; only their last component is taken from it.
            const auto path =
                std::filesystem::path(folder) / std::filesystem::path(name).filename();
            std::ofstream file(path, std::ios::binary | std::ios::app);
            file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            if (!file.flush()) {
              failed = path;
            }
          });
  if (status.ok() && !failed.empty()) {
    fmt::print(stderr, "ttfdctl: cannot write {}\n", failed);
    return kFailed;
  }
  return Done(status, fmt::format("hang report {} is in {}", report, folder));
}

}  // namespace ttfd::cli
