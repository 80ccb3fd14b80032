// Who plays which part on a card, and how harts are put into words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/abi/engine_balance.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/version.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/boot/hart_state.h"
#include "runtime/hw/noc.h"

namespace ttfd::boot_test {
namespace {

using testing::HasSubstr;

DeviceInfo Card() {
  DeviceInfo info;
  info.tensix_columns = {1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14};
  info.dram_port_xy[0] = {1, 2, 3, 4, 5, 6, 7};
  info.dram_port_xy[1] = {11, 12, 13, 14, 15, 16, 17};
  return info;
}

RingSizes Sizes() { return {4 << 20, 1024, 1534, 256 << 10, 128 << 10, 512 << 10, 128, 128}; }

TEST(BootPlan, GivesTheLastColumnToDispatchAndTheRestToWorkers) {
  for (uint32_t queue : {0u, 1u}) {
    const auto plan = PlanBoot(Card(), Sizes(), queue, 0x1000'0000'0000'0000);
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    EXPECT_EQ(plan->prefetch_tile, (hw::Coordinate{14, 2 + 2 * queue}));
    EXPECT_EQ(plan->dispatch_tile, (hw::Coordinate{14, 3 + 2 * queue}));
    EXPECT_EQ(plan->worker_start, (hw::Coordinate{1, 2}));
    EXPECT_EQ(plan->worker_end, (hw::Coordinate{13, 11}));
    EXPECT_EQ(plan->worker_count(), 110u);
    EXPECT_EQ(plan->WorkerTile(7 + 11), (hw::Coordinate{10, 3})) << "columns 8 and 9 are no Tensix";
    EXPECT_EQ(plan->banks.dram_banks, 7u);
    EXPECT_EQ(plan->banks.dram_xy[1][6], 17u);
    EXPECT_EQ(plan->banks.l1_banks, 110u);
    EXPECT_EQ(plan->banks.l1_xy[109], hw::NocXy(13, 11));
  }
  EXPECT_EQ(PlanBoot(Card(), Sizes(), 2, 0).status().code(), StatusCode::kInvalidArgument);
}

TEST(BootPlan, PlacesRingsWithoutOverlap) {
  const RingSizes sizes = Sizes();
  const auto plan = *PlanBoot(Card(), sizes, 0, 0x1000'0000'0000'0000);
  const abi::BootBlock& block = plan.block;
  EXPECT_EQ(plan.max_entry_bytes, 128u << 10);
  EXPECT_EQ(block.issue_ring_high, 0x10000000u);
  EXPECT_EQ(block.issue_ring_low, abi::kIssueRingOffset);
  EXPECT_GE(block.completion_ring_low, abi::kIssueRingOffset + sizes.issue_ring_bytes);
  EXPECT_EQ(block.completion_ring_low % 4096, 0u);
  EXPECT_GE(block.command_ring_address, block.fetch_queue_address + 2 * sizes.fetch_queue_entries);
  EXPECT_EQ(block.command_ring_address % 64, 0u);
  EXPECT_EQ(block.scratch_address, block.command_ring_address + sizes.command_ring_bytes);
  EXPECT_EQ(block.dispatch_s_ring_address, block.dispatch_ring_address + 128 * 4096);
}

TEST(BootPlan, KeepsAllHostAddressesBehindOneHighWord) {
  const uint64_t bytes = HostQueueBytes(Sizes());
  constexpr uint64_t kEnd = 0x1400'0000'0000'0000;  // of the window to the host
  const auto plan = PlanBoot(Card(), Sizes(), 0, kEnd - bytes);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  for (const uint32_t high : {plan->block.issue_ring_high, plan->block.completion_ring_high,
                              plan->block.completion_pointer_high}) {
    EXPECT_EQ(high, 0x13FF'FFFFu);
  }
  EXPECT_EQ(plan->block.completion_pointer_low,
            static_cast<uint32_t>(0u - bytes) + abi::kCompletionPointerOffset);
  constexpr uint64_t kBoundary = 0x13FF'FFFF'0000'0000;
  EXPECT_TRUE(PlanBoot(Card(), Sizes(), 0, kBoundary - bytes).ok());
  EXPECT_TRUE(PlanBoot(Card(), Sizes(), 0, kBoundary).ok());
  EXPECT_EQ(PlanBoot(Card(), Sizes(), 0, kBoundary - bytes + 4096).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(BootPlan, PutsTheQueueIntoThePrefetchTileWhereHostMemoryIsNotReached) {
  RingSizes sizes = Sizes();
  EXPECT_EQ(PlanBoot(Card(), sizes, 0, std::nullopt).status().code(), StatusCode::kInvalidArgument)
      << "4 MiB of entries do not fit in L1";
  sizes.issue_ring_bytes = 336 << 10;
  sizes.completion_ring_pages = 64;
  const auto plan = PlanBoot(Card(), sizes, 1, std::nullopt);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  const abi::BootBlock& block = plan->block;
  EXPECT_EQ(block.pcie_xy, block.prefetch_xy);
  EXPECT_GE(plan->host_queue_address, block.ringbuffer_address + sizes.ringbuffer_bytes);
  EXPECT_EQ(block.completion_pointer_low, plan->host_queue_address);
  EXPECT_EQ(block.issue_ring_low, plan->host_queue_address + abi::kIssueRingOffset);
  EXPECT_EQ(block.issue_ring_low % 64, 0u);
  EXPECT_EQ(block.completion_ring_low % 4096, 0u);
  EXPECT_EQ(block.issue_ring_high | block.completion_ring_high | block.completion_pointer_high, 0u);
  EXPECT_LE(plan->host_queue_address + HostQueueBytes(sizes), hw::kL1Bytes);
  sizes.completion_ring_pages = 65;
  EXPECT_EQ(PlanBoot(Card(), sizes, 1, std::nullopt).status().code(), StatusCode::kInvalidArgument);
}

TEST(BootPlan, RefusesACardWithoutRoomForDispatch) {
  DeviceInfo info = Card();
  info.tensix_columns = {1};
  EXPECT_EQ(PlanBoot(info, Sizes(), 0, 0).status().code(), StatusCode::kFailedPrecondition);
  info = Card();
  info.dram_port_xy[1].pop_back();
  EXPECT_EQ(PlanBoot(info, Sizes(), 0, 0).status().code(), StatusCode::kFailedPrecondition);
}

TEST(HartState, IsPutIntoWords) {
  EXPECT_EQ(HartName(hw::kTrisc2), "TRISC2");
  EXPECT_EQ(HartStateName(abi::kHartRefused), "refused");
  EXPECT_EQ(HartStateName(99), "unknown state");
  EXPECT_EQ(WaypointName(abi::kWaypointGo), "GW");
  EXPECT_EQ(WaypointName(0), "none");
  EXPECT_EQ(WaypointMeaning(0x12345678), "");
  for (const uint32_t waypoint :
       {abi::kWaypointBoot, abi::kWaypointFetch, abi::kWaypointStall, abi::kWaypointCredit,
        abi::kWaypointCompletion, abi::kWaypointWorkers, abi::kWaypointDone}) {
    EXPECT_NE(WaypointMeaning(waypoint), "");
  }
  abi::HartStatus status{};
  status.fault_code = abi::kFaultUnknownCommand;
  status.fault_detail[0] = 77;
  status.fault_detail[1] = 0x1A040;
  EXPECT_THAT(DescribeFault(status), HasSubstr("unknown command 77 at 0x1a040"));
  for (uint32_t code = 0; code <= abi::kFaultLinkNotConnected; ++code) {
    status.fault_code = code;
    EXPECT_FALSE(DescribeFault(status).empty());
  }
}

TEST(HartStatus, OneThatAKernelWroteOver_NamesNoProgram) {
  abi::HartStatus status{};
  status.state = abi::kHartReady;
  status.waypoint = abi::kWaypointKernel;
  status.protocol_version = abi::kProtocolVersion;
  status.command = 7;
  EXPECT_EQ(ProgramOf(status), 7u);
  const auto with = [&status](uint32_t abi::HartStatus::*word, uint32_t value) {
    abi::HartStatus changed = status;
    changed.*word = value;
    return changed;
  };
  for (const abi::HartStatus& overwritten :
       {with(&abi::HartStatus::state, 99), with(&abi::HartStatus::waypoint, 0x21),
        with(&abi::HartStatus::protocol_version, 4376)}) {
    EXPECT_TRUE(IsOverwritten(overwritten));
    EXPECT_EQ(ProgramOf(overwritten), 0u);
  }
  abi::HartStatus refused = with(&abi::HartStatus::protocol_version, 4376);
  refused.state = abi::kHartRefused;
  EXPECT_FALSE(IsOverwritten(refused)) << "firmware of another version";
}

// The text of what these instructions leave in an engine; empty: nothing.
template <typename... Instruction>
std::string LeftBy(Instruction... instructions) {
  abi::HartStatus status{};
  status.fault_code = abi::kFaultEngineInUse;
  status.fault_detail[0] = (abi::EngineBalanceOf(instructions) + ...);
  const std::string text = DescribeFault(status);
  const std::string prefix = "the launch's kernels left the Tensix engine in use: ";
  EXPECT_TRUE(text.starts_with(prefix)) << text;
  return text.substr(prefix.size());
}

TEST(EngineBalance, NamesWhatInstructionsLeave) {
  namespace isa = hw::tensix;
  constexpr auto kFillA = isa::UNPACR{}.set_dat_valid(1);
  constexpr auto kFillB = isa::UNPACR_NOP{}.unpacker(1).set_dvalid(1);
  constexpr auto kPost = isa::SEMPOST{}.sem_sel(1u << 3);
  constexpr auto kGet = isa::SEMGET{}.sem_sel(1u << 3);
  EXPECT_EQ(LeftBy(isa::UNPACR{}, isa::UNPACR_NOP{}, isa::ELWADD{}, isa::SEMWAIT{}.sem_sel(8)), "");
  EXPECT_EQ(LeftBy(kFillA), "SrcA: 1 bank filled and not freed");
  EXPECT_EQ(LeftBy(kFillB, kFillB), "SrcB: 2 banks filled and not freed");
  EXPECT_EQ(LeftBy(isa::SETDVALID{}.setvalid(3)),
            "SrcA: 1 bank filled and not freed; SrcB: 1 bank filled and not freed");
  EXPECT_EQ(LeftBy(isa::MVMUL{}.clear_dvalid(1)), "SrcA: 1 bank freed and not filled");
  EXPECT_EQ(LeftBy(isa::SETRWC{}.clear_dvalid(2), isa::CLEARDVALID{}.clear_dvalid(2)),
            "SrcB: 2 banks freed and not filled");
  for (const uint32_t balance : {abi::EngineBalanceOf(isa::ELWADD{}.clear_dvalid(3)),
                                 abi::EngineBalanceOf(isa::ELWSUB{}.clear_dvalid(3)),
                                 abi::EngineBalanceOf(isa::ELWMUL{}.clear_dvalid(3)),
                                 abi::EngineBalanceOf(isa::GMPOOL{}.clear_dvalid(3)),
                                 abi::EngineBalanceOf(isa::GAPOOL{}.clear_dvalid(3))}) {
    EXPECT_EQ(balance + abi::EngineBalanceOf(kFillA) + abi::EngineBalanceOf(kFillB), 0u);
  }
  EXPECT_EQ(LeftBy(kPost, kPost, kGet), "semaphore 3: 1 more posted than got");
  EXPECT_EQ(LeftBy(isa::SEMINIT{}.sem_sel(1u << 7).init_value(2).max_value(2), kFillA),
            "SrcA: 1 bank filled and not freed; semaphore 7: 2 more posted than got");
  EXPECT_EQ(LeftBy(kGet, isa::ELWADD{}.clear_dvalid(3), kFillB),
            "SrcA: 1 bank freed and not filled; semaphore 3: 1 more got than posted");
  uint32_t balance = 0;  // of many tiles, on harts with a count each
  for (uint32_t i = 0; i < 100'000; ++i)
    balance += abi::EngineBalanceOf(kFillA) + abi::EngineBalanceOf(kPost);
  for (uint32_t i = 0; i < 100'000; ++i)
    balance += abi::EngineBalanceOf(kGet) + abi::EngineBalanceOf(isa::SETRWC{}.clear_dvalid(1));
  EXPECT_EQ(balance, 0u);
}

}  // namespace
}  // namespace ttfd::boot_test
