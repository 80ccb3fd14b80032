// ttfdctl profile: folded stacks, for flamegraph.pl or speedscope.
#include <fmt/format.h>

#include <fstream>

#include "client/cli/commands.h"
#include "client/cli/device_rows.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"
#include "client/cli/text.h"

namespace ttfd::cli {
namespace {

using client::Admin;

// Cores need the grid, which the daemon knows.
client::Result<std::vector<client::CoreRange>> Ranges(const Common& common,
                                                      const std::vector<std::string>& texts) {
  std::vector<client::CoreRange> ranges;
  if (texts.empty()) {
    return ranges;
  }
  const client::Result<client::DeviceInfo> device = NamedDevice(common);
  if (!device.ok()) {
    return device.status();
  }
  for (const std::string& text : texts) {
    const auto range = ParseCores(text, device->grid_x, device->grid_y);
    if (!range) {
      return client::Status(client::Code::kInvalidArgument,
                            fmt::format("'{}' is not X,Y or X0,Y0-X1,Y1 or all", text));
    }
    ranges.push_back(*range);
  }
  return ranges;
}

}  // namespace

int Profile(const Common& common, const ProfileArguments& arguments) {
  Admin admin = Admin::Connect(common.address, common.timeout());
  auto cores = Ranges(common, arguments.cores);
  if (!cores.ok()) {
    return Fail(cores.status());
  }
  client::ProfileOptions options;
  options.device = common.device.value_or(0);
  options.duration = std::chrono::milliseconds(static_cast<int64_t>(arguments.seconds * 1000));
  options.interval_clocks = arguments.interval_clocks;
  options.interval_us = arguments.interval_us;
  options.program_counters = arguments.program_counters;
  options.idle = arguments.idle;
  options.cores = std::move(*cores);
  std::string folded;
  const auto summary = admin.Profile(options, [&](const std::string& lines) { folded += lines; });
  if (!summary.ok()) {
    return Fail(summary.status());
  }
  std::string text = Printable(folded, Newlines::kKeep);
  if (common.json) {
    text = JsonText({{"samples", summary->samples},
                     {"lost", summary->lost},
                     {"whole_stacks", summary->whole_stacks},
                     {"interval_clocks", summary->interval_clocks},
                     {"folded", folded}});
  }
  if (arguments.output.empty()) {
    PrintText(text);
  } else {
    std::ofstream file(arguments.output, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.flush()) {
      PrintMessage("cannot write " + arguments.output);
      return kFailed;
    }
  }
  PrintMessage(fmt::format(
      "{} samples of {}{}", summary->samples,
      summary->whole_stacks ? fmt::format("whole stacks, every {} clocks", summary->interval_clocks)
                            : "program counters",
      summary->lost == 0 ? "" : fmt::format("; {} lost", summary->lost)));
  return kOk;
}

}  // namespace ttfd::cli
