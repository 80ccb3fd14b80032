// ttfdctl: the command line of the daemon.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "client/cli/commands.h"
#include "client/cli/doctor_command.h"
#include "client/cli/exit_code.h"
#include "client/cli/file_commands.h"
#include "client/cli/graph_command.h"
#include "client/cli/help_formatter.h"
#include "client/cli/lease_command.h"
#include "client/cli/options.h"
#include "client/cli/printing.h"

namespace ttfd::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 tried and failed; 2 wrong command line;\n"
    "3 no daemon reachable; 4 refused (not allowed, not valid, not found, no room,\n"
    "not supported); 5 a deadline passed. `ttfdctl health` exits 1 when not serving,\n"
    "`ttfdctl doctor` with the number of a problem of this host (docs/ttfdctl.md).\n"
    "`ttfdctl COMMAND --help` explains a command.\n";
constexpr const char* kCommandFooter =
    "--address, --json, --timeout and --tls-...: see ttfdctl --help.\n";

// The arguments of `timeouts get` and `timeouts set`.
struct TimeoutsArguments {
  std::optional<uint64_t> session;  // unset: the daemon's
  client::Timeouts values;
};

// The arguments of `hang show` and `hang fetch`.
struct HangArguments {
  std::string report;
  std::string folder = ".";
};

// Arguments of `sessions terminate` and `sessions release`.
struct SessionArguments {
  uint64_t session = 0;
  std::string reason = "ended by ttfdctl";
};

// The parsed command line; `run` is the chosen command.
struct Parsed {
  Common common;
  std::string health_service;
  std::vector<double> watch_s;  // of --watch: none given, or the interval
  bool links = false;
  SessionArguments session;
  TimeoutsArguments timeouts;
  double within_s = 30;
  std::string level;
  HangArguments hang;
  ProfileArguments profile;
  LeaseArguments lease;
  GraphTraceArguments graph;
  FileArguments files;
  std::function<int()> run;
};

void AddInspecting(CLI::App* app, Parsed* p) {
  CLI::App* status = app->add_subcommand("status", "Show what the daemon and its device are doing");
  CLI::Option* watch =
      status
          ->add_option("--watch", p->watch_s,
                       "show it again after every change, at most once in this time; without "
                       "a time, in 1 s")
          ->option_text("[SECONDS]")
          ->expected(0, 1)
          ->check(InRange(0.1, 3600));
  status->add_flag("--links", p->links, "show the Ethernet links of the cards and nothing else");
  status->callback([p, watch] {
    p->run = [p, watch] {
      const double interval_s = p->watch_s.empty() ? 1 : p->watch_s.front();
      const StatusPart part = p->links ? StatusPart::kLinks : StatusPart::kAll;
      return watch->count() != 0 ? WatchStatus(p->common, interval_s, part)
                                 : ShowStatus(p->common, part);
    };
  });
  CLI::App* health =
      app->add_subcommand("health", "Show whether the daemon serves, as gRPC health says");
  health->add_option("SERVICE", p->health_service, "a service, such as ttfd.v1.DeviceService");
  health->callback([p] { p->run = [p] { return ShowHealth(p->common, p->health_service); }; });
  app->add_subcommand("devices", "List the cards and their limits")->callback([p] {
    p->run = [p] { return ShowDevices(p->common); };
  });
  app->add_subcommand("doctor",
                      "Examine this host for serving a card; needs no daemon, changes nothing")
      ->callback([p] { p->run = [p] { return ExamineThisHost(p->common); }; });
}

// A group that is named alone shows what it is about.
void ShowsAlone(CLI::App* group, Parsed* p, std::function<int()> run) {
  group->require_subcommand(0, 1);
  group->callback([group, p, run = std::move(run)] {
    if (group->get_subcommands().empty()) p->run = run;
  });
}

