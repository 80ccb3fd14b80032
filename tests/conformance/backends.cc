// The backends under test.
#include "runtime/device/sim/sim_device.h"
#include "tests/conformance/device_fixture.h"

namespace ttfd {
namespace {

Backend Embedded(const char* name, const char* options) {
  return {.name = name,
          .open = [options]() -> StatusOr<std::unique_ptr<Device>> {
            ASSIGN_OR_RETURN(const SimOptions parsed, ParseSimOptions(options));
            return OpenSimDevice(parsed);
          },
          .skip = "",
          .reports_faults = true,
          .parks = true};
}

}  // namespace

std::vector<Backend> Backends() {
  return {Embedded("sim_p100a", "sim:board=p100a"), Embedded("sim_p150", "sim:board=p150"),
          Embedded("sim_bank_5_of_p150", "sim:board=p150,bank=5,columns=1+16")};
}

}  // namespace ttfd
