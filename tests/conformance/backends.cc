// The backends under test.
#include "runtime/device/sim/sim_device.h"
#include "tests/conformance/device_fixture.h"
#include "tests/support/test_device.h"

namespace ttfd {
namespace {

Backend Embedded(const char* name, const char* options) {
  return {.name = name,
          .open = [options]() -> StatusOr<std::unique_ptr<Device>> {
            ASSIGN_OR_RETURN(const SimOptions parsed, ParseSimOptions(options));
            return OpenSimDevice(parsed);
          },
          .skip = "",
          .refuses_at_once = true,
          .checks_links = true,
          .zeroes_harts = true};
}

// A simulator library in a child process. Ours takes the same way as the official one, in every run.
Backend Library(const char* name, const std::string& library) {
  return {.name = name,
          .open =
              [library] {
                return OpenTtsimDevice({library, ""});
              },
          .skip = library.empty() ? "TTFD_TTSIM_LIB does not name a libttsim.so" : "",
          .continues_after_faults = false};
}

Backend OurLibrary() {
  Backend backend = Library("sim_library", TTFD_SIM_LIBRARY);
  backend.checks_links = true;
  backend.zeroes_harts = true;
  return backend;
}

}  // namespace

std::vector<Backend> Backends() {
  return {Library("ttsim", OfficialSimulator()), OurLibrary(),
          Embedded("sim_p100a", "sim:board=p100a"), Embedded("sim_p150", "sim:board=p150"),
          Embedded("sim_bank_5_of_p150", "sim:board=p150,bank=5,columns=1+16")};
}

}  // namespace ttfd
