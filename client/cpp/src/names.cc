// Names of enumerators, as ttfdctl and messages show them.
#include <array>
#include <cstddef>

#include "ttfd/admin_types.h"
#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::client {
namespace {

template <typename Enum, size_t kCount>
const char* NameOf(const std::array<const char*, kCount>& names, Enum value) {
  const auto index = static_cast<size_t>(value);
  return index < kCount ? names[index] : "unknown";
}

}  // namespace

const char* ExecutionStateName(ExecutionState state) {
  constexpr std::array<const char*, 4> kNames = {"", "not started", "completed", "unknown"};
  return NameOf(kNames, state);
}

const char* ProcessorName(Processor processor) {
  constexpr std::array<const char*, 6> kNames = {"unknown", "brisc",  "ncrisc",
                                                 "trisc0",  "trisc1", "trisc2"};
  return NameOf(kNames, processor);
}

const char* BackendName(Backend backend) {
  constexpr std::array<const char*, 4> kNames = {"unknown", "embedded", "ttsim", "kmd"};
  return NameOf(kNames, backend);
}

const char* LinkStateName(LinkState state) {
  constexpr std::array<const char*, 5> kNames = {"unknown", "unknown", "up", "down", "unused"};
  return NameOf(kNames, state);
}

const char* PriorityName(Priority priority) {
  constexpr std::array<const char*, 4> kNames = {"normal", "low", "normal", "high"};
  return NameOf(kNames, priority);
}

const char* DaemonStateName(DaemonState state) {
  constexpr std::array<const char*, 6> kNames = {"unknown",  "booting",    "ready",
                                                 "draining", "recovering", "failed"};
  return NameOf(kNames, state);
}

const char* DeviceStateName(DeviceState state) {
  constexpr std::array<const char*, 5> kNames = {"unknown", "booting", "ready", "recovering",
                                                 "failed"};
  return NameOf(kNames, state);
}

const char* MemoryKindName(MemoryKind kind) {
  constexpr std::array<const char*, 3> kNames = {"unknown", "dram", "l1"};
  return NameOf(kNames, kind);
}

const char* SessionStateName(SessionState state) {
  constexpr std::array<const char*, 7> kNames = {"unknown",   "waiting",  "active", "quarantined",
                                                 "finishing", "detached", "ending"};
  return NameOf(kNames, state);
}

const char* LeaseStateName(LeaseState state) {
  constexpr std::array<const char*, 5> kNames = {"unknown", "waiting", "granting", "held",
                                                 "ending"};
  return NameOf(kNames, state);
}

const char* SessionWaitName(SessionWait wait) {
  constexpr std::array<const char*, 5> kNames = {"unknown", "none", "commands", "data", "output"};
  return NameOf(kNames, wait);
}

const char* LimitScopeName(LimitScope scope) {
  constexpr std::array<const char*, 7> kNames = {"unknown", "message", "command", "session",
                                                 "user",    "lease",   "daemon"};
  return NameOf(kNames, scope);
}

const char* ProgressStepName(ProgressStep step) {
  constexpr std::array<const char*, 7> kNames = {
      "unknown",   "sessions left", "drained", "the sessions left were ended",
      "undrained", "resetting",     "ready"};
  return NameOf(kNames, step);
}

const char* LogLevelName(LogLevel level) {
  constexpr std::array<const char*, 5> kNames = {"unknown", "debug", "info", "warning", "error"};
  return NameOf(kNames, level);
}

}  // namespace ttfd::client
