// Host memory: the device reads and writes it through the PCIe tile.
#include <algorithm>
#include <cstring>

#include "runtime/hw/pcie.h"
#include "tests/conformance/device_fixture.h"

namespace ttfd::host_memory_test {
namespace {

class HostMemoryTest : public DeviceTest {
 protected:
  std::unique_ptr<HostMemory> Allocate(uint64_t size) {
    StatusOr<std::unique_ptr<HostMemory>> memory = device().AllocateHostMemory(size);
    EXPECT_TRUE(memory.ok()) << memory.status().ToString();
    return std::move(memory).value();
  }
  static void Fill(HostMemory& memory, uint32_t seed) {
    const std::vector<uint32_t> pattern = Pattern(memory.bytes().size() / 4, seed);
    std::memcpy(memory.bytes().data(), pattern.data(), memory.bytes().size());
  }
};

TEST_P(HostMemoryTest, IsZeroPageAlignedAndReachable) {
  const std::unique_ptr<HostMemory> memory = Allocate(8 << 20);
  const MutableByteSpan bytes = memory->bytes();
  EXPECT_EQ(bytes.size(), size_t{8} << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % 4096, 0u);
  EXPECT_GE(memory->noc_address(), hw::kHostMemoryNocBase);
  EXPECT_TRUE(
      std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; }));

  Fill(*memory, 3);
  const uint64_t last = memory->noc_address() + bytes.size() - 16384;
  Rv32Asm a;
  EmitNoc(a, NocRead(kTile, hw::kPcieTranslated, last, 0x10000, 16384));
  EmitNoc(a, NocWrite(kTile, 0x10000, hw::kPcieTranslated, memory->noc_address() + 64, 16384));
  Run(a);
  EXPECT_EQ(std::memcmp(bytes.data() + 64, bytes.data() + bytes.size() - 16384, 16384), 0);
  std::vector<uint32_t> l1 = ReadWords(kTile, 0x10000, 4096);
  EXPECT_EQ(std::memcmp(l1.data(), bytes.data() + 64, 16384), 0);
}

TEST_P(HostMemoryTest, SeveralAllocationsDoNotMeet) {
  std::vector<std::unique_ptr<HostMemory>> memories;
  for (const uint64_t size : {4096, 100000, 1 << 20, 4097}) {
    memories.push_back(Allocate(size));
    Fill(*memories.back(), static_cast<uint32_t>(size));
  }
  memories[1].reset();
  memories.push_back(Allocate(65536));
  Fill(*memories.back(), 9);
  Rv32Asm a;
  uint32_t to = 0x10000;
  for (const auto& memory : memories) {
    if (memory != nullptr) {
      EmitNoc(a, NocRead(kTile, hw::kPcieTranslated, memory->noc_address(), to, 64));
    }
    to += 64;
  }
  Run(a);
  to = 0x10000;
  for (const auto& memory : memories) {
    if (memory != nullptr) {
      const std::vector<uint32_t> words = ReadWords(kTile, to, 16);
      EXPECT_EQ(std::memcmp(words.data(), memory->bytes().data(), 64), 0);
    }
    to += 64;
  }
}

TEST_P(HostMemoryTest, WhatWasFreedIsGivenAgainZeroed) {
  const auto is_zero = [](std::byte b) { return b == std::byte{}; };
  for (int i = 0; i < 100; ++i) {
    const std::unique_ptr<HostMemory> memory = Allocate(1 << 20);
    const MutableByteSpan bytes = memory->bytes();
    ASSERT_TRUE(std::all_of(bytes.begin(), bytes.end(), is_zero));
    std::fill(bytes.begin(), bytes.end(), std::byte{1});
  }
}

TEST_P(HostMemoryTest, SurvivesAReset) {
  const std::unique_ptr<HostMemory> memory = Allocate(65536);
  Fill(*memory, 5);
  ASSERT_TRUE(device().Reset().ok());
  Rv32Asm a;
  EmitNoc(a, NocRead(kTile, hw::kPcieTranslated, memory->noc_address() + 128, 0x10000, 4));
  Run(a);
  EXPECT_EQ(ReadWord(kTile, 0x10000), LoadAt<uint32_t>(memory->bytes().data() + 128));
}

TEST_P(HostMemoryTest, AllocationsEndSomewhere) {
  EXPECT_EQ(device().AllocateHostMemory(0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(device().AllocateHostMemory(uint64_t{1} << 40).status().code(),
            StatusCode::kResourceExhausted);
  std::vector<std::unique_ptr<HostMemory>> memories;
  for (;;) {
    ASSERT_LE(memories.size(), 1024u);
    StatusOr<std::unique_ptr<HostMemory>> memory = device().AllocateHostMemory(1 << 20);
    if (!memory.ok()) {
      EXPECT_EQ(memory.status().code(), StatusCode::kResourceExhausted);
      break;
    }
    memories.push_back(std::move(memory).value());
  }
  EXPECT_GE(memories.size(), 4u);
  memories.pop_back();
  EXPECT_TRUE(device().AllocateHostMemory(1 << 20).ok());
}

TEST_P(HostMemoryTest, MemoryThatWasFreedIsOutOfReach) {
  if (!GetParam().reports_faults)
    GTEST_SKIP() << "the backend does not report faults of device code";
  std::unique_ptr<HostMemory> memory = Allocate(4096);
  Rv32Asm a;
  EmitNoc(a, NocRead(kTile, hw::kPcieTranslated, memory->noc_address(), 0x10000, 64));
  EmitDone(a);
  memory.reset();
  Load(kTile, a);
  Start(kTile);
  EXPECT_EQ(Await(kTile, kDone, 1).code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(device().Reset().ok());
}

TEST_P(HostMemoryTest, APacketMayNotLeaveItsAllocation) {
  if (!GetParam().reports_faults)
    GTEST_SKIP() << "the backend does not report faults of device code";
  const std::unique_ptr<HostMemory> memory = Allocate(65536);
  const std::unique_ptr<HostMemory> next = Allocate(65536);
  Rv32Asm a;
  EmitNoc(a, NocRead(kTile, hw::kPcieTranslated, memory->noc_address() + 65536 - 64, 0x10000, 128));
  EmitDone(a);
  Load(kTile, a);
  Start(kTile);
  EXPECT_EQ(Await(kTile, kDone, 1).code(), StatusCode::kFailedPrecondition);
}

TTFD_FOR_EVERY_BACKEND(HostMemoryTest);

}  // namespace
}  // namespace ttfd::host_memory_test
