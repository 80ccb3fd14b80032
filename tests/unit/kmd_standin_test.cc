// The stand-in for the driver answers as the driver does, also what the backend never calls it for.
#include "tests/support/kmd_standin.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <functional>

#include "runtime/hw/pcie.h"
#include "tests/support/kmd_on_standin.h"

namespace ttfd::kmd_standin_test {
namespace {

using kmd::kPinForNoc;
using kmd::kPinTopDown;

class KmdStandinTest : public testing::Test {
 protected:
  static constexpr uint64_t kPage = 4096;

  KmdStandinTest()
      : driver_(MakeKmdStandin("sim:board=p150").value()),
        ours_(driver_->Open(KmdStandin::kNode)),
        theirs_(driver_->Open(KmdStandin::kNode)),
        pages_(static_cast<std::byte*>(mmap(nullptr, 16 * kPage, PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~KmdStandinTest() override { munmap(pages_, 16 * kPage); }

  kmd::PinPagesCall PinCall(uint64_t first, uint64_t pages, uint32_t flags) {
    kmd::PinPagesCall call;
    call.output_bytes = kmd::kPinPagesOutput;
    call.flags = flags;
    call.address = reinterpret_cast<uint64_t>(pages_) + first * kPage;
    call.bytes = pages * kPage;
    return call;
  }
  int Pin(kmd::PinPagesCall call) { return driver_->Ioctl(ours_, kmd::kPinPages, &call); }
  int Unpin(int descriptor, uint64_t first, uint64_t pages, uint64_t reserved = 0) {
    kmd::UnpinPagesCall call = {reinterpret_cast<uint64_t>(pages_) + first * kPage, pages * kPage,
                                reserved};
    return driver_->Ioctl(descriptor, kmd::kUnpinPages, &call);
  }
  kmd::AllocateWindowCall Allocate() {
    kmd::AllocateWindowCall call;
    call.bytes = hw::kTlbWindow2MBytes;
    EXPECT_EQ(driver_->Ioctl(ours_, kmd::kAllocateWindow, &call), 0);
    return call;
  }
  int Configure(int descriptor, uint32_t id, uint64_t address) {
    kmd::ConfigureWindowCall call;
    call.id = id;
    call.config.address = address;
    return driver_->Ioctl(descriptor, kmd::kConfigureWindow, &call);
  }
  int Free(int descriptor, uint32_t id) {
    kmd::FreeWindowCall call = {id};
    return driver_->Ioctl(descriptor, kmd::kFreeWindow, &call);
  }
  uint8_t Lock(int descriptor, uint32_t operation) {
    kmd::LockControlCall call;
    call.operation = operation;
    call.index = 63;
    EXPECT_EQ(driver_->Ioctl(descriptor, kmd::kLockControl, &call), 0);
    return call.value;
  }

  const std::unique_ptr<KmdStandin> driver_;
  const int ours_;
  const int theirs_;
  std::byte* const pages_;
};

TEST_F(KmdStandinTest, PinsAreChecked) {
  kmd::PinPagesCall odd_address = PinCall(0, 1, kPinForNoc);
  odd_address.address += 8;
  kmd::PinPagesCall odd_size = PinCall(0, 1, kPinForNoc);
  odd_size.bytes -= 8;
  kmd::PinPagesCall unmapped = PinCall(0, 1, kPinForNoc);
  unmapped.address = kPage;
  const struct {
    kmd::PinPagesCall call;
    int result;
  } kCases[] = {
      {odd_address, -EINVAL},
      {odd_size, -EINVAL},
      {PinCall(0, 0, kPinForNoc), -EINVAL},
      {PinCall(0, 1, 16), -EINVAL},
      {unmapped, -EFAULT},
      {PinCall(0, 2, kPinForNoc), 0},
      {PinCall(0, 2, kPinForNoc), -EEXIST},
      {PinCall(0, 3, kPinForNoc), 0},  // an overlap is no duplicate
      {PinCall(4, 1, kmd::kPinContiguous | kmd::kPinReadOnly), 0},
  };
  for (const auto& [call, result] : kCases) EXPECT_EQ(Pin(call), result) << call.bytes;
  EXPECT_EQ(Unpin(ours_, 0, 1), -EINVAL);
  EXPECT_EQ(Unpin(theirs_, 0, 2), -EINVAL);
  EXPECT_EQ(Unpin(ours_, 0, 2, 1), -EINVAL);
  EXPECT_EQ(Unpin(ours_, 0, 2), 0);
  EXPECT_EQ(Unpin(ours_, 0, 2), -EINVAL);
}

TEST_F(KmdStandinTest, NocAddressesAreFirstFitFromTheEndThatIsNamed) {
  const auto address = [&](uint64_t first, uint64_t pages, uint32_t flags) {
    kmd::PinPagesCall call = PinCall(first, pages, flags);
    EXPECT_EQ(driver_->Ioctl(ours_, kmd::kPinPages, &call), 0);
    return call.noc_address;
  };
  constexpr uint64_t kBase = hw::kHostMemoryNocBase;
  constexpr uint64_t kEnd = kBase + (uint64_t{1} << 58);
  EXPECT_EQ(address(0, 2, kPinForNoc), kBase);
  EXPECT_EQ(address(2, 1, kPinForNoc), kBase + 2 * kPage);
  EXPECT_EQ(address(3, 1, kPinForNoc), kBase + 3 * kPage);
  EXPECT_EQ(Unpin(ours_, 2, 1), 0);
  EXPECT_EQ(address(4, 2, kPinForNoc), kBase + 4 * kPage);
  EXPECT_EQ(address(6, 1, kPinForNoc), kBase + 2 * kPage);
  EXPECT_EQ(address(7, 2, kPinTopDown), kEnd - 2 * kPage);
  EXPECT_EQ(address(9, 1, kPinTopDown), kEnd - 3 * kPage);
  EXPECT_EQ(address(10, 1, 0), 0u);
}

TEST_F(KmdStandinTest, WindowsBelongToTheirDescriptor) {
  const kmd::AllocateWindowCall window = Allocate();
  kmd::Mapping mapping;
  EXPECT_EQ(Configure(theirs_, window.id, 0), -EPERM);
  EXPECT_EQ(Configure(ours_, window.id, 4096), -EINVAL);
  EXPECT_EQ(Configure(ours_, hw::kTlbWindowKernel, 0), -EINVAL);
  EXPECT_EQ(Configure(ours_, window.id, 0), 0);
  EXPECT_EQ(driver_->Map(theirs_, window.uncached_offset, 4096, &mapping), -EPERM);
  EXPECT_EQ(driver_->Map(ours_, window.uncached_offset, 2 * hw::kTlbWindow2MBytes, &mapping),
            -EINVAL);
  EXPECT_EQ(driver_->Map(ours_, window.uncached_offset, hw::kTlbWindow2MBytes, &mapping), 0);
  EXPECT_EQ(Free(theirs_, window.id), -EPERM);
  EXPECT_EQ(Free(ours_, window.id), -EBUSY);
  EXPECT_EQ(driver_->Unmap({mapping.begin, 4096}), -EINVAL);
  EXPECT_EQ(driver_->Unmap(mapping), 0);
  EXPECT_EQ(Free(ours_, window.id), 0);
  kmd::AllocateWindowCall odd;
  odd.bytes = 1 << 20;
  EXPECT_EQ(driver_->Ioctl(ours_, kmd::kAllocateWindow, &odd), -EINVAL);
}

TEST_F(KmdStandinTest, ThereAre201Windows) {
  for (uint32_t i = 0; i < hw::kTlbWindowKernel; ++i) Allocate();
  kmd::AllocateWindowCall call;
  call.bytes = hw::kTlbWindow2MBytes;
  EXPECT_EQ(driver_->Ioctl(theirs_, kmd::kAllocateWindow, &call), -ENOMEM);
}

TEST_F(KmdStandinTest, LocksBelongToTheirDescriptor) {
  EXPECT_EQ(Lock(ours_, kmd::kLockTest), 0);
  EXPECT_EQ(Lock(ours_, kmd::kLockAcquire), 1);
  EXPECT_EQ(Lock(theirs_, kmd::kLockAcquire), 0);
  EXPECT_EQ(Lock(ours_, kmd::kLockTest), 3);
  EXPECT_EQ(Lock(theirs_, kmd::kLockTest), 2);
  EXPECT_EQ(Lock(theirs_, kmd::kLockRelease), 0);
  EXPECT_EQ(Lock(ours_, kmd::kLockRelease), 1);
  EXPECT_EQ(Lock(theirs_, kmd::kLockAcquire), 1);
}

// A mapping keeps what a descriptor owned, as a file in use does.
TEST_F(KmdStandinTest, CloseAndTheLastUnmapEndEverything) {
  const kmd::AllocateWindowCall window = Allocate();
  kmd::Mapping mapping;
  ASSERT_EQ(driver_->Map(ours_, window.uncached_offset, hw::kTlbWindow2MBytes, &mapping), 0);
  ASSERT_EQ(Pin(PinCall(0, 1, kPinForNoc)), 0);
  EXPECT_EQ(Lock(ours_, kmd::kLockAcquire), 1);
  ASSERT_EQ(driver_->Close(ours_), 0);
  EXPECT_EQ(driver_->Close(ours_), -EBADF);
  EXPECT_EQ(driver_->windows().in_use(), 1u);
  EXPECT_EQ(Lock(theirs_, kmd::kLockAcquire), 0);
  ASSERT_EQ(driver_->Unmap(mapping), 0);
  EXPECT_EQ(driver_->windows().in_use(), 0u);
  EXPECT_EQ(driver_->pins().count(), 0u);
  EXPECT_EQ(Lock(theirs_, kmd::kLockAcquire), 1);
}

TEST_F(KmdStandinTest, AnUnknownCallIsRefused) {
  EXPECT_EQ(driver_->Ioctl(ours_, 0xFA63, nullptr), -EINVAL);
  EXPECT_EQ(driver_->Ioctl(4, kmd::kFreeWindow, nullptr), -EBADF);
  EXPECT_EQ(driver_->Open("/dev/tenstorrent/1"), -ENOENT);
}

TEST_F(KmdStandinTest, CombinedStoresArriveWithTheFenceAlone) {
  const kmd::AllocateWindowCall window = Allocate();
  kmd::Mapping uncached;
  kmd::Mapping combining;
  ASSERT_EQ(driver_->Map(ours_, window.uncached_offset, hw::kTlbWindow2MBytes, &uncached), 0);
  ASSERT_EQ(driver_->Map(ours_, window.write_combining_offset, hw::kTlbWindow2MBytes, &combining),
            0);
  kmd::ConfigureWindowCall call;
  call.id = window.id;
  call.config.x_end = 1;
  call.config.y_end = 2;
  ASSERT_EQ(driver_->Ioctl(ours_, kmd::kConfigureWindow, &call), 0);
  const uint32_t word = 77;
  uint32_t found = 0;
  EXPECT_TRUE(driver_->StoreBulk(combining, 64, BytesOf(word)));
  EXPECT_TRUE(driver_->Load(uncached, 64, &found));
  EXPECT_EQ(found, 0u);
  driver_->StoreFence();
  EXPECT_TRUE(driver_->Load(uncached, 64, &found));
  EXPECT_EQ(found, 77u);
}

}  // namespace
}  // namespace ttfd::kmd_standin_test
