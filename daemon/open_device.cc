#include "daemon/open_device.h"

#include <algorithm>
#include <optional>

#include "runtime/device/kmd/kmd_device.h"
#include "runtime/device/ttsim/ttsim_device.h"

namespace ttfd {
namespace {

constexpr char kPossible[] =
    "kmd:/dev/tenstorrent/0, kmd:0000:03:00.0, sim, sim:board=p100a, sim:board=p150 and ttsim:PATH "
    "are possible";

// Behind "BACKEND:"; none: the text names another backend.
std::optional<std::string_view> After(std::string_view backend, std::string_view text) {
  if (text.substr(0, text.find(':')) != backend) return std::nullopt;
  return text.substr(std::min(text.size(), backend.size() + 1));
}

}  // namespace

Status CheckDeviceText(std::string_view text) {
  if (After("ttsim", text)) return ParseTtsimOptions(text).status();
  if (After("sim", text)) return ParseSimOptions(text).status();
  if (const auto card = After("kmd", text)) return kmd::CheckCardName(*card);
  return InvalidArgument("'{}' is no device; {}", text, kPossible);
}

StatusOr<std::unique_ptr<Device>> OpenDevice(std::string_view text, const kmd::System& system,
                                             uint64_t host_bytes, Debugging* debugging) {
  if (After("ttsim", text)) {
    ASSIGN_OR_RETURN(const TtsimOptions options, ParseTtsimOptions(text));
    return OpenTtsimDevice(options);
  }
  if (const auto card = After("kmd", text)) {
    return KmdDevice::Open(std::string(*card), system, host_bytes);
  }
  ASSIGN_OR_RETURN(const SimOptions options, ParseSimOptions(text));
  return OpenSimDevice(options, nullptr, debugging);
}

}  // namespace ttfd
