// Which tile plays which part and where the rings lie.
#include "runtime/boot/boot_plan.h"

#include <algorithm>

#include "runtime/abi/control_block.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/launch.h"
#include "runtime/abi/rings.h"
#include "runtime/abi/version.h"
#include "runtime/base/bits.h"
#include "runtime/hw/noc.h"

namespace ttfd {
namespace {

// The smallest rings that the firmware works with and that take what is sent to see whether a card works.
constexpr uint32_t kMinCommandRingBytes = 8 * 1024;
constexpr uint32_t kMinIssueRingBytes = 32 * 1024;
constexpr uint32_t kMinScratchBytes = 512;
constexpr uint32_t kMinRingbufferBytes = 512;
constexpr uint32_t kMinDispatchPages = 4;
constexpr uint32_t kMinDispatchSPages = 4;
constexpr uint32_t kMinFetchEntries = 16;
constexpr uint32_t kMinCompletionPages = 2;
// On dispatch tiles everything from here up is rings.
constexpr uint32_t kRingsAddress = abi::kConfigRingAddress;

Status CheckSize(const char* name, uint64_t value, uint64_t least, uint64_t most,
                 uint64_t multiple) {
  if (value >= least && value <= most && value % multiple == 0) return OkStatus();
  return InvalidArgument("{} is {}; a multiple of {} from {} to {} is allowed", name, value,
                         multiple, least, most);
}

Status CheckSizes(const RingSizes& sizes) {
  constexpr uint32_t kL1 = hw::kL1Bytes;
  RETURN_IF_ERROR(CheckSize("issue_ring_bytes", sizes.issue_ring_bytes, kMinIssueRingBytes,
                            1u << 30, abi::kEntryAlignment));
  RETURN_IF_ERROR(CheckSize("completion_ring_pages", sizes.completion_ring_pages,
                            kMinCompletionPages, 1u << 18, 1));
  RETURN_IF_ERROR(
      CheckSize("fetch_queue_entries", sizes.fetch_queue_entries, kMinFetchEntries, 1u << 14, 1));
  RETURN_IF_ERROR(CheckSize("command_ring_bytes", sizes.command_ring_bytes, kMinCommandRingBytes,
                            kL1, abi::kEntryAlignment));
  RETURN_IF_ERROR(CheckSize("scratch_bytes", sizes.scratch_bytes, kMinScratchBytes, kL1, 128));
  RETURN_IF_ERROR(
      CheckSize("ringbuffer_bytes", sizes.ringbuffer_bytes, kMinRingbufferBytes, kL1, 64));
  RETURN_IF_ERROR(
      CheckSize("dispatch_ring_pages", sizes.dispatch_ring_pages, kMinDispatchPages, 300, 1));
  return CheckSize("dispatch_s_ring_pages", sizes.dispatch_s_ring_pages, kMinDispatchSPages, 1024,
                   1);
}

Status CheckFits(const char* tile, uint64_t end) {
  if (end <= hw::kL1Bytes) return OkStatus();
  return InvalidArgument("the rings of the {} tile need {} bytes of L1; there are {}", tile,
                         end - kRingsAddress, hw::kL1Bytes - kRingsAddress);
}

// Places the memory that the dispatch harts take for the host's.
Status PlaceHostQueue(const RingSizes& sizes, uint64_t host_memory, abi::BootBlock& block) {
  const auto low = [](uint64_t address) { return static_cast<uint32_t>(address); };
  const auto high = [](uint64_t address) { return static_cast<uint32_t>(address >> 32); };
  const uint64_t last = host_memory + HostQueueBytes(sizes) - 1;
  if (high(last) != high(host_memory)) {
    return InvalidArgument(
        "host memory of a queue from {:#x} to {:#x}; no multiple of 4 GiB may lie in it",
        host_memory, last);
  }
  const uint64_t issue = host_memory + abi::kIssueRingOffset;
  const uint64_t completion = host_memory + CompletionRingOffset(sizes);
  const uint64_t pointer = host_memory + abi::kCompletionPointerOffset;
  block.issue_ring_low = low(issue);
  block.issue_ring_high = high(issue);
  block.issue_ring_bytes = sizes.issue_ring_bytes;
  block.completion_ring_low = low(completion);
  block.completion_ring_high = high(completion);
  block.completion_ring_pages = sizes.completion_ring_pages;
  block.completion_pointer_low = low(pointer);
  block.completion_pointer_high = high(pointer);
  return OkStatus();
}

// Places the rings on the tiles. `host_queue`: also the host's memory, on the prefetch tile; where it begins.
Status PlaceRings(const RingSizes& sizes, uint32_t* host_queue, abi::BootBlock& block) {
  block.fetch_queue_address = kRingsAddress;
  block.fetch_queue_entries = sizes.fetch_queue_entries;
  block.command_ring_address =
      AlignUp<uint32_t>(kRingsAddress + sizes.fetch_queue_entries * 2, abi::kEntryAlignment);
  block.command_ring_bytes = sizes.command_ring_bytes;
  block.scratch_address = block.command_ring_address + sizes.command_ring_bytes;
  block.scratch_bytes = sizes.scratch_bytes;
  block.ringbuffer_address = block.scratch_address + sizes.scratch_bytes;
  block.ringbuffer_bytes = sizes.ringbuffer_bytes;
  uint64_t end = uint64_t{block.ringbuffer_address} + sizes.ringbuffer_bytes;
  if (host_queue != nullptr) {
    *host_queue = static_cast<uint32_t>(AlignUp<uint64_t>(end, abi::kCompletionPageBytes));
    end = *host_queue + HostQueueBytes(sizes);
  }
  RETURN_IF_ERROR(CheckFits("prefetch", end));

  block.dispatch_ring_address = kRingsAddress;
  block.dispatch_ring_pages = sizes.dispatch_ring_pages;
  block.dispatch_s_ring_address =
      kRingsAddress + sizes.dispatch_ring_pages * abi::kDispatchPageBytes;
  block.dispatch_s_ring_pages = sizes.dispatch_s_ring_pages;
  return CheckFits("dispatch",
                   block.dispatch_s_ring_address +
                       uint64_t{sizes.dispatch_s_ring_pages} * abi::kDispatchSPageBytes);
}

uint32_t Xy(hw::Coordinate tile) { return hw::NocXy(tile.x, tile.y); }

Status FillBanks(const DeviceInfo& info, const BootPlan& plan, abi::BankTable& banks) {
  const size_t dram = info.dram_port_xy[0].size();
  if (dram == 0 || dram > hw::kDramBanks || info.dram_port_xy[1].size() != dram) {
    return Error(StatusCode::kFailedPrecondition, "the card has {} DRAM banks; 1 to {} are usable",
                 dram, hw::kDramBanks);
  }
  banks.dram_banks = static_cast<uint32_t>(dram);
  for (uint32_t noc = 0; noc < 2; ++noc) {
    for (size_t bank = 0; bank < dram; ++bank) {
      banks.dram_xy[noc][bank] = static_cast<uint16_t>(info.dram_port_xy[noc][bank]);
    }
  }
  banks.l1_banks = plan.worker_count();
  for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
    banks.l1_xy[worker] = static_cast<uint16_t>(Xy(plan.WorkerTile(worker)));
  }
  return OkStatus();
}

std::string TileName(uint32_t hardware_queue, const char* role) {
  return hardware_queue == 0 ? role : fmt::format("CQ{} {}", hardware_queue, role);
}

}  // namespace

