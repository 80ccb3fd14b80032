// Kernels that write over what another session's launches need, on its tile or on the tiles of its hardware queue, and
// end well. The session that meets the damage may have to send again; it is never named as the cause.
#include <gmock/gmock.h>

#include "runtime/abi/l1_map.h"
#include "runtime/hw/tensix.h"
#include "tests/fault/hang_zoo/strike.h"
#include "tests/support/daemon_on_device.h"
#include "tests/support/zoo_kernel.h"

namespace ttfd {
namespace {

constexpr uint32_t kVictim = 5 | 5 << 16;    // worker (5,5)
constexpr uint32_t kAttacker = 3 | 2 << 16;  // worker (3,2)
constexpr uint32_t kOnes = 0xFFFF'FFFF;
constexpr uint32_t kJumpToSelf = 0x0000'006F;

struct Damage {
  const char* name;
  uint32_t tile;
  uint32_t address;
  uint32_t bytes;
  uint32_t word;
};

constexpr uint32_t kFirmware = abi::kFirmwareAddress[hw::kBrisc];
constexpr uint32_t kFirmwareEnd = abi::kPrintRingAddress;

constexpr Damage kDamages[] = {
    {"KernelsZeroed", kVictim, abi::kKernelCacheAddress, abi::kKernelCacheBytes, 0},
    {"KernelsOnes", kVictim, abi::kKernelCacheAddress, abi::kKernelCacheBytes, kOnes},
    {"KernelsJumpToSelf", kVictim, abi::kKernelCacheAddress, abi::kKernelCacheBytes, kJumpToSelf},
    {"HartsHeld", kVictim, hw::kSoftReset0, 4, hw::kSoftResetAllHarts},
    {"BootBlockOnes", kVictim, abi::kBootBlockAddress, sizeof(abi::BootBlock), kOnes},
    {"BankTableZeroed", kVictim, abi::kBankTableAddress, sizeof(abi::BankTable), 0},
    {"BankTableOnes", kVictim, abi::kBankTableAddress, sizeof(abi::BankTable), kOnes},
    {"FirmwareZeroed", kVictim, kFirmware, kFirmwareEnd - kFirmware, 0},
    {"FirmwareOnes", kVictim, kFirmware, kFirmwareEnd - kFirmware, kOnes},
    {"FirmwareJumpToSelf", kVictim, kFirmware, kFirmwareEnd - kFirmware, kJumpToSelf},
    {"HartStatusOnes", kVictim, abi::kHartStatusAddress, hw::kHarts * sizeof(abi::HartStatus),
     kOnes},
    {"GoAreaOnes", kVictim, abi::kGoAreaAddress, 0x80, kOnes},
    {"LaunchRingOnes", kVictim, abi::kLaunchRingAddress, abi::kLaunchSlots* abi::kLaunchSlotBytes,
     kOnes},
    {"ConfigRingOnes", kVictim, abi::kConfigRingAddress, abi::kConfigRingBytes, kOnes},
    {"AllOfItsOwnTile", kAttacker, 0, hw::kL1Bytes, 0},
    {"PrefetchTileZeroed", zoo::kPrefetchTile, 0, hw::kL1Bytes, 0},
    {"DispatchTileZeroed", zoo::kDispatchTile, 0, hw::kL1Bytes, 0},
};

void PrintTo(const Damage& damage, std::ostream* to) { *to << damage.name; }

constexpr uint32_t kTimeoutMs = 300;

class DirectedDamage : public DaemonOnDevice, public ::testing::WithParamInterface<Damage> {
 protected:
  // A launch that adds pages of DRAM on worker (5,5).
  static LaunchRequest Add() {
    LaunchRequest launch = LaunchOf(5, kTimeoutMs);
    ArgumentsRequest arguments;
    arguments.common = {0, 0, 0, kPage};
    arguments.words_per_core = 2;
    arguments.per_core = {0, 1};
    arguments.buffers = {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}};
    launch.arguments.push_back(std::move(arguments));
    return launch;
  }
  // Sends it again until it ends well: every error says that this may be done.
  static void AddOnce(ThreadedClient& victim) {
    constexpr int kTries = 3;
    for (int i = 0; i < kTries; ++i) {
      const size_t known = victim.errors().size();
      victim.Send({Add()}, known == 0 ? 0 : victim.errors().back().first_value);
      victim.WaitFor(victim.sent());
      if (victim.errors().size() == known) return;
      const ErrorReply& error = victim.errors().back().error;
      ASSERT_EQ(error.reason, "DEVICE_RESET") << error.message;
      ASSERT_TRUE(error.retryable);
    }
    ADD_FAILURE() << "it never ends well: " << victim.errors().back().error.message;
  }
  void Strike(const Damage& damage) {
    ThreadedClient attacker(*core);
    LaunchRequest strike = LaunchOf(3, kTimeoutMs);
    strike.arguments.push_back(
        {0, {damage.tile, damage.address, damage.bytes, damage.word}, {}, 0, {}});
    attacker.Send({ZooKernel(2, "strike_brisc"), ProgramOf(3, 2, {3, 2, 3, 2}), strike});
    attacker.WaitFor(attacker.sent());
  }
};

TEST_P(DirectedDamage, NamesNoSessionThatOnlyMeetsIt) {
  ThreadedClient victim(*core);
  victim.Send({BufferOf(1, kPage), BufferOf(2, kPage), BufferOf(3, kPage),
               KernelOf(4, "vector_add"), ProgramOf(5, 4, {5, 5, 5, 5})});
  ASSERT_NO_FATAL_FAILURE(AddOnce(victim));
  constexpr int kAttacks = 8;
  for (int attack = 0; attack < kAttacks; ++attack) {
    Strike(GetParam());
    for (int i = 0; i < 3; ++i) ASSERT_NO_FATAL_FAILURE(AddOnce(victim)) << attack;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DirectedDamage, ::testing::ValuesIn(kDamages),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace ttfd
