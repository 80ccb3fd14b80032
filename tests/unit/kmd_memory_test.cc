// Host memory over the driver: what it refuses, and what is made of the addresses it gives.
#include "runtime/base/bits.h"
#include "runtime/hw/pcie.h"
#include "tests/support/kmd_fixture.h"

namespace ttfd {
namespace {

class KmdMemory : public KmdTest {
 protected:
  Status Allocate(uint64_t bytes) { return device().AllocateHostMemory(bytes).status(); }
};

TEST_F(KmdMemory, LiesWhereTheDriverSays) {
  Open();
  const std::unique_ptr<HostMemory> first = device().AllocateHostMemory(5000).value();
  EXPECT_EQ(first->noc_address(), hw::kHostMemoryNocBase);
  EXPECT_EQ(first->bytes().size(), 8192u);
  std::unique_ptr<HostMemory> second = device().AllocateHostMemory(4096).value();
  EXPECT_EQ(second->noc_address(), hw::kHostMemoryNocBase + 8192);
  EXPECT_EQ(standin().pins().count(), 2u);
  second.reset();
  EXPECT_EQ(standin().pins().count(), 1u);
}

TEST_F(KmdMemory, RefusalsNameTheRemedyAndLeaveNothingPinned) {
  const struct {
    int error;
    bool iommu;
    StatusCode code;
    const char* says;
  } kCases[] = {
      {ENOSPC, true, StatusCode::kResourceExhausted, "all 16 outbound iATU regions"},
      {ENOMEM, true, StatusCode::kResourceExhausted,
       "could not pin 65536 bytes of host memory: free memory"},
      {EFAULT, true, StatusCode::kFailedPrecondition, "see dmesg"},
      {EINVAL, true, StatusCode::kFailedPrecondition, "refused to pin 65536 bytes"},
      {EINVAL, false, StatusCode::kFailedPrecondition, "turn on the IOMMU"},
      {ENODEV, true, StatusCode::kUnavailable, "reset or removed"},
  };
  for (const auto& test : kCases) {
    Open({.iommu = test.iommu});
    standin().FailNext(kmd::kPinPages, test.error);
    ExpectRefusal(Allocate(65536), test.code, test.says);
    EXPECT_EQ(standin().pins().count(), 0u);
  }
}

TEST_F(KmdMemory, WithoutIommuIsOnePage) {
  Open({.iommu = false});
  EXPECT_TRUE(Allocate(4096).ok());
  ExpectRefusal(Allocate(8192), StatusCode::kFailedPrecondition,
                "physically scattered: turn on the IOMMU");
}

TEST_F(KmdMemory, BeyondTheReachOfDeviceCodeIsUnpinned) {
  Open();
  standin().pins().TakeBelow((uint64_t{4} << 30) - 4096);
  EXPECT_TRUE(Allocate(4096).ok());
  ExpectRefusal(Allocate(8192), StatusCode::kResourceExhausted, "beyond the first 4 GiB");
  EXPECT_EQ(standin().pins().count(), 0u);
}

TEST_F(KmdMemory, BusAddressesBeyond58BitsAreUnpinned) {
  constexpr uint64_t kEnd = uint64_t{1} << 58;
  for (const uint64_t address : {kEnd - 4096, kEnd, uint64_t{0xFFFF} << 48}) {
    Open({.version = {2, 9, 0}});
    standin().pins().StartBusAddressesAt(address);
    ExpectRefusal(Allocate(8192), StatusCode::kFailedPrecondition, "install tt-kmd 2.10");
    EXPECT_EQ(standin().pins().count(), 0u);
  }
}

TEST_F(KmdMemory, RegionsAreSharedWithOtherProcesses) {
  Open();
  const int other = OpenAsAnother();
  std::vector<std::byte> pages(3 * 4096);
  kmd::PinPagesCall call;
  call.output_bytes = kmd::kPinPagesOutput;
  call.flags = kmd::kPinForNoc;
  call.address = AlignUp<uint64_t>(reinterpret_cast<uint64_t>(pages.data()), 4096);
  for (uint64_t bytes : {4096, 8192}) {
    call.bytes = bytes;
    ASSERT_EQ(standin().Ioctl(other, kmd::kPinPages, &call), 0);
  }
  std::vector<std::unique_ptr<HostMemory>> memories;
  for (uint32_t i = 2; i < hw::kIatuRegions; ++i) {
    memories.push_back(device().AllocateHostMemory(4096).value());
  }
  EXPECT_EQ(Allocate(4096).code(), StatusCode::kResourceExhausted);
  standin().Close(other);
  EXPECT_TRUE(Allocate(4096).ok());
}

}  // namespace
}  // namespace ttfd
