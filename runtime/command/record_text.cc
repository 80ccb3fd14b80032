// Records as text for people.
#include "runtime/command/record_text.h"

#include <type_traits>

#include "runtime/command/record_file.h"
#include "runtime/hw/noc.h"

namespace ttfd {
namespace {

std::string Tile(uint32_t noc_xy) {
  if ((noc_xy & abi::kNocXyPcieFlag) != 0) return "host";
  return fmt::format("({},{})", hw::NocX(noc_xy), hw::NocY(noc_xy));
}

std::string Tiles(uint32_t noc_word, uint32_t receivers) {
  if (receivers == 0) return Tile(noc_word);
  const uint32_t start = noc_word >> 12 & 0xFFF;
  const uint32_t end = noc_word & 0xFFF;
  return fmt::format("{}-{}x{}", Tile(start), Tile(end), receivers);
}

std::string WaitFlags(uint8_t flags) {
  std::string text;
  const auto add = [&](uint8_t flag, std::string_view name) {
    if ((flags & flag) == 0) return;
    if (!text.empty()) text += '|';
    text += name;
  };
  add(abi::kWaitBarrier, "barrier");
  add(abi::kWaitMemory, "memory");
  add(abi::kWaitStream, "stream");
  add(abi::kWaitClearStream, "clear");
  add(abi::kWaitNotifyPrefetch, "notify");
  return text;
}

// Long lists are cut: the line is for people.
template <typename List, typename Format>
std::string Listed(const List& list, const Format& format) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < list.size() && i < kMost; ++i) text += " " + format(list[i]);
  if (list.size() > kMost) text += fmt::format(" and {} more", list.size() - kMost);
  return text;
}

struct DispatchText {
  const DecodedDispatch& dispatch;

