// Reads the table.
#include "runtime/device/telemetry.h"

#include "runtime/device/problem.h"
#include "runtime/hw/arc.h"

namespace ttfd {
namespace {

constexpr uint32_t kBootMask = 7;
constexpr uint32_t kBootReady = 5;
constexpr uint32_t kMaxTelemetryEntries = 256;  // tt-umd's tags end at 68
constexpr uint32_t kMaxTableVersion = 1;

StatusOr<uint32_t> Scratch(Window& arc, uint32_t index) {
  return ReadWord(arc, hw::kArcScratchRam + 4 * index);
}

bool InCsm(uint64_t address, uint64_t bytes) {
  return address >= hw::kArcCsm && address + bytes <= hw::kArcCsm + hw::kArcCsmBytes;
}

Status NotReady(uint32_t boot) {
  return ProblemError(Problem::kFirmwareNotReady, StatusCode::kUnavailable,
                      "the card's firmware (ARC) has not booted (status {:#x}): wait up to five "
                      "minutes after power-on, "
                      "then power the host off and on",
                      boot);
}

Status BeyondMemory(uint64_t address) {
  return ProblemError(
      Problem::kFirmwareNotReady, StatusCode::kUnavailable,
      "the card's firmware reports no telemetry (its table is at {:#x}, outside the ARC's memory): "
      "reset the card",
      address);
}

}  // namespace

StatusOr<Telemetry> Telemetry::Find(Window& arc) {
  ASSIGN_OR_RETURN(const uint32_t boot, Scratch(arc, hw::kArcScratchBootStatus));
  if ((boot & kBootMask) != kBootReady) return NotReady(boot);
  ASSIGN_OR_RETURN(const uint32_t table, Scratch(arc, hw::kArcScratchTelemetryTable));
  ASSIGN_OR_RETURN(const uint32_t values, Scratch(arc, hw::kArcScratchTelemetryValues));
  if (!InCsm(table, 8)) return BeyondMemory(table);
  ASSIGN_OR_RETURN(const uint32_t version, ReadWord(arc, table));
  ASSIGN_OR_RETURN(const uint32_t count, ReadWord(arc, table + 4));
  if (version >> 16 > kMaxTableVersion || count > kMaxTelemetryEntries) {
    return ProblemError(
        Problem::kFirmwareUnsupported, StatusCode::kFailedPrecondition,
        "the card's firmware has a telemetry table of version {:#x} with {} entries; "
        "versions up to {}.x with up to {} are supported: install a later ttfd",
        version, count, kMaxTableVersion, kMaxTelemetryEntries);
  }
  if (!InCsm(table, 8 + 4 * uint64_t{count})) return BeyondMemory(table);
  Telemetry found;
  for (uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint32_t entry, ReadWord(arc, table + 8 + 4 * i));
    const uint64_t address = values + 4 * uint64_t{entry >> 16};
    if (!InCsm(address, 4)) return BeyondMemory(address);
    found.addresses_[entry & 0xFFFF] = address;
  }
  return found;
}

StatusOr<uint32_t> Telemetry::Read(Window& arc, uint32_t tag) const {
  const auto found = addresses_.find(tag);
  if (found == addresses_.end()) {
    return Error(StatusCode::kNotFound, "the card's firmware does not report telemetry tag {}",
                 tag);
  }
  return ReadWord(arc, found->second);
}

}  // namespace ttfd
