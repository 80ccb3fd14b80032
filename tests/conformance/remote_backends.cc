// Chips without a port of their own, behind an Ethernet link of a neighbour.
#include "runtime/fabric/remote_device.h"
#include "tests/conformance/device_fixture.h"
#include "tests/support/test_device.h"

namespace ttfd {
namespace {

// Opens the neighbour of the first link that is up.
StatusOr<std::unique_ptr<Device>> OpenNeighbour(std::shared_ptr<Device> front) {
  for (const LinkStatus& link : ReadLinks(*front)) {
    if (link.state != LinkState::kUp) continue;
    return RemoteDevice::Open(std::move(front), link, "the first link", SteadyClock());
  }
  return Error(StatusCode::kNotFound, "no link is up");
}

Backend Embedded(const char* name, const char* options) {
  return {.name = name,
          .open = [options]() -> StatusOr<std::unique_ptr<Device>> {
            ASSIGN_OR_RETURN(const SimOptions parsed, TestSimOptions(options));
            ASSIGN_OR_RETURN(auto devices, OpenSimDevices(parsed));
            return OpenNeighbour(std::move(devices.front()));
          },
          .skip = "",
          .refuses_at_once = true,
          .reports_faults = false,
          .resets_registers = false,
          .alone = false,
          .zeroes_harts = true};
}

// A libttsim of two chips, of which the host reaches the first.
Backend Library(const std::string& library) {
  return {.name = "remote_ttsim",
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
  return {Library(TestEnvironment("TTFD_TTSIM_X2_LIB")),
          Embedded("remote_p150", "sim:cluster=1x2,remote=1"),
          Embedded("remote_bank_5_of_p150", "sim:cluster=1x2,remote=1,bank=5,columns=1+16")};
}

}  // namespace ttfd
