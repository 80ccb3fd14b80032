// Status that a hart of ours publishes.
#include "runtime/boot/hart_state.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "runtime/abi/engine_balance.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"
#include "runtime/base/utf8.h"
#include "runtime/command/kernel_needs.h"

namespace ttfd {
namespace {

// Takes a field off the low end of a balance: what remains is that of the fields above it.
int32_t TakeBalance(uint32_t bits, uint32_t* balance) {
  const uint32_t shift = 32 - bits;
  const auto value = static_cast<int32_t>(*balance << shift) >> shift;
  *balance = (*balance - static_cast<uint32_t>(value)) >> bits;
  return value;
}

void AddDifference(const std::string& what, int32_t value, std::string_view more,
                   std::string_view less, std::string* text) {
  if (value == 0) return;
  *text += fmt::format("{}{}: {} {}", text->empty() ? "" : "; ", what, std::abs(value),
                       value > 0 ? more : less);
}

// "SrcA: 1 bank filled and not freed; semaphore 1: 2 posts without a get"
std::string DescribeBalance(uint32_t balance) {
  std::string text;
  const auto bank = [&text](const char* name, int32_t value) {
    AddDifference(name, value,
                  value == 1 ? "bank filled and not freed" : "banks filled and not freed",
                  value == -1 ? "bank freed and not filled" : "banks freed and not filled", &text);
  };
  bank("SrcA", TakeBalance(abi::kBalanceSourceABits, &balance));
  for (uint32_t i = 0; i < hw::tensix::kSemaphores; ++i) {
    AddDifference(fmt::format("semaphore {}", i), TakeBalance(abi::kBalanceSemaphoreBits, &balance),
                  "more posted than got", "more got than posted", &text);
  }
  bank("SrcB", TakeBalance(abi::kBalanceSourceBBits, &balance));
  return text;
}

// `count`: how many the program or launch gives.
std::string DescribeNotGiven(abi::Resource resource, uint32_t index, uint32_t count) {
  const bool argument = resource == abi::kArgument || resource == abi::kCommonArgument;
  std::string given = "none";
  if (index < count) {  // circular buffers may have gaps
    given = "none of that index";
  } else if (count != 0) {
    given = argument ? std::to_string(count) : fmt::format("indices below {}", count);
  }
  return fmt::format("its kernel uses {} {}; the {} gives {}", ResourceName(resource), index,
                     argument ? "launch" : "program", given);
}

}  // namespace

std::string_view HartName(uint32_t hart) {
  constexpr std::string_view kNames[hw::kHarts] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};
  return hart < hw::kHarts ? kNames[hart] : "unknown hart";
}

std::string_view HartStateName(uint32_t state) {
  constexpr std::string_view kNames[] = {"down", "ready", "refused", "stopped", "faulted"};
  return state < std::size(kNames) ? kNames[state] : "unknown state";
}

std::string WaypointName(uint32_t waypoint) {
  std::string name;
  for (int shift = 0; shift < 32; shift += 8) {
    const char letter = static_cast<char>((waypoint >> shift) & 0x7F);
    if (letter >= ' ' && letter <= '~') name.push_back(letter);
  }
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return name.empty() ? "none" : name;
}

std::string_view WaypointMeaning(uint32_t waypoint) {
  struct Entry {
    uint32_t waypoint;
    std::string_view meaning;
  };
  constexpr Entry kMeanings[] = {
      {abi::kWaypointBoot, "has started and checks its boot block"},
      {abi::kWaypointRun, "executes a command"},
      {abi::kWaypointFetch, "is idle: waits for the host to announce an entry"},
      {abi::kWaypointStall, "waits for the dispatcher to pass a WAIT"},
      {abi::kWaypointCredit, "waits for free pages of the dispatcher's ring"},
      {abi::kWaypointCreditS, "waits for free pages of dispatch_s's ring"},
      {abi::kWaypointIdle, "is idle: waits for commands"},
      {abi::kWaypointCompletion, "waits for the host to free pages of the completion ring"},
      {abi::kWaypointWait, "executes a WAIT"},
      {abi::kWaypointWorkers, "waits for workers to finish"},
      {abi::kWaypointNotify, "waits for the dispatcher to hand over a launch"},
      {abi::kWaypointNoc, "waits for NoC acknowledgements"},
      {abi::kWaypointGo, "is idle: waits for a go signal"},
      {abi::kWaypointKernel, "runs a kernel"},
      {abi::kWaypointSemaphore, "runs a kernel that waits for a semaphore"},
      {abi::kWaypointCircularBuffer, "runs a kernel that waits for pages of a circular buffer"},
      {abi::kWaypointPrint, "runs a kernel that waits for the host to take what it printed"},
      {abi::kWaypointEngine, "runs a kernel that waits for its instructions in the Tensix engine"},
      {abi::kWaypointLinkSpace, "runs a kernel that waits for the peer of a link to take segments"},
      {abi::kWaypointLink, "runs a kernel that waits for a segment from a link"},
      {abi::kWaypointSubordinates, "waits for the kernels of its tile's other harts"},
      {abi::kWaypointDone, "has stopped"},
  };
  const auto* found = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                   [&](const Entry& e) { return e.waypoint == waypoint; });
  return found == std::end(kMeanings) ? std::string_view() : found->meaning;
}

