// Chips without a port of their own, behind an Ethernet link of a neighbour.
#include "tests/conformance/device_fixture.h"
#include "tests/support/test_device.h"

namespace ttfd {
namespace {

Backend Embedded(const char* name, const char* options) {
  return {.name = name,
          .open = [options] { return OpenRemoteDevice(TestDeviceText(options)); },
          .skip = "",
          .refuses_at_once = true,
          .reports_faults = false,
          .resets_registers = false,
          .alone = false,
          .zeroes_harts = true};
}

// A libttsim of two chips, of which the host reaches the first.
Backend Library(const std::string& library) {
  return {
      .name = "remote_ttsim",
      .open = [library]() -> StatusOr<std::unique_ptr<Device>> {
        ASSIGN_OR_RETURN(auto front, OpenTtsimDevice({library, ""}));
        return OpenNeighbour(std::move(front));
      },
      .skip = library.empty() ? "TTFD_TTSIM_X2_LIB does not name a libttsim.so of two chips" : "",
      .refuses_at_once = true,
      .reports_faults = false,
      .continues_after_faults = false,
      .resets_registers = false,
      .alone = false};
}

}  // namespace

std::vector<Backend> Backends() {
  return {Library(TestEnvironment("TTFD_TTSIM_X2_LIB")), Embedded("remote_p150", "sim"),
          Embedded("remote_bank_5_of_p150", "sim:bank=5,columns=1+16")};
}

}  // namespace ttfd
