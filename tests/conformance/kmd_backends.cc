// The backend behind the vendor's driver, over a stand-in for that driver.
#include "tests/conformance/device_fixture.h"
#include "tests/support/kmd_on_standin.h"

namespace ttfd {
namespace {

Backend Kmd(const char* name, const char* chip) {
  return {.name = name,
          .open = [chip] { return OpenKmdOnStandin(chip); },
          .skip = "",
          .reports_faults = false,
          .resets_registers = false,
          .zeroes_harts = true};
}

}  // namespace

std::vector<Backend> Backends() {
  return {Kmd("kmd_p100a", "sim:board=p100a"), Kmd("kmd_p150", "sim:board=p150")};
}

}  // namespace ttfd
