#include "daemon/open_device.h"

#include "runtime/device/ttsim/ttsim_device.h"

namespace ttfd {
namespace {

bool NamesSimulatorLibrary(std::string_view text) {
  return text.substr(0, text.find(':')) == "ttsim";
}

}  // namespace

Status CheckDeviceText(std::string_view text) {
  return NamesSimulatorLibrary(text) ? ParseTtsimOptions(text).status()
                                     : ParseSimOptions(text).status();
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
