// The doctor on prepared hosts: which check finds what, with which cause, fix and exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "runtime/base/clock.h"
#include "runtime/device/kmd/doctor/doctor.h"
#include "runtime/device/kmd/kmd_device.h"
#include "tests/support/host_tree.h"
#include "tests/support/kmd_on_standin.h"

namespace ttfd {
namespace {

using kmd::CheckResult;
using kmd::DoctorCheck;
using kmd::DoctorReport;
using testing::HasSubstr;

constexpr auto kOk = CheckResult::kOk;
constexpr auto kInUse = CheckResult::kInUse;
constexpr auto kWarning = CheckResult::kWarning;
constexpr auto kFailed = CheckResult::kFailed;
constexpr auto kSkipped = CheckResult::kSkipped;
constexpr auto kUnknown = CheckResult::kUnknown;
constexpr auto kGone = std::nullopt;
constexpr auto kUnreadable = HostTree::kUnreadable;

struct Change {
  std::string path;
  std::optional<std::string> text;  // none: removed, as a file or as a folder
};

struct Expected {
  const char* check;
  CheckResult result;
  int exit_code = 0;
  const char* says = "";  // in what was found or in the cause
  const char* fix = "";
};

struct Case {
  const char* name;
  std::vector<Change> changes;
  NodeAnswers node;
  std::vector<Expected> expected;  // every other check is ok
  int exit_code;
};

std::string Pci(const char* file) { return HostTree::kPci + std::string(file); }
std::string Telemetry(const char* file) { return HostTree::kTelemetry + std::string(file); }
std::string Free(const std::string& folder, const char* size) {
  return folder + "/hugepages-" + size + "/free_hugepages";
}

constexpr char kModule[] = "/sys/module/tenstorrent/version";
constexpr char kModuleFolder[] = "/sys/module/tenstorrent";
constexpr char kNode[] = "/dev/tenstorrent/0";
constexpr char kPids[] = "/proc/driver/tenstorrent/0/pids";
constexpr char kSecureBoot[] = "/sys/firmware/efi/efivars/SecureBoot-8be4df61";
constexpr char kAllPages[] = "/sys/kernel/mm/hugepages";
constexpr char kNearPages[] = "/sys/devices/system/node/node2/hugepages";
constexpr char kCgroup[] = "/sys/fs/cgroup/user.slice/hugetlb.1GB.max";
constexpr char kSmallCgroup[] = "/sys/fs/cgroup/user.slice/user-1000.slice/hugetlb.2MB.max";
const std::string kNoGroup = Pci("/iommu_group");
const std::string kEmptyEvent = "PCI_CLASS=120000";
const std::string kNoBars =
    "0x0000000000000000 0x000000001fffffff 0x0000000020142208\n\n"
    "0x00000000fc000000 0x00000000fc0fffff 0x000000000014220c\n\n"
    "0x0000000000000000 0x00000007ffffffff 0x000000002014220c";

// Of a card that the driver has not taken.
std::vector<Expected> WithoutNode(std::vector<Expected> expected) {
  for (const char* const check :
       {"node", "firmware", "firmware version", "temperature", "users", "sensors"}) {
    expected.push_back({check, kSkipped, 0, "has made no node"});
  }
  return expected;
}

std::vector<Change> Unbound(std::vector<Change> changes) {
  changes.push_back({Pci("/tenstorrent"), kGone});
  changes.push_back({Pci("/hwmon"), kGone});
  return changes;
}

std::vector<Expected> WithoutModule(const char* cause, const char* fix) {
  return WithoutNode({{"driver", kFailed, 10, cause, fix},
                      {"driver version", kSkipped},
                      {"binding", kSkipped, 0, "not loaded"}});
}

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

class KmdDoctor : public testing::TestWithParam<Case> {
 protected:
  static DoctorReport Examine(HostTree& host, ManualClock* clock) {
    DoctorReport report = kmd::Examine(host, host, *clock);
    EXPECT_EQ(host.open_files(), 0u);
    return report;
  }
};

std::vector<DoctorCheck> AllChecks(const DoctorReport& report) {
  std::vector<DoctorCheck> all = report.host;
  for (const kmd::DoctorCard& card : report.cards) {
    all.insert(all.end(), card.checks.begin(), card.checks.end());
  }
  return all;
}

TEST_P(KmdDoctor, FindsWhatIsWrong) {
  const Case& test = GetParam();
  HostTree host;
  for (const auto& [path, text] : test.changes) host.Set(path, text);
  host.Answer(test.node);
  ManualClock clock;
  const DoctorReport report = Examine(host, &clock);
  size_t met = 0;
  for (const DoctorCheck& check : AllChecks(report)) {
    SCOPED_TRACE(check.name + ": " + check.found);
    Expected expected = {check.name.c_str(), kOk};
    for (const Expected& one : test.expected) {
      if (one.check != check.name) continue;
      expected = one;
      ++met;
    }
    EXPECT_EQ(CheckResultName(check.result), CheckResultName(expected.result));
    EXPECT_EQ(check.exit_code, expected.exit_code);
    EXPECT_THAT(check.found + " | " + check.cause, HasSubstr(expected.says));
    EXPECT_THAT(check.fix, HasSubstr(expected.fix));
    EXPECT_NE(check.found, "");
    EXPECT_EQ(check.cause.empty(), check.exit_code == 0);
    EXPECT_EQ(check.fix.empty(), check.exit_code == 0);
  }
  EXPECT_EQ(met, test.expected.size());
  EXPECT_EQ(report.exit_code, test.exit_code);
  EXPECT_LE(clock.Now().time_since_epoch(), std::chrono::seconds(2));
}

const Case kHosts[] = {
    {"Healthy", {}, {}, {}, 0},
    {"NeitherCardNorDriver",
     {{HostTree::kPci, kGone}, {kModuleFolder, kGone}},
     {},
     {{"cards", kFailed, 11, "no Blackhole (1e52:b140)", "lspci -d 1e52:"},
      {"driver", kSkipped, 0, "is not loaded"},
      {"driver version", kSkipped}},
     11},
    {"AWormholeIsNoCard",
     {{Pci("/device"), "0x401e"}},
     {},
     {{"cards", kFailed, 11, "0000:03:00.0 (1e52:401e, Wormhole)"}},
     11},
};

const Case kDrivers[] = {
    {"NoDriver",
     Unbound({{kModuleFolder, kGone}}),
     {},
     WithoutModule("not installed for the running kernel", "modprobe tenstorrent"),
     10},
    {"LockdownBlocksIt",
     Unbound({{kModuleFolder, kGone},
              {"/sys/kernel/security/lockdown", "none [integrity] confidentiality"}}),
     {},
     WithoutModule("kernel lockdown (integrity) refuses", "mokutil"),
     10},
    {"SecureBootBlocksIt",
     Unbound({{kModuleFolder, kGone}, {kSecureBoot, std::string("\6\0\0\0\1", 5)}}),
     {},
     WithoutModule("Secure Boot is on", "mokutil"),
     10},
    {"SecureBootIsOff",
     Unbound({{kModuleFolder, kGone}, {kSecureBoot, std::string("\6\0\0\0\0", 5)}}),
     {},
     WithoutModule("or was not loaded", "modprobe"),
     10},
    {"Before2",
     {{kModule, "1.34"}},
     {.version = {1, 34, 0}},
     {{"driver version", kFailed, 12, "1.34.0", "install tt-kmd 2.7.0 or later"}},
     12},
    {"LacksSomething",
     {{kModule, "2.3.0"}},
     {},
     {{"driver version", kWarning, 30, "cannot reset the card", "install tt-kmd 2.7.0"}},
     30},
    {"ItsNodeNamesTheVersion",
     {{kModule, kUnreadable}},
     {.version = {2, 6, 0}},
     {{"driver version", kWarning, 30, "2.6.0"}},
     30},
    {"ItsVersionIsUnknown",
     Unbound({{kModule, kUnreadable}, {Pci("/uevent"), kEmptyEvent}}),
     {},
     WithoutNode({{"driver version", kUnknown}, {"binding", kFailed, 11}}),
     11},
    {"RefusedTheCard",
     Unbound({{Pci("/uevent"), kEmptyEvent}}),
     {},
     WithoutNode({{"binding", kFailed, 11, "the driver refused the card", "see dmesg"}}),
     11},
    {"NoAddressesForBars",
     Unbound({{Pci("/uevent"), kEmptyEvent}, {Pci("/resource"), kNoBars}}),
     {},
     WithoutNode({{"binding", kFailed, 11, "BAR 0, BAR 4", "pci=realloc"}}),
     11},
    {"AnotherDriverHasIt",
     Unbound({{Pci("/uevent"), "DRIVER=vfio-pci"}}),
     {},
     WithoutNode({{"binding", kFailed, 11, "driver vfio-pci has it", "drivers/vfio-pci/unbind"}}),
     11},
    {"MadeNoNode",
     Unbound({}),
     {},
     WithoutNode({{"binding", kFailed, 11, "has made no node", "see dmesg"}}),
     11},
    {"WhoseTheCardIsCannotBeRead",
     Unbound({{Pci("/uevent"), kUnreadable}}),
     {},
     WithoutNode({{"binding", kUnknown}}),
     0},
};

const Case kNodes[] = {
    {"OfOtherUsers",
     {},
     {.open_error = EACCES},
     {{"node", kFailed, 13, "its mode", "60-ttfd.rules"},
      {"users", kSkipped, 0, "cannot be opened"}},
     13},
    {"OfOtherUsersInAContainer",
     {{"/.dockerenv", ""}},
     {.open_error = EACCES},
     {{"node", kFailed, 13, "this is a container (Docker)", "group ttfd-admin"},
      {"users", kSkipped}},
     13},
    {"NotInTheDevicePolicy",
     {{kPids, "412"}, {"/proc/412/comm", "ttfd"}},
     {.open_error = EPERM},
     {{"node", kFailed, 13, "device policy", "DeviceAllow=char-tenstorrent rw"},
      {"users", kSkipped, 0, "open in pid 412 (ttfd)"}},
     13},
    {"NotGivenToTheContainer",
     {{"/proc/1/cgroup", "0::/kubepods.slice/pod1"}},
     {.open_error = EPERM},
     {{"node", kFailed, 13, "(Kubernetes)", "--device /dev/tenstorrent/0"}, {"users", kSkipped}},
     13},
    {"MissesInTheContainer",
     {{"/run/.containerenv", kUnreadable}, {kNode, kGone}},
     {},
     {{"node", kFailed, 13, "(Podman) was not given it", "--device /dev/tenstorrent/0"},
      {"users", kSkipped}},
     13},
    {"Misses",
     {{kNode, kGone}},
     {},
     {{"node", kFailed, 11, "does not exist", "udevadm trigger"}, {"users", kSkipped}},
     11},
    {"OfAWormhole",
     {},
     {.device = 0x401E},
     {{"node", kFailed, 14, "a Wormhole card (1e52:401e, 0000:03:00.0)", "--device"}},
     14},
    {"OfAnotherCard",
     {},
     {.bus_device_function = 0x8300},
     {{"node", kFailed, 14, "0000:83:00.0", "--device"}},
     14},
    {"OpenExclusively",
     {},
     {.open_error = EAGAIN},
     {{"node", kFailed, 15, "O_EXCL", "stop it"}, {"users", kSkipped}},
     15},
    {"WithoutItsCard",
     {},
     {.open_error = ENODEV},
     {{"node", kFailed, 20, "being reset", "power the host off"}, {"users", kSkipped}},
     20},
    {"WhoseCardGoes",
     {},
     {.identity_error = ENODEV, .lock_error = ENODEV},
     {{"node", kFailed, 20, "its card is gone", "after a reset"}, {"users", kUnknown}},
     20},
    {"Refused",
     {},
     {.open_error = EMFILE},
     {{"node", kFailed, 21, "cannot be opened", "see dmesg"}, {"users", kSkipped}},
     21},
    {"OfUnknownIdentity",
     {},
     {.identity_error = EIO},
     {{"node", kFailed, 21, "does not say which card", "see dmesg"}},
     21},
    {"ServedByATtfd",
     {{kPids, "412\n412"}, {"/proc/412/comm", "ttfd"}},
     {.locked = true},
     {{"users", kInUse, 0, "served by pid 412 (ttfd)"}},
     0},
    {"ServedOutsideOfThisContainer",
     {{kPids, "0"}},
     {.locked = true},
     {{"users", kInUse, 0, "served by one outside of this container"}},
     0},
    {"ServedUnlisted", {{kPids, kGone}}, {.locked = true}, {{"users", kInUse, 0, "before 2.5"}}, 0},
    {"OpenInOthers",
     {{kPids, "900\n412"}, {"/proc/900/comm", "python3"}},
     {},
     {{"users", kWarning, 35, "open in pid 412, pid 900 (python3)", "stop them"}},
     35},
    {"OfUnknownUsers", {{kPids, kUnreadable}}, {}, {{"users", kUnknown, 0, "no ttfd"}}, 0},
    {"OfAnUnknownLock", {}, {.lock_error = EINVAL}, {{"users", kUnknown, 0, "its lock"}}, 0},
};

const Case kMemory[] = {
    {"NoGroup",
     {{kNoGroup, kGone}, {Free(kAllPages, "1048576kB"), "1"}},
     {},
     {{"iommu", kWarning, 31, "all memory of the host", "intel_iommu=on"},
      {"hugepages", kOk, 0, "1 free page of 1 GiB on any NUMA node"},
      {"hugetlb limit", kOk, 0, "no limit"}},
     31},
    {"NoPages",
     {{Pci("/iommu_group/type"), "identity"}, {Free(kAllPages, "2048kB"), "8"}},
     {},
     {{"iommu", kWarning, 31, "(identity)"},
      {"hugepages", kFailed, 16, "0 of 1 of 1 GiB, 8 of 9 of 2 MiB", "ttfd-hugepages"}},
     16},
    {"SmallPages",
     {{kNoGroup, kGone}, {Free(kAllPages, "2048kB"), "9"}},
     {},
     {{"iommu", kWarning, 31}, {"hugepages", kOk, 0, "no free page of 1 GiB, but 9 of 2 MiB"}},
     31},
    {"PagesOfTheNode",
     {{kNoGroup, kGone}, {Pci("/numa_node"), "2"}, {Free(kNearPages, "1048576kB"), "1"}},
     {},
     {{"iommu", kWarning, 31}, {"hugepages", kOk, 0, "on NUMA node 2"}},
     31},
    {"PagesOfAnotherNode",
     {{kNoGroup, kGone},
      {Pci("/numa_node"), "2"},
      {Free(kAllPages, "1048576kB"), "1"},
      {Free(kNearPages, "1048576kB"), "0"}},
     {},
     {{"iommu", kWarning, 31}, {"hugepages", kOk, 0, "not on the card's NUMA node 2"}},
     31},
    {"PagesCannotBeRead",
     {{kNoGroup, kGone}, {kAllPages, kGone}},
     {},
     {{"iommu", kWarning, 31}, {"hugepages", kUnknown, 0, "cannot be read"}},
     31},
    {"ATtfdHasThePages",
     {{kNoGroup, kGone}, {kPids, "412"}},
     {.locked = true},
     {{"iommu", kWarning, 31}, {"hugepages", kSkipped, 0, "already"}, {"users", kInUse}},
     31},
    {"SomeProcessMayHaveThePages",
     {{kNoGroup, kGone}, {kPids, "412"}},
     {.open_error = EACCES},
     {{"iommu", kWarning, 31},
      {"hugepages", kSkipped, 0, "already"},
      {"node", kFailed, 13},
      {"users", kSkipped}},
     13},
    {"TheGroupAboveLimitsPages",
     {{kNoGroup, kGone},
      {Free(kAllPages, "1048576kB"), "1"},
      {kCgroup, "0"},
      {kSmallCgroup, "max"}},
     {},
     {{"iommu", kWarning, 31},
      {"hugetlb limit", kFailed, 16, "of 1 GiB: 0, of 2 MiB: no limit", "hugetlb.1GB.max"}},
     16},
    {"TheLimitIsEnough",
     {{kNoGroup, kGone},
      {Free(kAllPages, "2048kB"), "9"},
      {kCgroup, "0"},
      {kSmallCgroup, "18874368"}},
     {},
     {{"iommu", kWarning, 31}},
     31},
    {"IommuCannotBeRead",
     {{Pci("/iommu_group/type"), kUnreadable}},
     {},
     {{"iommu", kUnknown},
      {"hugepages", kSkipped, 0, "is not known"},
      {"hugetlb limit", kSkipped, 0, "is not known"}},
     0},
};

const Case kCards[] = {
    {"SlowLink",
     {{Pci("/current_link_speed"), "8.0 GT/s PCIe"}, {Pci("/current_link_width"), "4"}},
     {},
     {{"pcie link", kWarning, 32, "8.0 GT/s x4, where", "seat the card"}},
     32},
    {"SlowSlot",
     {{Pci("/current_link_width"), "8"}, {Pci("/../max_link_width"), "8"}},
     {},
     {{"pcie link", kOk, 0, "32.0 GT/s x8, the most that the slot can do"}},
     0},
    {"UnknownLink", {{Pci("/current_link_speed"), "Unknown"}}, {}, {{"pcie link", kUnknown}}, 0},
    {"FirmwareReportsNothing",
     {{HostTree::kTelemetry, kGone}, {Telemetry("/dev"), "239:0"}},
     {},
     {{"firmware", kFailed, 18, "no telemetry", "reload the driver"},
      {"firmware version", kSkipped, 0, "reports nothing"},
      {"temperature", kOk, 0, "45.5 of 90.0 C, thermal events are not counted"}},
     18},
    {"FirmwareHasStopped",
     {{Telemetry("/tt_heartbeat"), "5"}},
     {},
     {{"firmware", kFailed, 18, "stays at 5", "tt-smi -r"}},
     18},
    {"HeartbeatCannotBeRead",
     {{Telemetry("/tt_heartbeat"), kUnreadable}},
     {},
     {{"firmware", kUnknown}},
     0},
    {"NoHeartbeatOfAnOldDriver",
     {{Telemetry("/tt_heartbeat"), kGone}, {kModule, "2.6.1"}},
     {},
     {{"firmware", kOk, 0, "drivers before 2.7"}, {"driver version", kWarning, 30}},
     30},
    {"NoHeartbeat", {{Telemetry("/tt_heartbeat"), kGone}}, {}, {{"firmware", kUnknown}}, 0},
    {"OldFirmware",
     {{Telemetry("/tt_fw_bundle_ver"), "18.3.0.0"}},
     {},
     {{"firmware version", kFailed, 19, "before 18.4", "tt-flash"}},
     19},
    {"OldestFirmware",
     {{Telemetry("/tt_fw_bundle_ver"), "80.18.1.0"}},
     {},
     {{"firmware version", kFailed, 19, "numbers from 80 on", "tt-flash"}},
     19},
    {"FirmwareWithoutAVersion",
     {{Telemetry("/tt_fw_bundle_ver"), "0.0.0.0"}},
     {},
     {{"firmware version", kUnknown}},
     0},
    {"WasTooHot",
     {{Telemetry("/tt_therm_trip_count"), "3"}},
     {},
     {{"temperature", kWarning, 33, "3 thermal events", "fans"}},
     33},
    {"IsHot",
     {{Pci("/hwmon/hwmon3/temp1_input"), "85000"}},
     {},
     {{"temperature", kWarning, 33, "85.0 of 90.0 C", "fans"}},
     33},
    {"NoSensorsInTheKernel",
     {{Pci("/hwmon"), kGone}, {"/sys/class/hwmon", kGone}},
     {},
     {{"sensors", kWarning, 34, "without CONFIG_HWMON", "CONFIG_HWMON"},
      {"temperature", kOk, 0, "no sensor, 0 thermal events"}},
     34},
    {"NoSensorsOfTheDriver",
     {{Pci("/hwmon"), kGone}, {Telemetry("/tt_therm_trip_count"), kGone}},
     {},
     {{"sensors", kWarning, 34, "registered none"}, {"temperature", kUnknown}},
     34},
};

std::string NameOf(const testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Host, KmdDoctor, testing::ValuesIn(kHosts), NameOf);
INSTANTIATE_TEST_SUITE_P(Driver, KmdDoctor, testing::ValuesIn(kDrivers), NameOf);
INSTANTIATE_TEST_SUITE_P(Node, KmdDoctor, testing::ValuesIn(kNodes), NameOf);
INSTANTIATE_TEST_SUITE_P(Memory, KmdDoctor, testing::ValuesIn(kMemory), NameOf);
INSTANTIATE_TEST_SUITE_P(Card, KmdDoctor, testing::ValuesIn(kCards), NameOf);

DoctorCheck Named(const kmd::DoctorCard& card, const std::string& name) {
  for (const DoctorCheck& check : card.checks) {
    if (check.name == name) return check;
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

TEST(KmdDoctorReport, EachCardHasItsBlockAndTheLowestProblemIsTheExitCode) {
  HostTree host;
  host.AddCard("0000:04:00.0", "1");
  host.Set("/sys/bus/pci/devices/0000:04:00.0/tenstorrent/tenstorrent!1/tt_fw_bundle_ver",
           "18.3.0.0");
  host.Set(Pci("/current_link_width"), "8");
  // The one page is enough for one card.
  host.Set(Pci("/iommu_group"), kGone);
  host.Set("/sys/bus/pci/devices/0000:04:00.0/iommu_group", kGone);
  host.Set(Free(kAllPages, "1048576kB"), "1");
  ManualClock clock;
  const DoctorReport report = kmd::Examine(host, host, clock);
  ASSERT_EQ(report.cards.size(), 2u);
  EXPECT_EQ(report.cards[0].pci_address, "0000:03:00.0");
  EXPECT_EQ(report.cards[1].node, "/dev/tenstorrent/1");
  EXPECT_EQ(Named(report.cards[0], "pcie link").exit_code, 32);
  EXPECT_EQ(Named(report.cards[0], "hugepages").result, kOk);
  EXPECT_EQ(Named(report.cards[1], "hugepages").exit_code, 16);
  EXPECT_EQ(Named(report.cards[1], "firmware version").exit_code, 19);
  EXPECT_EQ(report.exit_code, 16);
  EXPECT_THAT(report.host[0].found, HasSubstr("2 Blackhole: 0000:03:00.0, 0000:04:00.0"));
}

// The backend's own lock is what the doctor finds, and nothing is done to the card.
TEST(KmdDoctorReport, ACardOnTheBackendIsInUse) {
  const std::unique_ptr<KmdStandin> standin = MakeKmdStandin("sim:board=p150").value();
  HostTree host;
  ManualClock clock;
  EXPECT_EQ(Named(kmd::Examine(*standin, host, clock).cards[0], "users").result, kOk);
  const auto device =
      KmdDevice::Open(KmdStandin::kNode, standin->system(), kmd::kDefaultArenaBytes).value();
  std::vector<StandinEvent> log;
  standin->calls().Record(&log);
  const DoctorReport report = kmd::Examine(*standin, host, clock);
  standin->calls().Record(nullptr);
  EXPECT_EQ(Named(report.cards[0], "users").result, kInUse);
  EXPECT_EQ(Named(report.cards[0], "node").result, kOk);
  EXPECT_EQ(report.exit_code, 0);
  std::vector<uint32_t> requests;
  for (const StandinEvent& event : log) {
    if (event.kind == StandinEvent::kIoctl) requests.push_back(event.id);
  }
  EXPECT_THAT(requests,
              testing::ElementsAre(kmd::kGetDeviceInfo, kmd::kGetDriverInfo, kmd::kLockControl));
  EXPECT_EQ(standin->open_files(), 1u);
}

}  // namespace
}  // namespace ttfd
