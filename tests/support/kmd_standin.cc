#include "tests/support/kmd_standin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/hw/pcie.h"

namespace ttfd {
namespace {

constexpr uint16_t kBusDeviceFunction = 0x0300;  // 0000:03:00.0
constexpr uint32_t kMostDmaBufferLog2 = 28;
constexpr kmd::DriverVersion kDeadDescriptors = {2, 6, 0};
constexpr kmd::DriverVersion kWithdrawnMappings = {2, 7, 0};
constexpr kmd::DriverVersion kReclaimedWindows = {2, 10, 0};

template <typename T>
T* As(void* argument) {
  return static_cast<T*>(argument);
}

// Fills at most as many bytes of output as the caller has space for, zeroes the rest of them.
template <typename Call>
void FillOutput(Call* call, const Call& known, size_t known_bytes) {
  constexpr size_t kInput = sizeof(uint32_t);
  auto* const output = reinterpret_cast<std::byte*>(call) + kInput;
  std::memset(output, 0, call->output_bytes);
  std::memcpy(output, reinterpret_cast<const std::byte*>(&known) + kInput,
              std::min<size_t>(call->output_bytes, known_bytes));
}

// What the model refuses of the host is a mistake of the backend; a fault of device code is the card's business.
bool Accepted(const Status& status) {
  if (status.code() == StatusCode::kInvalidArgument) ADD_FAILURE() << status.ToString();
  return status.ok();
}

}  // namespace

// The driver does not learn of a fault of device code; the rest of the chip continues.
bool KmdStandin::LetTimePass(uint64_t clocks) {
  const StatusOr<AdvanceResult> advanced = port_->Advance(clocks);
  return !advanced.ok() || advanced->quiescent;
}

int KmdStandin::Open(const std::string& path) {
  if (const int error = calls_.Begin({.kind = StandinEvent::kOpen}); error != 0) return -error;
  if (!number_.has_value() || path != fmt::format("/dev/tenstorrent/{}", *number_) ||
      !options_.module_loaded) {
    return -ENOENT;
  }
  const int descriptor = next_descriptor_++;
  descriptors_[descriptor] = {.descriptor = descriptor};
  return descriptor;
}

int KmdStandin::Close(int descriptor) {
  const int error = calls_.Begin({.kind = StandinEvent::kClose});
  const auto found = descriptors_.find(descriptor);
  if (found == descriptors_.end() || !found->second.open) return -EBADF;
  found->second.open = false;
  ReleaseIfUnused(descriptor);
  return -error;
}

void KmdStandin::ReleaseIfUnused(int descriptor) {
  const File& file = descriptors_.at(descriptor);
  if (file.open || file.mappings != 0) return;
  if (file.cleanup.has_value() && !file.dead && number_.has_value() && !silent_) {
    const kmd::NocCleanupCall& word = *file.cleanup;
    (void)Accepted(
        windows_.WriteAsDriver({word.x, word.y}, word.address, static_cast<uint32_t>(word.data)));
  }
  pins_.ReleaseAllOf(descriptor);
  std::erase_if(locks_, [descriptor](const auto& lock) { return lock.second == descriptor; });
  windows_.ReleaseAllOf(descriptor);
  descriptors_.erase(descriptor);
}

int KmdStandin::Ioctl(int descriptor, uint32_t request, void* argument) {
  const int failure = calls_.Begin({.kind = StandinEvent::kIoctl, .id = request});
  LetTimePass(options_.clocks_per_call);
  const auto found = descriptors_.find(descriptor);
  if (found == descriptors_.end() || !found->second.open) return -EBADF;
  if (found->second.dead) return -ENODEV;
  if (failure == kRefusedInAnswer) {
    if (request == kmd::kResetDevice) As<kmd::ResetDeviceCall>(argument)->result = 1;
    return 0;
  }
  if (failure != 0) return -failure;
  const bool always = request == kmd::kGetDeviceInfo || request == kmd::kGetDriverInfo ||
                      request == kmd::kResetDevice;
  if (reset_.under_way && !always) return -ENODEV;
  return -Answer(found->second, request, argument);
}

int KmdStandin::Answer(File& file, uint32_t request, void* argument) {
  const int owner = file.descriptor;
  switch (request) {
    case kmd::kGetDeviceInfo:
      return AnswerDeviceInfo(As<kmd::DeviceInfoCall>(argument));
    case kmd::kGetDriverInfo:
      return AnswerDriverInfo(As<kmd::DriverInfoCall>(argument));
    case kmd::kLockControl:
      return AnswerLock(file, As<kmd::LockControlCall>(argument));
    case kmd::kResetDevice:
      return AnswerReset(file, As<kmd::ResetDeviceCall>(argument));
    case kmd::kSetNocCleanup:
      return AnswerCleanup(file, *As<kmd::NocCleanupCall>(argument));
    case kmd::kSetPowerState:
      return AnswerPower(file, *As<kmd::PowerStateCall>(argument));
    case kmd::kPinPages:
      return pins_.Pin(owner, As<kmd::PinPagesCall>(argument));
    case kmd::kUnpinPages:
      return pins_.Unpin(owner, *As<kmd::UnpinPagesCall>(argument));
    case kmd::kAllocateWindow:
      return windows_.Allocate(owner, As<kmd::AllocateWindowCall>(argument));
    case kmd::kFreeWindow:
      return windows_.Free(owner, *As<kmd::FreeWindowCall>(argument));
    case kmd::kConfigureWindow:
      return windows_.Configure(owner, *As<kmd::ConfigureWindowCall>(argument));
    default:
      return EINVAL;
  }
}

int KmdStandin::AnswerDriverInfo(kmd::DriverInfoCall* call) const {
  const bool old = options_.version < kmd::kOldestDriver;
  kmd::DriverInfoCall known = {};
  known.written_bytes = old ? kmd::kDriverInfoOutputBefore2 : kmd::kDriverInfoOutput;
  known.api = old ? 1 : 2;
  known.major = static_cast<uint8_t>(options_.version.major);
  known.minor = static_cast<uint8_t>(options_.version.minor);
  known.patch = static_cast<uint8_t>(options_.version.patch);
  FillOutput(call, known, known.written_bytes);
  return 0;
}

int KmdStandin::AnswerDeviceInfo(kmd::DeviceInfoCall* call) const {
  kmd::DeviceInfoCall known = {};
  known.written_bytes = kmd::kDeviceInfoOutput;
  known.vendor = hw::kPciVendorId;
  known.device = options_.device_id;
  known.bus_device_function = kBusDeviceFunction;
  known.max_dma_buffer_log2 = kMostDmaBufferLog2;
  FillOutput(call, known, kmd::kDeviceInfoOutput);
  return 0;
}

int KmdStandin::AnswerLock(const File& file, kmd::LockControlCall* call) {
  if (call->index >= kmd::kLocks) return EINVAL;
  const auto held = locks_.find(call->index);
  const bool ours = held != locks_.end() && held->second == file.descriptor;
  switch (call->operation) {
    case kmd::kLockAcquire:
      call->value = locks_.emplace(call->index, file.descriptor).second ? 1 : 0;
      return 0;
    case kmd::kLockRelease:
      call->value = ours ? 1 : 0;
      if (ours) locks_.erase(held);
      return 0;
    case kmd::kLockTest:
      call->value = static_cast<uint8_t>((ours ? 1 : 0) | (held != locks_.end() ? 2 : 0));
      return 0;
    default:
      return EINVAL;
  }
}

int KmdStandin::AnswerReset(const File& file, kmd::ResetDeviceCall* call) {
  if (options_.version < kmd::kFirstReset) return EINVAL;
  if (call->flags != kmd::kResetAsic && call->flags != kmd::kPostReset) return EINVAL;
  kmd::ResetDeviceCall known = {};
  known.written_bytes = kmd::kResetDeviceOutput;
  reset_.under_way = call->flags == kmd::kResetAsic;
  if (reset_.under_way) {
    LoseState(file.descriptor);
    silent_ = false;
    if (reset_.on_begin) reset_.on_begin();
  }
  const kmd::ResetDeviceCall input = *call;
  *call = known;
  call->output_bytes = input.output_bytes;
  call->flags = input.flags;
  return 0;
}

int KmdStandin::AnswerCleanup(File& file, const kmd::NocCleanupCall& call) const {
  if (options_.version < kmd::kFirstCleanup || call.bytes != sizeof(call) || call.flags != 0 ||
      call.reserved != 0 || call.address % 4 != 0 || call.x > 64 || call.y > 64) {
    return EINVAL;
  }
  file.cleanup = call.enabled != 0 ? std::optional(call) : std::nullopt;
  return 0;
}

// A flag beyond those that are valid counts as wanted.
int KmdStandin::AnswerPower(File& file, const kmd::PowerStateCall& call) const {
  const uint32_t flags = call.validity & 0xFu;
  if (options_.version < kmd::kFirstPower || call.bytes != sizeof(call) || call.flags != 0 ||
      call.reserved != 0 || flags == 0xF) {
    return EINVAL;
  }
  file.power = static_cast<uint16_t>(call.power_flags | 0x7FFFu << flags);
  return 0;
}

uint16_t KmdStandin::power() const {
  uint16_t all = 0;
  for (const auto& [descriptor, file] : descriptors_) all |= file.power;
  return all;
}

void KmdStandin::LoseState(int but) {
  (void)port_->Reset();
  for (auto& [descriptor, file] : descriptors_) {
    file.dead = descriptor != but && options_.version >= kDeadDescriptors;
  }
  pins_.DiscardRegions();
  if (options_.version >= kReclaimedWindows) windows_.ReclaimAll();
  if (options_.version >= kWithdrawnMappings) windows_.WithdrawMappings();
}

void KmdStandin::ResetByAnother() {
  LoseState(-1);
  silent_ = options_.version < kWithdrawnMappings;
}

void KmdStandin::Remove() {
  ResetByAnother();
  for (auto& [descriptor, file] : descriptors_) file.dead = true;
  reset_.under_way = false;
  number_.reset();
}

void KmdStandin::ComeBackAs(uint32_t number) {
  number_ = number;
  silent_ = false;
}

int KmdStandin::Map(int descriptor, uint64_t offset, size_t size, kmd::Mapping* mapping) {
  const int failure = calls_.Begin({StandinEvent::kMap, 0, offset, size});
  const auto found = descriptors_.find(descriptor);
  if (found == descriptors_.end() || !found->second.open) return -EBADF;
  if (found->second.dead || reset_.under_way) return -ENODEV;
  if (failure != 0) return -failure;
  const int error = windows_.Map(descriptor, offset, size, mapping);
  if (error == 0) ++found->second.mappings;
  return -error;
}

int KmdStandin::Unmap(const kmd::Mapping& mapping) {
  calls_.Begin({.kind = StandinEvent::kUnmap});
  int owner = 0;
  if (const int error = windows_.Unmap(mapping, &owner); error != 0) return -error;
  --descriptors_.at(owner).mappings;
  ReleaseIfUnused(owner);
  return 0;
}

std::optional<std::string> KmdStandin::ReadText(const std::string& path) {
  if (path == "/sys/module/tenstorrent/version") {
    return options_.module_loaded ? std::optional(options_.version.ToString()) : std::nullopt;
  }
  const std::map<std::string, std::string> attributes = {
      {"iommu_group/type", options_.iommu ? "DMA-FQ" : "identity"},
      {"numa_node", std::to_string(options_.numa_node)},
      {"current_link_speed", "16.0 GT/s PCIe"},  // a slot of the generation before
      {"max_link_speed", "32.0 GT/s PCIe"},
      {"current_link_width", "16"},
      {"max_link_width", "16"}};
  if (const std::string folder = "/sys/bus/pci/devices/0000:03:00.0/"; path.starts_with(folder)) {
    const auto attribute = attributes.find(path.substr(folder.size()));
    return attribute == attributes.end() ? std::nullopt : std::optional(attribute->second);
  }
  if (path == "/proc/driver/tenstorrent/0/pids" && !options_.pids.empty()) return options_.pids;
  return std::nullopt;
}

std::vector<std::string> KmdStandin::List(const std::string& folder) {
  if (!number_.has_value()) return {};
  if (folder == "/dev/tenstorrent") return {fmt::format("{}", *number_)};
  if (folder != "/sys/bus/pci/devices/0000:03:00.0/tenstorrent") return {};
  return {fmt::format("tenstorrent!{}", *number_)};
}

StandinMapping* KmdStandin::Find(StandinEvent::Kind access, const kmd::Mapping& mapping,
                                 uint64_t offset, uint64_t bytes) {
  StandinMapping* const found = windows_.Find(mapping);
  if (found == nullptr || offset + bytes > found->size) {
    ADD_FAILURE() << "an access outside any mapping";
    return nullptr;
  }
  calls_.Begin({access, found->window, offset, bytes});
  return found->withdrawn ? nullptr : found;
}

bool KmdStandin::Load(const kmd::Mapping& mapping, uint64_t offset, uint32_t* value) {
  LetTimePass(options_.clocks_per_call);
  StandinMapping* const found = Find(StandinEvent::kLoad, mapping, offset, sizeof(*value));
  if (found == nullptr) return false;
  EXPECT_FALSE(found->write_combining) << "a load through a write-combining mapping";
  EXPECT_EQ(offset % 4, 0u) << "a misaligned load";
  if (silent_ || !Accepted(windows_.Load(*found, offset, value))) *value = ~0u;
  return true;
}

bool KmdStandin::Store(const kmd::Mapping& mapping, uint64_t offset, uint32_t value,
                       uint32_t width) {
  StandinMapping* const found = Find(StandinEvent::kStore, mapping, offset, width);
  if (found == nullptr) return false;
  EXPECT_FALSE(found->write_combining) << "an ordered store through a write-combining mapping";
  EXPECT_TRUE((width == 1 || width == 2 || width == 4) && offset % width == 0)
      << "a misaligned store";
  if (!silent_) (void)Accepted(windows_.Store(*found, offset, BytesOf(value).first(width)));
  return true;
}

bool KmdStandin::StoreBulk(const kmd::Mapping& mapping, uint64_t offset, ByteSpan words) {
  StandinMapping* const found = Find(StandinEvent::kBulkStore, mapping, offset, words.size());
  if (found == nullptr) return false;
  EXPECT_TRUE(found->write_combining) << "a bulk store through an uncached mapping";
  EXPECT_EQ((offset | words.size()) % 4, 0u) << "a bulk store of something other than words";
  if (!silent_) windows_.Combine(*found, offset, words);
  return true;
}

void KmdStandin::StoreFence() {
  calls_.Begin({.kind = StandinEvent::kFence});
  if (!silent_) (void)Accepted(windows_.Drain());
}

}  // namespace ttfd