  std::string operator()(const abi::BareDispatch& c) const {
    switch (c.id) {
      case abi::DispatchId::kSink:
        return "SINK";
      case abi::DispatchId::kExecBufEnd:
        return "EXEC_BUF_END";
      default:
        return "TERMINATE";
    }
  }
  std::string operator()(const abi::Delay& c) const {
    return fmt::format("DELAY {} clocks", uint32_t{c.delay});
  }
  std::string operator()(const abi::WriteLinear& c) const {
    return fmt::format("{} {} B to {} at {:#x}{}",
                       c.id == abi::DispatchId::kWriteLinear ? "WRITE_LINEAR" : "WRITE_LINEAR_H",
                       uint64_t{c.length}, Tiles(c.noc_xy, c.num_mcast_dests), uint64_t{c.address},
                       Offset(c.write_offset_index));
  }
  std::string operator()(const abi::WriteLinearHHost& c) const {
    if (c.is_event != 0) {
      const uint32_t event = dispatch.data.size() >= 4 ? LoadAt<uint32_t>(dispatch.data.data()) : 0;
      return fmt::format("WRITE_LINEAR_H_HOST event {} check {}", event, uint32_t{c.check});
    }
    return fmt::format("WRITE_LINEAR_H_HOST data {} B check {}",
                       c.length - sizeof(abi::WriteLinearHHost), uint32_t{c.check});
  }
  std::string operator()(const abi::WritePaged& c) const {
    return fmt::format("WRITE_PAGED {} pages of {} B to {} bank {} at {:#x}", uint32_t{c.pages},
                       uint32_t{c.page_size}, c.is_dram != 0 ? "DRAM" : "L1",
                       uint16_t{c.start_page}, uint32_t{c.base_address});
  }
  std::string operator()(const abi::WritePacked& c) const {
    return fmt::format("WRITE_PACKED type {} {} B{} at {:#x}{} to{}",
                       c.flags >> abi::kPackedTypeShift, uint16_t{c.size},
                       (c.flags & abi::kPackedNoStride) != 0 ? " shared" : "", uint32_t{c.address},
                       Offset(c.write_offset_index),
                       Listed(dispatch.targets, [](const DecodedTarget& target) {
                         return Tiles(target.noc_word, target.receivers);
                       }));
  }
  std::string operator()(const abi::WritePackedLarge& c) const {
    return fmt::format(
        "WRITE_PACKED_LARGE type {}{} to{}", c.type, Offset(c.write_offset_index),
        Listed(dispatch.large_targets, [](const abi::WritePackedLargeTarget& target) {
          return fmt::format("{} at {:#x} {} B", Tiles(target.rectangle, target.num_mcast_dests),
                             uint32_t{target.address}, uint16_t{target.length});
        }));
  }
  std::string operator()(const abi::Wait& c) const {
    std::string text = "WAIT " + WaitFlags(c.flags);
    if ((c.flags & abi::kWaitMemory) != 0) {
      text += fmt::format(" address {:#x}", uint32_t{c.address});
    }
    if ((c.flags & (abi::kWaitStream | abi::kWaitClearStream)) != 0) {
      text += fmt::format(" stream {}", uint16_t{c.stream});
    }
    if ((c.flags & (abi::kWaitMemory | abi::kWaitStream)) != 0) {
      text += fmt::format(" count {}", uint32_t{c.count});
    }
    return text;
  }
  std::string operator()(const abi::SetWriteOffset&) const {
    return "SET_WRITE_OFFSET" +
           Listed(dispatch.words, [](uint32_t word) { return fmt::format("{:#x}", word); });
  }
  std::string operator()(const abi::SendGoSignal& c) const {
    const std::string to =
        c.multicast_go_offset == abi::kNoMulticastGo
            ? fmt::format("{} targets from {}", c.num_unicast_txns, c.noc_data_start_index)
            : fmt::format("every worker, word {}", c.multicast_go_offset);
    return fmt::format("SEND_GO_SIGNAL {:#010x} to {} when stream {} is {}", uint32_t{c.go_signal},
                       to, uint32_t{c.wait_stream}, uint32_t{c.wait_count});
  }
  std::string operator()(const abi::NotifySubordinate& c) const {
    return fmt::format("NOTIFY_SUBORDINATE_GO_SIGNAL mask {:#x}{}", uint16_t{c.index_bitmask},
                       c.wait != 0 ? " after a write barrier" : "");
  }
  std::string operator()(const abi::SetNumWorkerSems& c) const {
    return fmt::format("SET_NUM_WORKER_SEMS {}", uint32_t{c.num});
  }
  std::string operator()(const abi::SetGoSignalNocData&) const {
    return "SET_GO_SIGNAL_NOC_DATA" +
           Listed(dispatch.words, [](uint32_t word) { return Tile(word); });
  }

  static std::string Offset(uint32_t index) {
    return index == 0 ? std::string() : fmt::format(" + offset {}", index);
  }
};

struct PrefetchText {
  const DecodedCommand& command;