std::string PrefetchTileName(uint32_t hardware_queue) {
  return TileName(hardware_queue, "prefetch");
}
std::string DispatchTileName(uint32_t hardware_queue) {
  return TileName(hardware_queue, "dispatch");
}

uint64_t CompletionRingOffset(const RingSizes& sizes) {
  return AlignUp<uint64_t>(abi::kIssueRingOffset + sizes.issue_ring_bytes,
                           abi::kCompletionPageBytes);
}

uint64_t HostQueueBytes(const RingSizes& sizes) {
  return CompletionRingOffset(sizes) +
         uint64_t{sizes.completion_ring_pages} * abi::kCompletionPageBytes;
}

StatusOr<BootPlan> PlanBoot(const DeviceInfo& info, const RingSizes& sizes, uint32_t hardware_queue,
                            std::optional<uint64_t> host_memory) {
  RETURN_IF_ERROR(CheckSizes(sizes));
  if (hardware_queue >= abi::kMaxHardwareQueues) {
    return InvalidArgument("hardware queue {}; there are {}", hardware_queue,
                           abi::kMaxHardwareQueues);
  }
  if (info.tensix_columns.size() < 2 || info.tensix_columns.size() > hw::kTensixColumns) {
    return Error(StatusCode::kFailedPrecondition,
                 "the card has {} Tensix columns; at least 2 are needed: workers and dispatch",
                 info.tensix_columns.size());
  }
  BootPlan plan;
  plan.worker_columns.assign(info.tensix_columns.begin(), info.tensix_columns.end() - 1);
  const uint32_t pool = info.tensix_columns.back();
  plan.worker_start = {plan.worker_columns.front(), hw::kTensixFirstRow};
  plan.worker_end = {plan.worker_columns.back(), hw::kTensixFirstRow + hw::kTensixRows - 1};
  plan.prefetch_tile = {pool, hw::kTensixFirstRow + 2 * hardware_queue};
  plan.dispatch_tile = {pool, hw::kTensixFirstRow + 2 * hardware_queue + 1};
  // An empty ring takes an entry of half its size wherever its position stands.
  plan.max_entry_bytes =
      std::min({abi::kMaxEntryBytes, sizes.command_ring_bytes / 2, sizes.issue_ring_bytes / 2}) &
      ~(abi::kEntryAlignment - 1);

  abi::BootBlock& block = plan.block;
  block.magic = abi::kMagic;
  block.protocol_version = abi::kProtocolVersion;
  block.hardware_queue = hardware_queue;
  block.prefetch_xy = Xy(plan.prefetch_tile);
  block.dispatch_xy = Xy(plan.dispatch_tile);
  block.pcie_xy = host_memory ? Xy(hw::kPcieTranslated) : block.prefetch_xy;
  block.worker_start_xy = Xy(plan.worker_start);
  block.worker_end_xy = Xy(plan.worker_end);
  block.worker_count = static_cast<uint32_t>(plan.worker_columns.size()) * hw::kTensixRows;
  block.first_worker_stream = abi::kFirstWorkerStream;
  RETURN_IF_ERROR(PlaceRings(sizes, host_memory ? nullptr : &plan.host_queue_address, block));
  RETURN_IF_ERROR(PlaceHostQueue(sizes, host_memory.value_or(plan.host_queue_address), block));
  RETURN_IF_ERROR(FillBanks(info, plan, plan.banks));
  return plan;
}

}  // namespace ttfd
