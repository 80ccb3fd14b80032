// The configuration of the daemon: command line, environment, and ttfd.toml, in this order of
// precedence, over the defaults written here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/api/reply.h"
#include "runtime/base/status.h"

namespace ttfd {

struct ListenOptions {
  std::string address = "unix:/run/ttfd/ttfd.sock";
  uint32_t mode = 0660;  // of the socket file
  std::string group;     // owner of the socket file; empty: the daemon's own
  uint32_t connections = 4096;
  uint32_t connections_per_user = 512;
  uint32_t calls_per_connection = 64;
  uint64_t memory_bytes = uint64_t{512} << 20;  // of messages under way, all calls together
  uint32_t hello_ms = 10'000;                   // from a call's start to its first message
};

// TCP, if there is an address: with certificates of both sides or not at all.
struct TlsOptions {
  std::string address;      // "127.0.0.1:7443"
  std::string certificate;  // paths of PEM files
  std::string key;
  std::string client_ca;
  uint32_t keepalive_ms =
      30'000;  // of silence until a peer is asked, and again until its connection ends
};

// Value of DeviceOptions::devices: a card, or the model where the host has none.
inline constexpr char kAutoDevice[] = "auto";

struct DeviceOptions {
  std::vector<std::string> devices = {kAutoDevice};
  bool share_without_iommu = false;  // may several users submit to a card without one?
  // Chips at the end of a cable that may be driven, as for ParseChipId: they may be another host's.
  std::vector<std::string> remote_chips;
  uint32_t boot_ms = 10'000;  // each wait of the boot
  uint32_t issue_ring_bytes = 4 << 20;
  uint32_t completion_ring_pages = 1024;
  // Capture of the record stream of device 0, of the others with ".1", ".2" behind it; command line only.
  std::string record_path;
};

struct WindowOptions {
  uint32_t quantum_us = 1000;      // device time of one turn of a session
  uint32_t window_us = 100;        // device time submitted ahead of completion
  uint32_t window_commands = 512;  // commands submitted ahead of completion
  // By which the device thread is less nice than who started the daemon; the other threads: four fifths of it.
  uint32_t boost = 10;
  // How long the device thread looks for work and completions before it sleeps. None: 50 us where the card runs by
  // itself, else 0.
  std::optional<uint32_t> spin_us;
};

// Groups besides root and the daemon's own user, who have every role; names of client certificates.
struct RoleNames {
  std::vector<std::string> submit;   // none: whoever may open the socket
  std::vector<std::string> observe;  // none: administrators alone
  std::vector<std::string> admin = {"ttfd-admin"};
  std::vector<std::string> submit_certificates;
  std::vector<std::string> observe_certificates;
  std::vector<std::string> admin_certificates;
};

struct HangOptions {
  std::string folder = "/var/lib/ttfd/hangs";  // of reports; empty: hangs are only logged
  uint32_t reports = 32;
  uint64_t bytes = uint64_t{64} << 20;
  uint32_t disk_ms = 2000;
  uint32_t quarantine_hangs = 8;
  uint32_t quarantine_window_ms = 600'000;
};

struct Options {
  ListenOptions listen;
  TlsOptions tls;
  DeviceOptions device;
  WindowOptions scheduler;
  SessionLimits limits;
  TimeoutsReply timeouts{10'000, 60'000, 600'000, 60'000};
  RoleNames roles;
  HangOptions hangs;
  std::string log_level = "info";
  std::string audit_file;      // empty: audit lines are in the log only
  uint32_t drain_ms = 10'000;  // a stop waits this long for sessions to end
  uint32_t card_ms = 10'000;   // and then this long for what is on the card, before that is cut off
};

// Where each option that is not a default was set.
class Origins {
 public:
  // `place`: "FILE:LINE", "--socket", "TTFD_ADDRESS". The last call for a key counts.
  void Set(const std::string& key, std::string place) { places_[key] = std::move(place); }
  bool Has(const std::string& key) const { return places_.contains(key); }
  // Beginning of a message about the option: "ttfd.toml:7: listen.group", "--socket", or "listen.group" of a default.
  std::string Where(const std::string& key) const;

 private:
  std::map<std::string, std::string> places_;  // by "section.name"
};

// Folders that the environment names for state of the daemon; empty: it does not.
struct StateFolders {
  std::string service;  // STATE_DIRECTORY: the service manager made it for this service
  std::string user;     // XDG_STATE_HOME, else ~/.local/state
};

// One run of the program.
struct Invocation {
  enum class Action { kServe, kCheckConfig, kDecode, kPrint };
  Action action = Action::kServe;
  Options options;
  Origins origins;
  StateFolders state_folders;
  std::string config_path;  // that was read; empty: none
  std::string decode_path;
  bool decode_json = false;
  std::string text;  // kPrint: help or version
};

// Reads command line, environment and file. INVALID_ARGUMENT says what is wrong and where.
StatusOr<Invocation> ReadInvocation(int argc, const char* const* argv);

// ---- the parts, for tests

inline constexpr char kDefaultConfigPath[] = "/etc/ttfd/ttfd.toml";

// The command line alone; what was not given stays empty.
struct CommandLine {
  Invocation::Action action = Invocation::Action::kServe;
  std::string text;
  std::string config;
  std::string socket;
  std::vector<std::string> devices;
  std::string record;
  std::string log_level;
  std::string decode_path;
  bool decode_json = false;
};
StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

// Sets what the text of a ttfd.toml names, and notes where. An unknown key, a wrong type or a value outside its range
// is refused with the line. `name` is for messages.
Status ApplyToml(const std::string& text, const std::string& name, Options* options,
                 Origins* origins);

// Every key of ttfd.toml as "section.name".
std::vector<std::string> TomlKeys();

// Checks options that need no look at the machine and are not a matter of one key's type and range; puts the address
// into its one form, "unix:PATH".
Status CheckOptions(const Origins& origins, Options* options);

// Path of the socket of a checked address.
std::string SocketPath(const ListenOptions& listen);

}  // namespace ttfd
