// The firmware images a card is booted with.
#include "runtime/boot/firmware_set.h"

#include <string_view>

#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"
#include "runtime/boot/hart_state.h"

namespace ttfd {
namespace {

// Behind the first instruction of every image.
constexpr size_t kStampOffset = 4;

Status CheckImage(std::string_view name, uint32_t hart, ByteSpan image) {
  const auto refuse = [&name](std::string_view why) {
    return Error(StatusCode::kFailedPrecondition, "firmware image {}: {}", name, why);
  };
  if (image.size() < kStampOffset + 2 * sizeof(uint32_t)) return refuse("has no version stamp");
  if (image.size() > abi::kFirmwareBytes[hart]) {
    return refuse(fmt::format("{} bytes; {} fit", image.size(), abi::kFirmwareBytes[hart]));
  }
  if (LoadAt<uint32_t>(image.data() + kStampOffset) != abi::kMagic) {
    return refuse("has no version stamp");
  }
  const auto version = LoadAt<uint32_t>(image.data() + kStampOffset + sizeof(uint32_t));
  if (version != abi::kProtocolVersion) {
    return refuse(fmt::format("speaks protocol version {:#010x}, this host {:#010x}", version,
                              abi::kProtocolVersion));
  }
  return OkStatus();
}

}  // namespace

Status CheckFirmware(const FirmwareSet& firmware) {
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    RETURN_IF_ERROR(
        CheckImage(fmt::format("worker {}", HartName(hart)), hart, firmware.worker[hart]));
  }
  RETURN_IF_ERROR(CheckImage("prefetch", hw::kBrisc, firmware.prefetch));
  RETURN_IF_ERROR(CheckImage("dispatch", hw::kBrisc, firmware.dispatch));
  return CheckImage("dispatch_s", hw::kNcrisc, firmware.dispatch_s);
}

}  // namespace ttfd
