// Devices as rows and JSON.
#include "client/cli/device_rows.h"

#include <fmt/format.h>

#include "client/cli/link_rows.h"
#include "client/cli/text.h"

namespace ttfd::cli {

using client::DeviceInfo;

namespace {

Json CoordinateJson(client::Coordinate at) { return {{"x", at.x}, {"y", at.y}}; }

Json BankJson(const client::DramBank& bank) {
  return {{"port", CoordinateJson(bank.port)},
          {"nearest_worker", CoordinateJson(bank.nearest_worker)}};
}

}  // namespace

Json LinksJson(const DeviceInfo& device, const std::vector<DeviceInfo>& devices) {
  return JsonList(device.links, [&](const client::EthernetLink& link) {
    return LinkJson(link, device, devices);
  });
}

Json DeviceJson(const DeviceInfo& device, const std::vector<DeviceInfo>& devices) {
  return {{"index", device.index},
          {"board", device.board},
          {"backend", client::BackendName(device.backend)},
          {"grid_x", device.grid_x},
          {"grid_y", device.grid_y},
          {"dram_banks", device.dram_banks},
          {"dram_bank_bytes", device.dram_bank_bytes},
          {"dram_alignment", device.dram_alignment},
          {"l1_bytes", device.l1_bytes},
          {"l1_alignment", device.l1_alignment},
          {"clock_hz", device.clock_hz},
          {"circular_buffers", device.circular_buffers},
          {"semaphores", device.semaphores},
          {"argument_words", device.argument_words},
          {"circular_buffer_bytes", device.circular_buffer_bytes},
          {"transfer_alignment", device.transfer_alignment},
          {"kernel_bytes", device.kernel_bytes},
          {"iommu", device.iommu},
          {"l1_base", device.l1_base},
          {"dram_base", device.dram_base},
          {"dram_bank_size", device.dram_bank_size},
          {"worker_x", device.worker_x},
          {"worker_y", device.worker_y},
          {"banks", JsonList(device.banks, BankJson)},
          {"links", LinksJson(device, devices)},
          {"board_id", device.board_id},
          {"asic_id", device.asic_id},
          {"behind", JsonOf(device.behind)}};
}

Json DevicesJson(const std::vector<DeviceInfo>& devices) {
  return JsonList(devices, [&](const DeviceInfo& device) { return DeviceJson(device, devices); });
}

std::vector<std::vector<std::string>> DeviceRows(const std::vector<DeviceInfo>& devices) {
  std::vector<std::vector<std::string>> rows = {
      {"DEVICE", "BOARD", "BACKEND", "PORT", "WORKERS", "DRAM", "L1/WORKER", "CLOCK", "IOMMU"}};
  for (const DeviceInfo& device : devices) {
    // A model has no clock rate and no IOMMU of its own.
    const bool model =
        device.backend == client::Backend::kEmbedded || device.backend == client::Backend::kTtsim;
    const auto of_card = [model](const std::string& text) { return model ? "-" : text; };
    rows.push_back({std::to_string(device.index), device.board, client::BackendName(device.backend),
                    device.behind ? fmt::format("link of {}", *device.behind) : "PCIe",
                    fmt::format("{}x{}", device.grid_x, device.grid_y),
                    Bytes(device.dram_banks * device.dram_bank_bytes), Bytes(device.l1_bytes),
                    of_card(fmt::format("{} MHz", device.clock_hz / 1'000'000)),
                    of_card(device.iommu ? "on" : "off")});
  }
  return rows;
}

client::Result<DeviceInfo> NamedDevice(const Common& common) {
  const auto devices = client::Admin::Connect(common.address, common.timeout()).ListDevices();
  if (!devices.ok()) return devices.status();
  const uint32_t index = common.device.value_or(0);
  if (index < devices->size()) return (*devices)[index];
  return client::Status(client::Code::kNotFound, fmt::format("the daemon has no device {}", index));
}

}  // namespace ttfd::cli
