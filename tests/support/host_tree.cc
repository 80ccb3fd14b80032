#include "tests/support/host_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace ttfd {
namespace {

constexpr char kMoves[] = "(another number each time)";
constexpr int kDescriptor = 1000;  // of node 0; of node N: N more
constexpr std::string_view kNode = "/dev/tenstorrent/";

}  // namespace

HostTree::HostTree() {
  files_ = {{"/sys/module/tenstorrent/version", "2.10.0"},
            {"/sys/kernel/security/lockdown", "[none] integrity confidentiality"},
            {"/sys/class/hwmon/hwmon0/name", "coretemp"},
            {"/proc/1/cgroup", "0::/init.scope"},
            {"/proc/self/cgroup", "0::/user.slice/user-1000.slice"},
            {"/sys/bus/pci/devices/0000:00:1f.0/vendor", "0x8086"},
            {"/sys/bus/pci/devices/0000:00:1f.0/device", "0x7a04"}};
  for (const char* const size : {"1048576kB", "2048kB"}) {
    files_[fmt::format("/sys/kernel/mm/hugepages/hugepages-{}/free_hugepages", size)] = "0";
  }
  AddCard("0000:03:00.0", "0");
}

void HostTree::AddCard(const std::string& address, const std::string& number) {
  const std::string pci = "/sys/bus/pci/devices/" + address;
  const std::string node = fmt::format("{}/tenstorrent/tenstorrent!{}", pci, number);
  const std::string hwmon = fmt::format("{}/hwmon/hwmon3", pci);
  files_.insert({
      {pci + "/vendor", "0x1e52"},
      {pci + "/device", "0xb140"},
      {pci + "/uevent", "DRIVER=tenstorrent\nPCI_CLASS=120000\nPCI_ID=1E52:B140"},
      {pci + "/resource",
       "0x0000004020000000 0x000000403fffffff 0x000000000014220c\n"
       "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
       "0x0000004040000000 0x00000040400fffff 0x000000000014220c\n"
       "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
       "0x0000004800000000 0x0000004fffffffff 0x000000000014220c"},
      {pci + "/numa_node", "-1"},
      {pci + "/iommu_group/type", "DMA-FQ"},
      {pci + "/current_link_speed", "32.0 GT/s PCIe"},
      {pci + "/max_link_speed", "32.0 GT/s PCIe"},
      {pci + "/current_link_width", "16"},
      {pci + "/max_link_width", "16"},
      {pci + "/../max_link_speed", "32.0 GT/s PCIe"},
      {pci + "/../max_link_width", "16"},
      {node + "/tt_aiclk", "800"},
      {node + "/tt_heartbeat", kMoves},
      {node + "/tt_fw_bundle_ver", "19.4.0.0"},
      {node + "/tt_therm_trip_count", "0"},
      {hwmon + "/name", "blackhole"},
      {hwmon + "/temp1_input", "45500"},
      {hwmon + "/temp1_max", "90000"},
      {fmt::format("/proc/driver/tenstorrent/{}/pids", number), ""},
      {fmt::format("/dev/tenstorrent/{}", number), ""},
  });
}

void HostTree::Set(const std::string& path, const std::optional<std::string>& text) {
  std::erase_if(files_, [&](const auto& file) {
    return file.first == path || file.first.starts_with(path + "/");
  });
  if (text.has_value()) files_[path] = *text;
}

std::optional<std::string> HostTree::ReadText(const std::string& path) {
  const auto file = files_.find(path);
  if (file == files_.end() || file->second == kUnreadable) return std::nullopt;
  return file->second == kMoves ? std::to_string(++beats_) : file->second;
}

std::vector<std::string> HostTree::List(const std::string& folder) {
  const std::string prefix = folder == "/" ? folder : folder + "/";
  std::set<std::string> names;
  for (const auto& [path, text] : files_) {
    if (!path.starts_with(prefix)) continue;
    const std::string below = path.substr(prefix.size());
    names.insert(below.substr(0, below.find('/')));
  }
  return {names.begin(), names.end()};
}

int HostTree::Open(const std::string& path) {
  if (answers_.open_error != 0) return -answers_.open_error;
  if (!files_.contains(path)) return -ENOENT;
  ++open_;
  return kDescriptor + std::stoi(path.substr(kNode.size()));
}

int HostTree::Close(int descriptor) {
  EXPECT_GE(descriptor, kDescriptor);
  --open_;
  return 0;
}

int HostTree::Ioctl(int descriptor, uint32_t request, void* argument) {
  if (request == kmd::kGetDeviceInfo) {
    auto& call = *static_cast<kmd::DeviceInfoCall*>(argument);
    call.vendor = 0x1E52;
    call.device = answers_.device;
    const int number = descriptor - kDescriptor;
    call.bus_device_function = static_cast<uint16_t>(answers_.bus_device_function + number * 0x100);
    return -answers_.identity_error;
  }
  if (request == kmd::kGetDriverInfo) {
    auto& call = *static_cast<kmd::DriverInfoCall*>(argument);
    const auto& [major, minor, patch] = answers_.version;
    call.written_bytes = kmd::kDriverInfoOutput;
    call.major = static_cast<uint8_t>(major);
    call.minor = static_cast<uint8_t>(minor);
    call.patch = static_cast<uint8_t>(patch);
    return 0;
  }
  auto& call = *static_cast<kmd::LockControlCall*>(argument);
  EXPECT_EQ(request, kmd::kLockControl) << "not a harmless call";
  EXPECT_EQ(call.operation, kmd::kLockTest);
  call.value = answers_.locked ? 2 : 0;
  return -answers_.lock_error;
}

int HostTree::Map(int, uint64_t, size_t, kmd::Mapping*) {
  ADD_FAILURE() << "maps a window";
  return -EINVAL;
}

int HostTree::Unmap(const kmd::Mapping&) { return -EINVAL; }

}  // namespace ttfd