void AddSessions(CLI::App* app, Parsed* p) {
  CLI::App* sessions = app->add_subcommand("sessions", "List, terminate or release sessions");
  ShowsAlone(sessions, p, [p] { return ListSessions(p->common); });
  sessions->add_subcommand("list", "List the sessions of all clients and what they use")
      ->callback([p] { p->run = [p] { return ListSessions(p->common); }; });
  CLI::App* terminate =
      sessions->add_subcommand("terminate", "End a session and free its resources");
  terminate->add_option("SESSION", p->session.session, "its number")->required();
  terminate->add_option("--reason", p->session.reason, "sent to the client")->option_text("TEXT");
  terminate->callback([p] {
    p->run = [p] { return TerminateSession(p->common, p->session.session, p->session.reason); };
  });
  CLI::App* release = sessions->add_subcommand(
      "release", "End the quarantine of the user of a session, whose launches hung");
  release->add_option("SESSION", p->session.session, "its number")->required();
  release->callback(
      [p] { p->run = [p] { return ReleaseSession(p->common, p->session.session); }; });
}

void AddLeases(CLI::App* app, Parsed* p) {
  app->add_subcommand("leases", "List leases of the card that are held or waited for")
      ->callback([p] { p->run = [p] { return ListLeases(p->common); }; });
  app->add_subcommand("limits", "Show the limits of sessions and users, and their use")
      ->callback([p] { p->run = [p] { return ShowLimits(p->common); }; });
  LeaseArguments* o = &p->lease;
  CLI::App* lease = app->add_subcommand(
      "lease", "Run a command under a lease of the card: lease [OPTIONS] -- COMMAND [WORD]...");
  AddRepeatable(lease, "--tiles", &o->tiles,
                "workers X,Y or X0,Y0-X1,Y1 to lease; repeatable; none: the whole device")
      ->option_text("TILES");
  lease->add_option("--wait", o->wait_ms, "longest wait in ms; none: as long as the daemon allows")
      ->option_text("MS");
  lease->callback([p, o] { p->run = [p, o] { return RunUnderLease(p->common, *o); }; });
}

void AddGraphs(CLI::App* app, Parsed* p) {
  GraphTraceArguments* o = &p->graph;
  CLI::App* graph = app->add_subcommand("graph", "Show how a task graph ran");
  graph->require_subcommand(1);
  CLI::App* trace = graph->add_subcommand("trace",
                                          "Run a command and write the timeline of one of its runs "
                                          "of a graph: graph trace [OPTIONS] -- "
                                          "COMMAND [WORD]...");
  trace->add_option("-o,--output", o->output, "file for ui.perfetto.dev; replaced if it exists")
      ->option_text("FILE");
  trace->add_option("--run", o->run, "which of the runs in the command's process, from 1")
      ->option_text("NUMBER")
      ->check(InRange(1, 1e12));
  trace->callback([p, o] { p->run = [p, o] { return TraceGraph(p->common, *o); }; });
}

void AddTimeouts(CLI::App* app, Parsed* p) {
  CLI::App* timeouts = app->add_subcommand("timeouts", "Get or set timeouts");
  ShowsAlone(timeouts, p, [p] { return GetTimeouts(p->common, std::nullopt); });
  CLI::App* get = timeouts->add_subcommand("get", "Show the timeouts");
  get->add_option("--session", p->timeouts.session, "those of this session; none: the daemon's")
      ->option_text("SESSION");
  get->callback([p] { p->run = [p] { return GetTimeouts(p->common, p->timeouts.session); }; });
  CLI::App* set = timeouts->add_subcommand("set", "Change the timeouts that are given");
  set->add_option("--session", p->timeouts.session, "those of this session; none: the daemon's")
      ->option_text("SESSION");
  CLI::Option_group* values = set->add_option_group("timeouts");
  const auto add = [values](const char* name, std::optional<uint32_t>* value, const char* text) {
    values->add_option(name, *value, text)->option_text("MS")->group("Timeouts (at least one)");
  };
  add("--operation", &p->timeouts.values.operation_ms, "without progress: a hang");
  add("--kernel", &p->timeouts.values.kernel_ms, "of one launch");
  add("--start", &p->timeouts.values.start_ms, "from arrival to start of a command");
  add("--stalled-client", &p->timeouts.values.stalled_client_ms,
      "of a client that neither reads nor sends");
  values->require_option(1, 0);
  set->callback([p] {
    p->run = [p] { return SetTimeouts(p->common, p->timeouts.session, p->timeouts.values); };
  });
}

// Level of a name that was checked.
client::LogLevel LevelOf(const std::string& name) {
  using client::LogLevel;
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning}) {
    if (name == client::LogLevelName(level)) {
      return level;
    }
  }
  return LogLevel::kError;
}

