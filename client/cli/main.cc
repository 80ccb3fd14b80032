// ttfdctl: the command line of the daemon. The only file that includes CLI11, which is slow to
// compile.
#include <CLI/CLI.hpp>
#include <cstdlib>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/lease_command.h"

namespace ttfd::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 tried and failed; 2 wrong command line; 3 no daemon reachable;\n"
    "4 refused by the daemon (not allowed, not valid, not found, no room, not supported);\n"
    "5 a deadline passed. `ttfdctl health` exits 1 when the daemon is not serving.\n";

// What was parsed; `run` is the chosen command.
struct Parsed {
  Common common;
  std::string health_service;
  uint64_t session = 0;
  std::string reason = "ended by ttfdctl";
  client::Timeouts timeouts;
  double within_s = 30;
  uint32_t device = 0;
  std::string level;
  std::string report;
  std::string folder = ".";
  ProfileArguments profile;
  LeaseArguments lease;
  RunOptions run_options;
  std::function<int()> run;
};

void AddLooking(CLI::App* app, Parsed* p) {
  app->add_subcommand("status", "What the daemon and its device are doing")->callback([p] {
    p->run = [p] { return ShowStatus(p->common); };
  });
  CLI::App* health =
      app->add_subcommand("health", "Whether the daemon serves, as gRPC health says");
  health->add_option("service", p->health_service, "a service, such as ttfd.v1.Ttfd");
  health->callback([p] { p->run = [p] { return ShowHealth(p->common, p->health_service); }; });
  app->add_subcommand("devices", "The cards and their limits")->callback([p] {
    p->run = [p] { return ShowDevices(p->common); };
  });
}

// A group that is named alone shows what it is about.
void ShowsAlone(CLI::App* group, Parsed* p, std::function<int()> run) {
  group->require_subcommand(0, 1);
  group->callback([group, p, run = std::move(run)] {
    if (group->get_subcommands().empty()) p->run = run;
  });
}

void AddSessions(CLI::App* app, Parsed* p) {
  CLI::App* sessions = app->add_subcommand("sessions", "Sessions of all clients");
  ShowsAlone(sessions, p, [p] { return ListSessions(p->common); });
  sessions->add_subcommand("list", "Who uses the card, with what")->callback([p] {
    p->run = [p] { return ListSessions(p->common); };
  });
  CLI::App* end = sessions->add_subcommand("end", "Ends a session and frees what it holds");
  end->add_option("session", p->session, "its number")->required();
  end->add_option("--reason", p->reason, "what the client is told");
  end->callback([p] { p->run = [p] { return EndSession(p->common, p->session, p->reason); }; });
  CLI::App* resume = sessions->add_subcommand("resume", "Lets a suspended session go on");
  resume->add_option("session", p->session, "its number")->required();
  resume->callback([p] { p->run = [p] { return ResumeSession(p->common, p->session); }; });
}

void AddLeases(CLI::App* app, Parsed* p) {
  app->add_subcommand("leases", "Who holds a lease of the card, and who waits for one")
      ->callback([p] { p->run = [p] { return ListLeases(p->common); }; });
  app->add_subcommand("limits", "What sessions and users may use, and what they do")->callback([p] {
    p->run = [p] { return ShowLimits(p->common); };
  });
  LeaseArguments* o = &p->lease;
  CLI::App* lease = app->add_subcommand("lease", "Runs a command with the card leased to it");
  lease->add_option("--tiles", o->tiles, "X,Y or X0,Y0-X1,Y1; repeatable; none: the whole device")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  lease->add_option("--wait", o->wait_ms, "ms to wait at most; 0: as long as the daemon allows");
  lease->add_option("command", o->command, "the command and its words, behind --")->required();
  lease->callback([p, o] { p->run = [p, o] { return RunUnderLease(p->common, *o); }; });
}

