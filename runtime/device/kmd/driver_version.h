// Versions of the driver: which are refused, and what the older ones lack.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/base/status.h"

namespace ttfd::kmd {

struct DriverVersion {
  uint32_t major = 0;
  uint32_t minor = 0;
  uint32_t patch = 0;
  bool operator==(const DriverVersion&) const = default;
  bool operator<(const DriverVersion& other) const {
    return std::tie(major, minor, patch) < std::tie(other.major, other.minor, other.patch);
  }
  bool operator>=(const DriverVersion& other) const { return !(*this < other); }
  std::string ToString() const { return fmt::format("{}.{}.{}", major, minor, patch); }
};

// API 2: the driver owns the outbound iATU, and names NoC addresses of pinned memory.
inline constexpr DriverVersion kOldestDriver = {2, 0, 0};
// From here on a reset by another process is an error at once, never data.
inline constexpr DriverVersion kRecommendedDriver = {2, 7, 0};

// The first versions that write to the card when a descriptor is closed, that reset the card, and that take wishes for
// its power.
inline constexpr DriverVersion kFirstCleanup = {2, 2, 0};
inline constexpr DriverVersion kFirstReset = {2, 4, 1};
inline constexpr DriverVersion kFirstPower = {2, 6, 0};

// "2.10.0", "1.34", "2.10.1-pre"; none: not a version.
std::optional<DriverVersion> ParseDriverVersion(std::string_view text);

// FAILED_PRECONDITION: too old. `installed` is the version as text, "" if the driver does not name it.
Status CheckDriverVersion(const std::optional<DriverVersion>& version, std::string_view installed);

// Features of later versions that a supported version lacks, a sentence each. Sources: tt-kmd's tags 2.0.0 to 2.10.0.
std::vector<std::string> LimitsOf(const DriverVersion& version);

}  // namespace ttfd::kmd