  std::string operator()(const abi::BarePrefetch& c) const {
    return c.id == abi::PrefetchId::kStall ? "STALL" : "TERMINATE";
  }
  std::string operator()(const abi::RelayLinear& c) const {
    return fmt::format("{} {} B from {} at {:#x}",
                       c.id == abi::PrefetchId::kRelayLinear ? "RELAY_LINEAR" : "RELAY_LINEAR_H",
                       uint64_t{c.length}, Tile(c.noc_xy), uint64_t{c.address});
  }
  std::string operator()(const abi::RelayPaged& c) const {
    const uint32_t adjust = c.flags & ~abi::kRelayPagedIsDram;
    return fmt::format("RELAY_PAGED {} pages of {} B from {} bank {} at {:#x}{}", uint32_t{c.pages},
                       uint32_t{c.page_size},
                       (c.flags & abi::kRelayPagedIsDram) != 0 ? "DRAM" : "L1", c.start_page,
                       uint32_t{c.base_address},
                       adjust != 0 ? fmt::format(", last one {} B shorter", adjust) : "");
  }
  std::string operator()(const abi::RelayInline& c) const {
    const char* const name = c.id == abi::PrefetchId::kRelayInline          ? "RELAY_INLINE"
                             : c.id == abi::PrefetchId::kRelayInlineNoflush ? "RELAY_INLINE_NOFLUSH"
                                                                            : "EXEC_BUF_END";
    std::string debugs;
    for (uint32_t i = 0; i < command.dispatch->debugs; ++i) debugs += "DEBUG ";
    return fmt::format("{} {}: {}{}", name,
                       c.dispatcher == abi::DispatcherType::kDispatch ? "dispatch" : "dispatch_s",
                       debugs,
                       std::visit(DispatchText{*command.dispatch}, command.dispatch->header));
  }
  std::string operator()(const abi::RelayPagedPacked& c) const {
    return fmt::format("RELAY_PAGED_PACKED {} B from", uint32_t{c.total_length}) +
           Listed(command.stretches, [](const abi::RelayPagedPackedTarget& part) {
             return fmt::format("page {} of 2^{} B at {:#x} {} B", uint16_t{part.start_page},
                                uint16_t{part.log_page_size}, uint32_t{part.base_address},
                                uint32_t{part.length});
           });
  }
  std::string operator()(const abi::ExecBuf& c) const {
    return fmt::format("EXEC_BUF {} pages of {} B at {:#x}", uint32_t{c.pages},
                       uint64_t{1} << c.log_page_size, uint32_t{c.base_address});
  }
  std::string operator()(const abi::DebugPrefetch& c) const {
    return fmt::format("DEBUG key {} {} B", uint16_t{c.key}, uint32_t{c.size});
  }
  std::string operator()(const abi::PagedToRingbuffer& c) const {
    return fmt::format("PAGED_TO_RINGBUFFER {} B from page {} of 2^{} B at {:#x}, pointer {}+{}",
                       uint32_t{c.length}, c.start_page, c.log2_page_size, uint32_t{c.base_address},
                       (c.flags & abi::kRingbufferReset) != 0 ? "reset, " : "",
                       uint32_t{c.wp_offset_update});
  }
  std::string operator()(const abi::SetRingbufferOffset& c) const {
    return fmt::format("SET_RINGBUFFER_OFFSET {:#x}{}", uint32_t{c.offset},
                       c.update_wp != 0 ? ", write pointer too" : "");
  }
  std::string operator()(const abi::RelayRingbuffer&) const {
    return "RELAY_RINGBUFFER" +
           Listed(command.ring_stretches, [](const abi::RelayRingbufferTarget& part) {
             return fmt::format("{} B from {:#x}", uint32_t{part.length}, uint32_t{part.start});
           });
  }
};

}  // namespace

std::string FormatCommand(const DecodedCommand& command) {
  return fmt::format("{:#06x} {}", command.offset,
                     std::visit(PrefetchText{command}, command.prefetch));
}

Status FormatRecordFile(ByteSpan file, const std::function<void(std::string_view line)>& print) {
  uint32_t version = 0;
  ASSIGN_OR_RETURN(const std::vector<RecordedEntry> entries, ParseRecordFile(file, &version));
  print(fmt::format("protocol version {:#010x}, {} entries", version, entries.size()));
  for (size_t i = 0; i < entries.size(); ++i) {
    const RecordedEntry& entry = entries[i];
    print(fmt::format("entry {} CQ{} at {} us, {} B", i, entry.hardware_queue,
                      entry.nanoseconds / 1000, entry.bytes.size()));
    StatusOr<std::vector<DecodedCommand>> commands = DecodeEntry(entry.bytes);
    if (!commands.ok()) {
      return Annotate(commands.status(),
                      fmt::format("entry {} (file offset {:#x})", i, entry.file_offset));
    }
    for (const DecodedCommand& command : *commands) print("  " + FormatCommand(command));
  }
  return OkStatus();
}

}  // namespace ttfd
