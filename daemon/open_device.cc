#include "daemon/open_device.h"

#include <algorithm>
#include <iterator>

#include "runtime/device/ttsim/ttsim_device.h"

namespace ttfd {
namespace {

std::string_view Backend(std::string_view text) { return text.substr(0, text.find(':')); }

constexpr char kPossible[] = "sim, sim:board=p100a, sim:board=p150 and ttsim:PATH are possible";

// As other programs for these cards name one.
bool MeansCard(std::string_view text) {
  constexpr std::string_view kNames[] = {"kmd", "tt", "auto", "card", "pcie"};
  return text.starts_with("/dev/") ||
         std::find(std::begin(kNames), std::end(kNames), Backend(text)) != std::end(kNames);
}

bool NamesSimulatorLibrary(std::string_view text) { return Backend(text) == "ttsim"; }

}  // namespace

Status CheckDeviceText(std::string_view text) {
  if (NamesSimulatorLibrary(text)) return ParseTtsimOptions(text).status();
  if (Backend(text) == "sim") return ParseSimOptions(text).status();
  if (MeansCard(text)) {
    return InvalidArgument("'{}': there is no backend for cards yet (docs/caveats.md); {}", text,
                           kPossible);
  }
  return InvalidArgument("'{}' is no device; {}", text, kPossible);
}

StatusOr<std::unique_ptr<Device>> OpenDevice(std::string_view text, Debugging* debugging) {
  if (NamesSimulatorLibrary(text)) {
    ASSIGN_OR_RETURN(const TtsimOptions options, ParseTtsimOptions(text));
    return OpenTtsimDevice(options);
  }
  ASSIGN_OR_RETURN(const SimOptions options, ParseSimOptions(text));
  return OpenSimDevice(options, nullptr, debugging);
}

}  // namespace ttfd