void AddActing(CLI::App* app, Parsed* p) {
  CLI::App* drain = app->add_subcommand(
      "drain", "Refuse new sessions and commands until all sessions have ended");
  drain->add_option("--within", p->within_s, "until the sessions that are left are ended")
      ->option_text("SECONDS")
      ->check(InRange(0, 86400));
  drain->callback([p] { p->run = [p] { return Drain(p->common, p->within_s); }; });
  app->add_subcommand("undrain", "End a drain: accept sessions and commands again")->callback([p] {
    p->run = [p] { return Undrain(p->common); };
  });
  app->add_subcommand("reset", "Reset a device; what is on it is lost")->callback([p] {
    p->run = [p] { return ResetDevice(p->common); };
  });
  CLI::App* level = app->add_subcommand("log-level", "Set how much the daemon logs");
  level->add_option("LEVEL", p->level, "debug, info, warning or error")
      ->required()
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}).description(""));
  level->callback([p] { p->run = [p] { return SetLogLevel(p->common, LevelOf(p->level)); }; });
}

void AddHangs(CLI::App* app, Parsed* p) {
  CLI::App* hang = app->add_subcommand("hang", "List, show or fetch reports of hangs and faults");
  ShowsAlone(hang, p, [p] { return ListHangReports(p->common); });
  hang->add_subcommand("list", "List the reports that are kept, the oldest first")->callback([p] {
    p->run = [p] { return ListHangReports(p->common); };
  });
  hang->add_subcommand("last", "Show the newest report")->callback([p] {
    p->run = [p] { return ShowHangReport(p->common, "last"); };
  });
  CLI::App* show = hang->add_subcommand("show", "Show a report");
  show->add_option("REPORT", p->hang.report, "its id, as errors, status and list name it")
      ->required();
  show->callback([p] { p->run = [p] { return ShowHangReport(p->common, p->hang.report); }; });
  CLI::App* fetch = hang->add_subcommand("fetch", "Save the files of a report");
  fetch->add_option("REPORT", p->hang.report, "its id, or last")->required();
  fetch->add_option("FOLDER", p->hang.folder, "where its files go");
  fetch->callback(
      [p] { p->run = [p] { return FetchHangReport(p->common, p->hang.report, p->hang.folder); }; });
}

void AddProfile(CLI::App* app, Parsed* p) {
  ProfileArguments* o = &p->profile;
  CLI::App* profile =
      app->add_subcommand("profile", "Sample where harts spend their time, as folded stacks");
  profile->add_option("--seconds", o->seconds, "length of the profile")
      ->option_text("SECONDS")
      ->check(InRange(0.001, 60));
  profile
      ->add_option("--interval", o->interval_clocks,
                   "clocks of the device model between two samples (20 or more); none: 1000")
      ->option_text("CLOCKS");
  profile
      ->add_option("--interval-us", o->interval_us,
                   "us between two reads of program counters on other devices (100 or more); none: "
                   "1000")
      ->option_text("US");
  profile->add_flag("--program-counters", o->program_counters,
                    "read program counters even where whole stacks can be had");
  profile->add_flag("--idle", o->idle, "include harts that wait for work");
  AddRepeatable(profile, "--cores", &o->cores, "X,Y or X0,Y0-X1,Y1 or all; repeatable")
      ->option_text("TILES");
  profile->add_option("-o,--output", o->output, "none: stdout")->option_text("FILE");
  profile->callback([p, o] { p->run = [p, o] { return Profile(p->common, *o); }; });
}

// Set in the environment, where libttfd looks for them, also in a program that ttfdctl starts.
void AddTls(CLI::App* app) {
  const auto add = [app](const char* option, const char* variable, const char* value,
                         const char* text) {
    app->add_option_function<std::string>(
           option, [variable](const std::string& given) { setenv(variable, given.c_str(), 1); },
           std::string(text) + "; else " + variable)
        ->option_text(value);
  };
  add("--tls-ca", "TTFD_TLS_CA", "FILE", "over TCP: CA of the daemon's certificate");
  add("--tls-certificate", "TTFD_TLS_CERTIFICATE", "FILE", "your certificate");
  add("--tls-key", "TTFD_TLS_KEY", "FILE", "key of your certificate");
  add("--tls-server-name", "TTFD_TLS_SERVER_NAME", "NAME",
      "name in the daemon's certificate, where it is not the host");
}