void AddTimeouts(CLI::App* app, Parsed* p) {
  CLI::App* timeouts = app->add_subcommand("timeouts", "How long things may take");
  ShowsAlone(timeouts, p, [p] { return GetTimeouts(p->common, 0); });
  CLI::App* get = timeouts->add_subcommand("get", "Shows them");
  get->add_option("--session", p->session, "of this session; none: the daemon's");
  get->callback([p] { p->run = [p] { return GetTimeouts(p->common, p->session); }; });
  CLI::App* set = timeouts->add_subcommand("set", "Changes those that are given");
  set->add_option("--session", p->session, "of this session; none: the daemon's");
  CLI::Option_group* values = set->add_option_group("timeouts");
  values->add_option("--operation", p->timeouts.operation_ms, "ms without progress: a hang");
  values->add_option("--kernel", p->timeouts.kernel_ms, "ms of one launch");
  values->add_option("--start", p->timeouts.start_ms, "ms from arrival to start of a command");
  values->add_option("--stalled-client", p->timeouts.stalled_client_ms,
                     "ms of a client that neither reads nor sends");
  values->require_option(1, 0);
  set->callback([p] { p->run = [p] { return SetTimeouts(p->common, p->session, p->timeouts); }; });
}

void AddActing(CLI::App* app, Parsed* p) {
  CLI::App* drain = app->add_subcommand("drain", "No new work; ends when all sessions have ended");
  drain->add_option("--within", p->within_s, "seconds after which sessions are ended by force")
      ->check(CLI::Range(0.0, 86400.0));
  drain->callback([p] { p->run = [p] { return Drain(p->common, p->within_s); }; });
  CLI::App* reset = app->add_subcommand("reset", "Resets a device; what is on it is lost");
  reset->add_option("--device", p->device, "its index");
  reset->callback([p] { p->run = [p] { return ResetDevice(p->common, p->device); }; });
  CLI::App* level = app->add_subcommand("log-level", "How much the daemon logs from now on");
  level->add_option("level", p->level, "debug, info, warning or error")
      ->required()
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  level->callback([p] { p->run = [p] { return SetLogLevel(p->common, p->level); }; });
}

void AddHangs(CLI::App* app, Parsed* p) {
  CLI::App* hang = app->add_subcommand("hang", "What is known of hangs and faults of the card");
  ShowsAlone(hang, p, [p] { return ListHangReports(p->common); });
  hang->add_subcommand("list", "The reports that are kept, the oldest first")->callback([p] {
    p->run = [p] { return ListHangReports(p->common); };
  });
  hang->add_subcommand("last", "Shows the newest report")->callback([p] {
    p->run = [p] { return ShowHangReport(p->common, "last"); };
  });
  CLI::App* show = hang->add_subcommand("show", "Shows a report");
  show->add_option("report", p->report, "its id, as errors, status and list name it")->required();
  show->callback([p] { p->run = [p] { return ShowHangReport(p->common, p->report); }; });
  CLI::App* fetch = hang->add_subcommand("fetch", "Saves the files of a report");
  fetch->add_option("report", p->report, "its id, or last")->required();
  fetch->add_option("folder", p->folder, "where its files go");
  fetch->callback(
      [p] { p->run = [p] { return FetchHangReport(p->common, p->report, p->folder); }; });
}

