// The PCIe link.
#include <algorithm>
#include <charconv>

#include "runtime/device/kmd/doctor/checks.h"

namespace ttfd::kmd {
namespace {

// Number at the start of "32.0 GT/s PCIe" or "16"; none: there is none, or it is 0.
std::optional<double> Leading(const std::optional<std::string>& text) {
  if (!text.has_value()) return std::nullopt;
  double number = 0;
  const auto [at, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && number > 0 ? std::optional(number) : std::nullopt;
}

// Maximum of card and slot together; a slot that says nothing sets no limit.
std::optional<double> Most(const std::optional<std::string>& card,
                           const std::optional<std::string>& slot) {
  const std::optional<double> most = Leading(card);
  return most.has_value() ? std::optional(std::min(*most, Leading(slot).value_or(*most)))
                          : std::nullopt;
}

std::string LinkText(double speed, double width) {
  return fmt::format("{:.1f} GT/s x{:.0f}", speed, width);
}

}  // namespace

DoctorCheck CheckLink(const CardFacts& card) {
  constexpr char kName[] = "pcie link";
  const LinkFacts& link = card.pci.link;
  const std::optional<double> speed = Leading(link.speed);
  const std::optional<double> width = Leading(link.width);
  const std::optional<double> most_speed = Most(link.max_speed, link.slot_speed);
  const std::optional<double> most_width = Most(link.max_width, link.slot_width);
  if (!speed || !width || !most_speed || !most_width) {
    return Found(kName, CheckResult::kUnknown, "its speed or width cannot be read");
  }
  const std::string is = LinkText(*speed, *width);
  if (*speed >= *most_speed && *width >= *most_width) {
    const bool by_slot = *speed < *Leading(link.max_speed) || *width < *Leading(link.max_width);
    return Found(kName, CheckResult::kOk, is + (by_slot ? ", the most that the slot can do" : ""));
  }
  return Wrong(
      kName, Problem::kSlowLink,
      fmt::format("{}, where card and slot can do {}", is, LinkText(*most_speed, *most_width)),
      {"the card does not sit well in its slot, a riser or cable loses signal, or the "
       "firmware setup limits the slot",
       "seat the card again, without a riser; check the slot's speed and lanes in the "
       "firmware setup"});
}

}  // namespace ttfd::kmd