void AddEverything(CLI::App* app, Parsed* parsed) {
  app->formatter(std::make_shared<HelpFormatter>());
  app->footer(kCommandFooter);  // commands inherit it
  app->set_help_flag("-h,--help", "show this help");
  app->require_subcommand(1);
  app->fallthrough();
  app->option_defaults()->always_capture_default();
  app->set_version_flag("--version", std::string("ttfdctl ") + TTFD_VERSION, "show the version");
  app->add_option("--address", parsed->common.address,
                  "where the daemon listens; else TTFD_ADDRESS, else unix:/run/ttfd/ttfd.sock")
      ->option_text("ADDRESS");
  AddTls(app);
  app->add_option_function<uint32_t>(
         "--device",
         [common = &parsed->common](uint32_t given) {
           common->device = given;
           setenv("TTFD_DEVICE", std::to_string(given).c_str(), 1);
         },
         "card of the command, by its index; else TTFD_DEVICE, else the daemon chooses, and reset "
         "and profile take 0")
      ->envname("TTFD_DEVICE")
      ->option_text("INDEX");
  app->add_flag("--json", parsed->common.json, "print JSON instead of tables");
  app->add_option("--timeout", parsed->common.timeout_s, "how long to wait for the daemon")
      ->option_text("SECONDS")
      ->check(InRange(0.001, 86400));
  AddInspecting(app, parsed);
  AddSessions(app, parsed);
  AddLeases(app, parsed);
  AddTimeouts(app, parsed);
  AddActing(app, parsed);
  AddHangs(app, parsed);
  AddProfile(app, parsed);
  AddGraphs(app, parsed);
  AddFileCommands(app, parsed->common, &parsed->files, &parsed->run);
  app->footer(kFooter);
}

// Error in the command line, and the command that shows the correct use.
std::string Problem(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string path = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  std::string problem = error.what();
  const std::vector<std::string> words = app.remaining(/*recurse=*/true);
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word.front() == '-';
  });
  const bool has_commands = !command->get_subcommands([](const CLI::App*) { return true; }).empty();
  if (option != words.end()) {
    problem = "there is no option " + *option;
  } else if (!words.empty()) {
    problem = fmt::format("{} '{}'", has_commands ? "there is no command" : "unexpected word",
                          words.front());
  } else if (command == &app) {
    problem = "no command was given";
  }
  return fmt::format("{}; see {} --help", problem, path);
}

int Usage(const std::string& problem) {
  PrintMessage(problem);
  return kUsage;
}

// Takes the words after the first "--" from the command line: they belong to another program, and CLI11 would parse
// options and lists in them.
std::vector<std::string> TakeCommand(int* argc, char** argv) {
  char** const end = argv + *argc;
  char** const mark =
      std::find_if(argv, end, [](const char* word) { return word == std::string_view("--"); });
  *argc = static_cast<int>(mark - argv);
  return mark == end ? std::vector<std::string>() : std::vector<std::string>(mark + 1, end);
}

int Main(int argc, char** argv) {
  Parsed parsed;
  const std::vector<std::string> command = TakeCommand(&argc, argv);
  parsed.lease.command = parsed.graph.command = command;
  CLI::App app("Inspects and controls ttfd, the daemon that owns a Blackhole card.", "ttfdctl");
  AddEverything(&app, &parsed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_error = error.get_exit_code() != 0;  // else --help or --version
    return is_error ? Usage(Problem(app, error)) : app.exit(error);
  }
  const bool traces = app.got_subcommand("graph");
  if ((traces || app.got_subcommand("lease")) == command.empty()) {
    return Usage(command.empty()
                     ? fmt::format("{0} needs a command after --; see ttfdctl {0} --help",
                                   traces ? "graph trace" : "lease")
                     : "only lease and graph trace take words after --; see ttfdctl --help");
  }
  return parsed.run();
}

}  // namespace
}  // namespace ttfd::cli

int main(int argc, char** argv) { return ttfd::cli::Main(argc, argv); }