std::string_view AwaitedAt(uint32_t waypoint) {
  switch (waypoint) {
    case abi::kWaypointSemaphore:
      return "a semaphore";
    case abi::kWaypointCircularBuffer:
      return "a circular buffer";
    case abi::kWaypointPrint:
      return "its prints to be read";
    case abi::kWaypointEngine:
      return "the Tensix engine";
    case abi::kWaypointLinkSpace:
    case abi::kWaypointLink:
      return "the peer of a link";
    case abi::kWaypointNoc:
      return "the NoC";
    default:
      return "";
  }
}

std::string NoteText(const abi::HartStatus& status) {
  const bool valid = !IsOverwritten(status) && status.note_kind != 0;
  const std::string kind = valid ? Printable(WaypointName(status.note_kind)) : "";
  return kind.empty() ? "" : fmt::format("{} {}", kind, status.note);
}

bool IsOverwritten(const abi::HartStatus& status) {
  // Down: there is none yet. Refused: the version is that of other firmware.
  if (status.state == abi::kHartDown || status.state == abi::kHartRefused) return false;
  return status.state > abi::kHartFaulted || status.protocol_version != abi::kProtocolVersion ||
         WaypointMeaning(status.waypoint).empty();
}

uint32_t ProgramOf(const abi::HartStatus& brisc) {
  return IsOverwritten(brisc) ? 0 : brisc.command;
}

StatusOr<TileStatus> ReadTileStatus(Window& tile) {
  TileStatus status{};
  RETURN_IF_ERROR(tile.Read(abi::kHartStatusAddress, MutableBytesOf(status)));
  return status;
}

uint32_t ReadPc(Device& device, Window& tile, uint32_t hart) {
  if (!HasPcSnapshots(device)) return 0;
  const StatusOr<uint32_t> pc = ReadWord(tile, hw::kPcSnapshot + 4 * hart);
  return pc.ok() ? *pc : 0;
}

uint32_t EngineFaultImage(const abi::HartStatus& status, uint32_t hart) {
  const uint32_t* detail = status.fault_detail;
  const uint32_t images[] = {detail[1] & 0xFFFF, detail[1] >> 16, detail[2]};
  return hart < hw::kTrisc0 || hart >= hw::kHarts ? 0 : images[hart - hw::kTrisc0] * 16;
}

std::string BriefFault(const abi::HartStatus& status) {
  switch (status.fault_code) {
    case abi::kFaultStackOverflow:
      return "its stack overflowed";
    case abi::kFaultEngineInUse:
      return "it left the Tensix engine in use";
    case abi::kFaultNotGiven:
      return fmt::format("no {} {}",
                         ResourceName(static_cast<abi::Resource>(status.fault_detail[1] >> 16)),
                         status.fault_detail[0]);
    case abi::kFaultLinkNotConnected:
      return fmt::format("link end {} is not connected", status.fault_detail[0]);
    default:
      return DescribeFault(status);
  }
}

std::string DescribeFault(const abi::HartStatus& status) {
  const uint32_t* detail = status.fault_detail;
  const std::string command =
      fmt::format("command {} at offset {:#x}", detail[0], status.fault_offset);
  switch (status.fault_code) {
    case abi::kFaultBadBootBlock:
      return fmt::format("boot block word {} is {:#x}", detail[0], detail[1]);
    case abi::kFaultUnknownCommand:
      return fmt::format("unknown command {} at {:#x} (offset {:#x})", detail[0], detail[1],
                         status.fault_offset);
    case abi::kFaultMisplacedCommand:
      return fmt::format("{} must not stand there", command);
    case abi::kFaultBadLength:
      return fmt::format("{}: length {} where {} is allowed", command, detail[1], detail[2]);
    case abi::kFaultBadCount:
      return fmt::format("{}: count {} where {} is allowed", command, detail[1], detail[2]);
    case abi::kFaultStackOverflow:
      return fmt::format(
          "the stack of its kernel (entry {:#x}) overflowed: the guard word below it holds {:#x}",
          detail[0], detail[1]);
    case abi::kFaultEngineInUse:
      return fmt::format("the launch's kernels left the Tensix engine in use: {}",
                         DescribeBalance(detail[0]));
    case abi::kFaultNotGiven:
      return DescribeNotGiven(static_cast<abi::Resource>(detail[1] >> 16), detail[0],
                              detail[1] & 0xFFFF);
    case abi::kFaultLinkNotConnected:
      return fmt::format("its kernel opens link end {}, which is not connected", detail[0]);
    case abi::kFaultBadLaunch:
      return fmt::format("launch slot {}: no kernel at {:#x} for {}", detail[0], detail[1],
                         HartName(detail[2]));
    default:
      return fmt::format("fault {} ({:#x}, {:#x}, {:#x})", status.fault_code, detail[0], detail[1],
                         detail[2]);
  }
}

}  // namespace ttfd
