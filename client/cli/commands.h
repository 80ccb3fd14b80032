// Commands of ttfdctl, one function each, which prints to stdout and returns the exit code.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ttfd/admin.h"

namespace ttfd::cli {

// Options of every command.
struct Common {
  std::string address;  // empty: TTFD_ADDRESS or the default
  bool json = false;
  std::optional<uint32_t>
      device;  // none: TTFD_DEVICE, or the daemon's choice; of reset and profile 0
  double timeout_s = 10;
  std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<int64_t>(timeout_s * 1000));
  }
};

// Parts of the status that are shown.
enum class StatusPart { kAll, kLinks };
int ShowStatus(const Common& common, StatusPart part);
// The status after every change, at most once in `interval_s`, until the daemon ends.
int WatchStatus(const Common& common, double interval_s, StatusPart part);
int ShowHealth(const Common& common, const std::string& service);
int ShowDevices(const Common& common);
int ListSessions(const Common& common);
int TerminateSession(const Common& common, uint64_t session, const std::string& reason);
int ShowLimits(const Common& common);
int GetTimeouts(const Common& common, std::optional<uint64_t> session);
int SetTimeouts(const Common& common, std::optional<uint64_t> session,
                const client::Timeouts& timeouts);
int Drain(const Common& common, double within_s);
int Undrain(const Common& common);
int ResetDevice(const Common& common);
int SetLogLevel(const Common& common, client::LogLevel level);
int ReleaseSession(const Common& common, uint64_t session);
int ListHangReports(const Common& common);
int ShowHangReport(const Common& common, const std::string& report);
int FetchHangReport(const Common& common, const std::string& report, const std::string& folder);

struct ProfileArguments {
  double seconds = 5;
  std::optional<uint32_t> interval_clocks;
  std::optional<uint32_t> interval_us;
  bool program_counters = false;
  bool idle = false;
  std::vector<std::string> cores;
  std::string output;  // empty: stdout
};
int Profile(const Common& common, const ProfileArguments& arguments);

// As on the command line; ttfdctl run --help explains each.
struct RunOptions {
  std::string kernel;
  std::string processor = "brisc";
  std::vector<std::string> cores;
  std::vector<std::string> arguments;
  std::vector<std::string> per_core;
  uint32_t words_per_core = 1;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> circular_buffers;
  std::vector<std::string> semaphores;
  std::string page_bytes = "2K";
  std::optional<uint32_t> kernel_timeout_ms;
  uint32_t repeat = 1;
};
int Run(const Common& common, const RunOptions& options);

}  // namespace ttfd::cli
