// Options of the embedded device as text, and opening it.
#include "runtime/device/sim/sim_device.h"

#include <charconv>
#include <optional>
#include <utility>

#include "runtime/device/port_device.h"
#include "runtime/device/sim/sim_port.h"

namespace ttfd {
namespace {

// Cuts the text before `separator` off `rest`.
std::string_view Next(std::string_view* rest, char separator) {
  const size_t end = rest->find(separator);
  const std::string_view head = rest->substr(0, end);
  *rest = end == std::string_view::npos ? std::string_view() : rest->substr(end + 1);
  return head;
}

StatusOr<uint32_t> Number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return InvalidArgument("\"{}\" is not a number", text);
  }
  return value;
}

Status ParseBoard(std::string_view value, SimOptions* options) {
  if (value == "p100a") {
    *options = sim::DefaultOptions(sim::Board::kP100a);
  } else if (value == "p150") {
    *options = sim::DefaultOptions(sim::Board::kP150);
  } else {
    return InvalidArgument("board \"{}\" is not p100a or p150", value);
  }
  return OkStatus();
}

Status ParseHarvest(std::string_view key, std::string_view value, SimOptions* options) {
  if (key == "bank") {
    if (value == "none") {
      options->harvested_bank = hw::kNoHarvestedBank;
      return OkStatus();
    }
    ASSIGN_OR_RETURN(options->harvested_bank, Number(value));
    return OkStatus();
  }
  options->harvested_columns.clear();
  if (value == "none") return OkStatus();
  while (!value.empty()) {
    ASSIGN_OR_RETURN(const uint32_t column, Number(Next(&value, '+')));
    options->harvested_columns.push_back(column);
  }
  return OkStatus();
}

}  // namespace

StatusOr<SimOptions> ParseSimOptions(std::string_view text) {
  std::string_view rest = text;
  if (Next(&rest, ':') != "sim") {
    return InvalidArgument("\"{}\" does not name the embedded device (sim, sim:board=p100a)", text);
  }
  SimOptions options = sim::DefaultOptions(sim::Board::kP150);
  // The board decides the defaults of the rest, wherever it stands.
  for (const bool boards : {true, false}) {
    for (std::string_view items = rest; !items.empty();) {
      std::string_view value = Next(&items, ',');
      const std::string_view key = Next(&value, '=');
      const bool harvest = key == "bank" || key == "columns";
      if (key != "board" && !harvest) {
        return InvalidArgument("\"{}\" of \"{}\" is not board, bank or columns", key, text);
      }
      if (value.empty()) return InvalidArgument("\"{}\" of \"{}\" has no value", key, text);
      if (harvest == boards) continue;
      RETURN_IF_ERROR(Annotate(
          boards ? ParseBoard(value, &options) : ParseHarvest(key, value, &options), text));
    }
  }
  RETURN_IF_ERROR(Annotate(sim::Validate(options), text));
  return options;
}

StatusOr<std::unique_ptr<Device>> OpenSimDevice(const SimOptions& options, const sim::Chip** chip) {
  ASSIGN_OR_RETURN(std::unique_ptr<sim::Chip> created, sim::Chip::Create(options));
  if (chip != nullptr) *chip = created.get();
  // The model maps exactly the memory it is given, as a card behind an IOMMU does.
  const PortTraits traits = {
      .backend = "embedded", .memory_is_zero_after_power_on = true, .iommu = true};
  return PortDevice::Open(std::make_unique<SimPort>(std::move(created)), traits);
}

}  // namespace ttfd