void AddProfile(CLI::App* app, Parsed* p) {
  ProfileArguments* o = &p->profile;
  CLI::App* profile =
      app->add_subcommand("profile", "Where harts spend their time, as folded stacks");
  profile->add_option("--seconds", o->seconds, "how long")->check(CLI::Range(0.001, 60.0));
  profile->add_option("--interval", o->interval_clocks,
                      "clocks of the device model between samples; 0: 1000");
  profile->add_option("--interval-us", o->interval_us,
                      "us between reads of program counters on other devices; 0: 1000");
  profile->add_flag("--program-counters", o->program_counters,
                    "read program counters even where whole stacks can be had");
  profile->add_flag("--idle", o->idle, "harts that wait for work, too");
  profile->add_option("--cores", o->cores, "tiles: X,Y or X0,Y0-X1,Y1 or all; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  profile->add_option("-o,--output", o->output, "a file; none: stdout");
  profile->callback([p, o] { p->run = [p, o] { return Profile(p->common, *o); }; });
}

void AddRun(CLI::App* app, Parsed* p) {
  RunOptions* o = &p->run_options;
  CLI::App* run = app->add_subcommand("run", "Runs one kernel with files as its buffers");
  run->add_option("kernel", o->kernel, "its ELF file")->required()->check(CLI::ExistingFile);
  run->add_option("--processor", o->processor, "brisc, ncrisc, trisc0, trisc1 or trisc2");
  run->add_option("--cores", o->cores, "tiles: X,Y or X0,Y0-X1,Y1 or all; repeatable")
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run->add_option("--arg", o->arguments,
                  "the next common argument: a number, or inN / outN, the address of that buffer")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run->add_option("--per-core", o->per_core, "words of the tiles, comma separated, tile by tile")
      ->delimiter(',');
  run->add_option("--words-per-core", o->words_per_core, "how many of them each tile gets")
      ->check(CLI::PositiveNumber);
  run->add_option("--in", o->inputs, "a file that becomes a DRAM buffer (in0, in1, ...)")
      ->check(CLI::ExistingFile)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run->add_option("--out", o->outputs, "FILE:SIZE, a buffer that becomes a file (out0, ...)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run->add_option("--cb", o->circular_buffers, "INDEX:PAGES:PAGE_BYTES, a circular buffer")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run->add_option("--semaphore", o->semaphores, "INDEX:INITIAL, a semaphore")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run->add_option("--page-bytes", o->page_bytes, "page size of the buffers");
  run->add_option("--kernel-timeout-ms", o->kernel_timeout_ms, "0: the daemon's");
  run->add_option("--repeat", o->repeat, "launches, one after the other")
      ->check(CLI::PositiveNumber);
  run->callback([p, o] { p->run = [p, o] { return Run(p->common, *o); }; });
}

// Set in the environment, where libttfd looks for them, also in a program that ttfdctl starts.
void AddTls(CLI::App* app) {
  const auto add = [app](const char* option, const char* variable, const char* text) {
    app->add_option_function<std::string>(
        option, [variable](const std::string& value) { setenv(variable, value.c_str(), 1); }, text);
  };
  add("--tls-ca", "TTFD_TLS_CA", "over TCP: who signed the daemon's certificate; else TTFD_TLS_CA");
  add("--tls-certificate", "TTFD_TLS_CERTIFICATE", "yours; else TTFD_TLS_CERTIFICATE");
  add("--tls-key", "TTFD_TLS_KEY", "of your certificate; else TTFD_TLS_KEY");
  add("--tls-server-name", "TTFD_TLS_SERVER_NAME",
      "name in the daemon's certificate, where it is not the host; else TTFD_TLS_SERVER_NAME");
}

int Main(int argc, char** argv) {
  Parsed parsed;
  CLI::App app("Looks at and steers ttfd, the daemon that owns a Blackhole card.", "ttfdctl");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.fallthrough();
  app.option_defaults()->always_capture_default();
  app.add_option("--address", parsed.common.address,
                 "where the daemon listens; else TTFD_ADDRESS, else unix:/run/ttfd/ttfd.sock");
  AddTls(&app);
  app.add_flag("--json", parsed.common.json, "print JSON instead of tables");
  app.add_option("--timeout", parsed.common.timeout_s, "seconds to wait for the daemon's answer")
      ->check(CLI::Range(0.001, 86400.0));
  AddLooking(&app, &parsed);
  AddSessions(&app, &parsed);
  AddLeases(&app, &parsed);
  AddTimeouts(&app, &parsed);
  AddActing(&app, &parsed);
  AddHangs(&app, &parsed);
  AddProfile(&app, &parsed);
  AddRun(&app, &parsed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  return parsed.run();
}

}  // namespace
}  // namespace ttfd::cli

int main(int argc, char** argv) { return ttfd::cli::Main(argc, argv); }
