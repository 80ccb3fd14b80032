// The table of versions.
#include "runtime/device/kmd/driver_version.h"

#include <charconv>

#include "runtime/device/problem.h"

namespace ttfd::kmd {
namespace {

struct Lack {
  DriverVersion until;  // the first version that has it
  const char* text;
};
constexpr Lack kLacks[] = {
    {kFirstCleanup, "the driver writes nothing to the card when the daemon dies"},
    {kFirstReset, "the driver cannot reset the card"},
    {kFirstPower, "the card's clock is not raised while it is used"},
    {{2, 6, 0}, "a reset of the card by another process shows as reads of all ones alone"},
    {{2, 7, 0}, "accesses to a card that was reset may hang instead of failing"},
};

}  // namespace

std::optional<DriverVersion> ParseDriverVersion(std::string_view text) {
  DriverVersion version;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (uint32_t* const part : {&version.major, &version.minor, &version.patch}) {
    const auto [next, error] = std::from_chars(at, end, *part);
    if (error != std::errc()) return std::nullopt;
    at = next;
    const bool two_parts = part == &version.minor;
    if (part == &version.patch || (two_parts && at == end)) break;
    if (at == end || *at != '.') return std::nullopt;
    ++at;
  }
  return at == end || *at == '-' ? std::optional(version) : std::nullopt;
}

Status CheckDriverVersion(const std::optional<DriverVersion>& version, std::string_view installed) {
  if (version.has_value() && *version >= kOldestDriver) return OkStatus();
  return ProblemError(
      Problem::kDriverTooOld, StatusCode::kFailedPrecondition,
      "the tenstorrent driver is {}, but {} or later is needed: install tt-kmd {} or later",
      installed.empty() ? "older than 2.0.0" : installed, kOldestDriver.ToString(),
      kRecommendedDriver.ToString());
}

std::vector<std::string> LimitsOf(const DriverVersion& version) {
  std::vector<std::string> limits;
  for (const Lack& lack : kLacks) {
    if (version < lack.until) {
      limits.push_back(fmt::format("driver {}: {} (fixed in {})", version.ToString(), lack.text,
                                   lack.until.ToString()));
    }
  }
  return limits;
}

}  // namespace ttfd::kmd
