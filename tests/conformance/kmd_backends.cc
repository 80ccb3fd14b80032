// The backend behind the vendor's driver: on a card if the environment names one, else over a stand-in for the driver.
#include "tests/conformance/device_fixture.h"
#include "tests/support/kmd_on_standin.h"
#include "tests/support/test_card.h"
#include "tests/support/test_device_text.h"

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
  if (const std::string device = TestSimulator(); device.starts_with(kCard)) {
    Backend card = Kmd("card", "");
    card.open = [device] { return OpenTestCard(device.substr(kCard.size())); };
    card.zeroes_harts = false;
    return {card};
  }
  return {Kmd("kmd_p100a", "sim:board=p100a"), Kmd("kmd_p150", "sim:board=p150")};
}

}  // namespace ttfd
