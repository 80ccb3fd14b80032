// The command line of ttfd. The only file that includes CLI11.
#include <CLI/CLI.hpp>
#include <sstream>

#include "daemon/options.h"

namespace ttfd {
namespace {

constexpr char kFooter[] =
    "Without --config, /etc/ttfd/ttfd.toml is read if it is there. Precedence: flag, then "
    "TTFD_ADDRESS and TTFD_CONFIG,\n"
    "then the file, then the defaults. Exit codes: 0 done, 1 failed while running, 2 wrong usage "
    "or configuration,\n"
    "10 to 22 the card cannot be served (docs/ttfdctl.md: doctor).";

void Declare(CLI::App* app, CommandLine* to, bool* check) {
  app->footer(kFooter);
  app->set_version_flag("--version", std::string("ttfd ") + TTFD_VERSION);
  app->add_option("--config", to->config, "Configuration file")->type_name("FILE");
  app->add_option("--socket", to->socket, "Where to listen: a path, or unix:PATH")
      ->type_name("PATH");
  app->add_option("--device", to->devices,
                  "auto (the card of this host, or the device model if it\nhas none), "
                  "kmd:/dev/tenstorrent/N, kmd:PCI_ADDRESS,\nsim, sim:board=p100a|p150, "
                  "sim:cluster=1x2 (several chips with links),\nor ttsim:/path/to/libttsim.so; "
                  "repeatable: one daemon serves them all")
      ->type_name("DEVICE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option(
         "--record", to->record,
         "Capture the record stream into FILE (read it with: ttfd decode FILE);\nthat of device 1 "
         "into FILE.1")
      ->type_name("FILE");
  app->add_option("--log-level", to->log_level, "debug, info, warning or error")
      ->type_name("LEVEL");
  app->add_flag("--check-config", *check,
                "Read the configuration, say what is wrong with it, and exit");
}

}  // namespace

StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  bool check = false;
  CLI::App app("The daemon that owns a Tenstorrent Blackhole card.", "ttfd");
  Declare(&app, &line, &check);
  CLI::App* const decode = app.add_subcommand("decode", "Print a captured record stream as text");
  decode->add_option("FILE", line.decode_path, "What ttfd --record wrote")->required();
  decode->add_flag("--json", line.decode_json, "One JSON object a record");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // the way CLI11 reports; nothing of ours throws
    std::ostringstream out;
    std::ostringstream complaint;
    if (app.exit(error, out, complaint) != 0) return InvalidArgument("{}", error.what());
    line.action = Invocation::Action::kPrint;
    line.text = out.str();
    return line;
  }
  if (decode->parsed()) line.action = Invocation::Action::kDecode;
  if (check) line.action = Invocation::Action::kCheckConfig;
  return line;
}

}  // namespace ttfd
