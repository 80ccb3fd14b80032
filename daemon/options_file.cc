// ttfd.toml: every key, its type and its range. The only file that includes toml++.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <functional>
#include <limits>
#include <utility>

#include "daemon/options.h"
#include "daemon/spelling.h"
#include "daemon/toml_nesting.h"

namespace ttfd {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kDayMs = 86'400'000;
constexpr uint64_t kYearMs = 366 * kDayMs;

struct Key {
  const char* section;
  const char* name;
  std::function<Status(const toml::node&)> set;
};

// The reason alone; who calls adds file, line and key.
Status Wrong(std::string_view what) { return InvalidArgument("{}", what); }

template <typename T>
Key Number(const char* section, const char* name, T* to, uint64_t least, uint64_t most) {
  return {section, name, [=](const toml::node& node) -> Status {
            const auto value = node.value_exact<int64_t>();
            if (!value || *value < 0 || static_cast<uint64_t>(*value) < least ||
                static_cast<uint64_t>(*value) > most) {
              return Wrong(fmt::format("must be a whole number from {} to {}", least, most));
            }
            *to = static_cast<T>(*value);
            return OkStatus();
          }};
}

Key Text(const char* section, const char* name, std::string* to) {
  return {section, name, [=](const toml::node& node) -> Status {
            const auto value = node.value_exact<std::string>();
            if (!value) return Wrong("must be a string");
            *to = *value;
            return OkStatus();
          }};
}

Key Flag(const char* section, const char* name, bool* to) {
  return {section, name, [=](const toml::node& node) -> Status {
            const auto value = node.value_exact<bool>();
            if (!value) return Wrong("must be true or false");
            *to = *value;
            return OkStatus();
          }};
}

Key Names(const char* section, const char* name, std::vector<std::string>* to) {
  return {section, name, [=](const toml::node& node) -> Status {
            const toml::array* const array = node.as_array();
            std::vector<std::string> names;
            bool good = array != nullptr;
            for (size_t i = 0; good && i < array->size(); ++i) {
              const auto value = (*array)[i].value_exact<std::string>();
              good = value && !value->empty();
              if (good) names.push_back(*value);
            }
            if (!good) return Wrong("must be a list of names");
            *to = std::move(names);
            return OkStatus();
          }};
}

// One name, or a list of them.
Key NameOrNames(const char* section, const char* name, std::vector<std::string>* to) {
  return {section, name, [=, names = Names(section, name, to)](const toml::node& node) -> Status {
            if (const auto one = node.value_exact<std::string>(); one && !one->empty()) {
              *to = {*one};
              return OkStatus();
            }
            return names.set(node);
          }};
}

// "0660": as people write it, and no number of TOML.
Key FileMode(const char* section, const char* name, uint32_t* to) {
  return {section, name, [=](const toml::node& node) -> Status {
            const auto value = node.value_exact<std::string>();
            uint32_t mode = 0;
            bool good = value && value->size() >= 3 && value->size() <= 4;
            for (size_t i = 0; good && i < value->size(); ++i) {
              const char digit = (*value)[i];
              good = digit >= '0' && digit <= '7';
              mode = mode * 8 + static_cast<uint32_t>(digit - '0');
            }
            if (!good || mode > 0777)
              return Wrong("must be a file mode in a string, such as \"0660\"");
            *to = mode;
            return OkStatus();
          }};
}

Key PriorityKey(const char* section, const char* name, Priority* to) {
  return {section, name, [=](const toml::node& node) -> Status {
            const auto value = node.value_exact<std::string>();
            for (const Priority one : {Priority::kLow, Priority::kNormal, Priority::kHigh}) {
              if (!value || *value != PriorityName(one)) continue;
              *to = one;
              return OkStatus();
            }
            return Wrong("must be \"low\", \"normal\" or \"high\"");
          }};
}

std::vector<Key> LimitKeys(SessionLimits& limits) {
  return {
      Number("limits", "chunk_bytes", &limits.chunk_bytes, 4096, kMiB),
      Number("limits", "inline_bytes", &limits.inline_bytes, 0, 2 * kMiB),
      Number("limits", "commands_per_batch", &limits.commands_per_batch, 1, 65'536),
      Number("limits", "waits_per_batch", &limits.waits_per_batch, 1, 4096),
      Number("limits", "queues", &limits.queues, 1, 1024),
      Number("limits", "handles", &limits.handles, 1, 16 * kMiB),
      Number("limits", "dram_bytes", &limits.dram_bytes, 4096, 1024 * kGiB),
      Number("limits", "l1_bytes", &limits.l1_bytes, 0, kMax32),
      Number("limits", "transfer_bytes", &limits.transfer_bytes, 4096, 1024 * kGiB),
      Number("limits", "kernel_elf_bytes", &limits.kernel_elf_bytes, 4096, 8 * kMiB),
      Number("limits", "sessions_per_user", &limits.sessions_per_user, 1, 100'000),
      Number("limits", "client_name_bytes", &limits.client_name_bytes, 1, 4096),
      Number("limits", "trace_bytes", &limits.trace_bytes, 0, 1024 * kGiB),
      Number("limits", "reconnect_timeout_ms", &limits.reconnect_timeout_ms, 0, kDayMs),
      Number("limits", "message_bytes", &limits.message_bytes, 4 * kMiB, 64 * kMiB),
      Number("limits", "buffers", &limits.buffers, 1, 16 * kMiB),
      Number("limits", "kernels", &limits.kernels, 1, 16 * kMiB),
      Number("limits", "programs", &limits.programs, 1, 16 * kMiB),
      Number("limits", "kernel_bytes", &limits.kernel_bytes, 4096, 1024 * kGiB),
      Number("limits", "nested_messages", &limits.nested_messages, kMiB / 32, kMiB),
      Number("limits", "window_bytes", &limits.window_bytes, kMiB / 4, kGiB),
      Number("limits", "unacknowledged_bytes", &limits.unacknowledged_bytes, kMiB / 4, kGiB),
      Number("limits", "idle_ms", &limits.idle_ms, 0, kYearMs),
      Number("limits", "queues_per_user", &limits.queues_per_user, 1, kMax32),
      Number("limits", "handles_per_user", &limits.handles_per_user, 1, kMax32),
      Number("limits", "buffers_per_user", &limits.buffers_per_user, 1, kMax32),
      Number("limits", "kernels_per_user", &limits.kernels_per_user, 1, kMax32),
      Number("limits", "programs_per_user", &limits.programs_per_user, 1, kMax32),
      Number("limits", "dram_bytes_per_user", &limits.dram_bytes_per_user, 4096, 1024 * kGiB),
      Number("limits", "l1_bytes_per_user", &limits.l1_bytes_per_user, 0, kMax32),
      Number("limits", "trace_bytes_per_user", &limits.trace_bytes_per_user, 0, 1024 * kGiB),
      Number("limits", "kernel_bytes_per_user", &limits.kernel_bytes_per_user, 4096, 1024 * kGiB),
      Number("limits", "window_bytes_per_user", &limits.window_bytes_per_user, kMiB, 1024 * kGiB),
      Number("limits", "unacknowledged_bytes_per_user", &limits.unacknowledged_bytes_per_user, kMiB,
             1024 * kGiB),
      Number("limits", "lease_ms", &limits.lease_ms, 0, kYearMs),
      Number("limits", "lease_idle_ms", &limits.lease_idle_ms, 0, kYearMs),
      Number("limits", "lease_wait_ms", &limits.lease_wait_ms, 1, kYearMs),
      Number("limits", "leases_per_user", &limits.leases_per_user, 0, 100'000),
      Number("limits", "weight", &limits.weight, 1, 1000),
      PriorityKey("limits", "priority", &limits.priority),
  };
}

std::vector<Key> ServingKeys(Options* to) {
  ListenOptions& listen = to->listen;
  DeviceOptions& device = to->device;
  return {
      Text("listen", "address", &listen.address),
      FileMode("listen", "mode", &listen.mode),
      Text("listen", "group", &listen.group),
      Number("listen", "connections", &listen.connections, 1, 100'000),
      Number("listen", "connections_per_user", &listen.connections_per_user, 1, 100'000),
      Number("listen", "calls_per_connection", &listen.calls_per_connection, 1, 10'000),
      Number("listen", "memory_bytes", &listen.memory_bytes, 16 * kMiB, 1024 * kGiB),
      Number("listen", "hello_ms", &listen.hello_ms, 1, kDayMs),
      Text("tls", "address", &to->tls.address),
      Text("tls", "certificate", &to->tls.certificate),
      Text("tls", "key", &to->tls.key),
      Text("tls", "client_ca", &to->tls.client_ca),
      Number("tls", "keepalive_ms", &to->tls.keepalive_ms, 100, kDayMs),
      NameOrNames("device", "device", &device.devices),
      Flag("device", "share_without_iommu", &device.share_without_iommu),
      Names("device", "remote_chips", &device.remote_chips),
      Number("device", "boot_ms", &device.boot_ms, 1, kDayMs),
      Number("device", "issue_ring_bytes", &device.issue_ring_bytes, 4 * kMiB, 256 * kMiB),
      Number("device", "completion_ring_pages", &device.completion_ring_pages, 64, 65'536),
      Number("scheduler", "quantum_us", &to->scheduler.quantum_us, 10, 1'000'000),
      Number("scheduler", "window_us", &to->scheduler.window_us, 1, 60'000'000),
      Number("scheduler", "window_commands", &to->scheduler.window_commands, 1, 65'536),
      Number("scheduler", "boost", &to->scheduler.boost, 0, 19),
      Number("scheduler", "spin_us", &to->scheduler.spin_us, 0, 1'000'000),
  };
}

std::vector<Key> OperatingKeys(Options* to) {
  return {
      Number("timeouts", "operation_ms", &to->timeouts.operation_ms, 1, kDayMs),
      Number("timeouts", "kernel_ms", &to->timeouts.kernel_ms, 1, kDayMs),
      Number("timeouts", "start_ms", &to->timeouts.start_ms, 1, kDayMs),
      Number("timeouts", "stalled_client_ms", &to->timeouts.stalled_client_ms, 1, kDayMs),
      Names("roles", "submit", &to->roles.submit),
      Names("roles", "observe", &to->roles.observe),
      Names("roles", "admin", &to->roles.admin),
      Names("roles", "submit_certificates", &to->roles.submit_certificates),
      Names("roles", "observe_certificates", &to->roles.observe_certificates),
      Names("roles", "admin_certificates", &to->roles.admin_certificates),
      Text("hangs", "folder", &to->hangs.folder),
      Number("hangs", "reports", &to->hangs.reports, 1, 10'000),
      Number("hangs", "bytes", &to->hangs.bytes, kMiB, 1024 * kGiB),
      Number("hangs", "disk_ms", &to->hangs.disk_ms, 1, 60'000),
      Number("hangs", "quarantine_hangs", &to->hangs.quarantine_hangs, 0, 1000),
      Number("hangs", "quarantine_window_ms", &to->hangs.quarantine_window_ms, 1, kDayMs),
      Text("log", "level", &to->log_level),
      Text("log", "audit_file", &to->audit_file),
      Number("stop", "drain_ms", &to->drain_ms, 0, kDayMs),
      Number("stop", "card_ms", &to->card_ms, 0, kDayMs),
  };
}

// In the order of ttfd.toml.
std::vector<Key> KeysOf(Options* to) {
  std::vector<Key> keys = ServingKeys(to);
  for (const std::vector<Key>& more : {LimitKeys(to->limits), OperatingKeys(to)}) {
    keys.insert(keys.end(), more.begin(), more.end());
  }
  return keys;
}

std::string Place(const std::string& name, const toml::source_region& source) {
  return fmt::format("{}:{}", name, source.begin.line);
}

// "; did you mean 'queues'?", in this section or else in any.
std::string KeySuggestion(std::string_view text, const std::string& section,
                          const std::vector<Key>& keys) {
  std::vector<std::string> here;
  std::vector<std::string> anywhere;
  for (const Key& key : keys) {
    if (section == key.section) here.emplace_back(key.name);
    anywhere.emplace_back(key.name);
  }
  if (const std::string word = NearestWord(text, here); !word.empty()) {
    return fmt::format("; did you mean '{}'?", word);
  }
  const std::string word = NearestWord(text, anywhere);
  for (const Key& key : keys) {
    if (word == key.name) return fmt::format("; did you mean '{}' in [{}]?", word, key.section);
  }
  return "";
}

std::string SectionSuggestion(const std::string& text, const std::vector<Key>& keys) {
  std::vector<std::string> sections;
  for (const Key& key : keys) sections.emplace_back(key.section);
  const std::string word = NearestWord(text, sections);
  return word.empty() ? "" : fmt::format("; did you mean [{}]?", word);
}

Status ApplySection(const std::string& section, const toml::table& table, const std::string& name,
                    const std::vector<Key>& keys, Origins* origins) {
  for (const auto& [key, node] : table) {
    const std::string_view text = key.str();
    const Key* known = nullptr;
    for (const Key& candidate : keys) {
      if (section == candidate.section && text == candidate.name) known = &candidate;
    }
    if (known == nullptr) {
      return InvalidArgument("{}: there is no key '{}' in [{}]{}", Place(name, key.source()), text,
                             section, KeySuggestion(text, section, keys));
    }
    const Status set = known->set(node);
    if (!set.ok()) {
      return InvalidArgument("{}: {}.{} {}", Place(name, node.source()), section, text,
                             StatusMessage(set));
    }
    origins->Set(fmt::format("{}.{}", section, text), Place(name, key.source()));
  }
  return OkStatus();
}

Status ApplyTable(const toml::table& root, const std::string& name, const std::vector<Key>& keys,
                  Origins* origins) {
  for (const auto& [key, node] : root) {
    const std::string section(key.str());
    bool known = false;
    for (const Key& candidate : keys) known = known || section == candidate.section;
    if (!known) {
      return InvalidArgument("{}: there is no section '{}'{}", Place(name, key.source()), section,
                             SectionSuggestion(section, keys));
    }
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return InvalidArgument("{}: '{}' must be a section: [{}]", Place(name, key.source()), section,
                             section);
    }
    RETURN_IF_ERROR(ApplySection(section, *table, name, keys, origins));
  }
  return OkStatus();
}

}  // namespace

Status ApplyToml(const std::string& text, const std::string& name, Options* options,
                 Origins* origins) {
  RETURN_IF_ERROR(CheckTomlNesting(text, name));
  try {
    return ApplyTable(toml::parse(text), name, KeysOf(options), origins);
  } catch (const toml::parse_error& error) {  // the way toml++ reports; nothing of ours throws
    return InvalidArgument("{}: {}", Place(name, error.source()), error.description());
  }
}

std::vector<std::string> TomlKeys() {
  Options unused;
  std::vector<std::string> names;
  for (const Key& key : KeysOf(&unused))
    names.push_back(fmt::format("{}.{}", key.section, key.name));
  return names;
}

}  // namespace ttfd
