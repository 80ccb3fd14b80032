#include "tests/support/stream_runner.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>

#include "runtime/abi/control_block.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/l1_map.h"
#include "runtime/hw/stream.h"
#include "tests/support/random.h"
#include "tests/support/reference_executor.h"
#include "tests/support/stream_generator.h"

namespace ttfd::testing {
namespace {

// Clocks of the model for an entry; those of a trace with long transfers take a million.
constexpr uint64_t kPatience = 4'000'000;

class Runner {
 public:
  Runner(uint32_t seed, uint32_t commands)
      : seed_(seed), commands_(commands), random_(seed ^ 0xFEED), options_(RandomBench(seed)) {}

  Status Run(StreamCounts* counts) {
    ASSIGN_OR_RETURN(bench_, FirmwareBench::Create(options_));
    RETURN_IF_ERROR(bench_->Boot());
    stream_ = RandomStream(seed_, commands_, options_, *bench_);
    const ReferenceLayout layout = LayoutOf(*bench_);
    ReferenceExecutor reference(layout, stream_.memory);
    RETURN_IF_ERROR(Execute(reference));
    SetMemory();
    RETURN_IF_ERROR(Feed());
    for (uint32_t queue = 0; queue < options_.queues; ++queue) {
      const Status same = Compare(queue, reference);
      if (!same.ok()) return Annotate(same, fmt::format("queue {}", queue));
      Count(reference.outcome(queue), counts);
    }
    ++counts->streams;
    return CompareMemory(reference);
  }

 private:
  static void Count(const ReferenceExecutor::Outcome& outcome, StreamCounts* counts) {
    counts->records += outcome.prefetch_commands;
    for (size_t id = 0; id < counts->prefetch.size(); ++id) {
      counts->prefetch[id] += outcome.prefetch_kinds[id];
    }
    for (size_t id = 0; id < counts->dispatch.size(); ++id) {
      counts->dispatch[id] += outcome.dispatch_kinds[id];
    }
  }

  Status Execute(ReferenceExecutor& reference) {
    for (const StreamEntry& entry : stream_.entries) reference.Append(entry.queue, entry.bytes);
    const Status executed = reference.Run();
    return executed.ok() ? executed : Annotate(executed, "the reference refuses the stream");
  }

  bool IsHost(const MemoryArea& area) const { return area.xy == bench_->block().pcie_xy; }
  MutableByteSpan HostBytes(const MemoryArea& area) {
    return bench_->host_data().subspan(area.address - bench_->host_data_address(0),
                                       area.bytes.size());
  }
  static hw::Coordinate TileAt(uint32_t xy) { return {hw::NocX(xy), hw::NocY(xy)}; }

  void SetMemory() {
    for (const MemoryArea& area : stream_.memory.areas()) {
      if (IsHost(area)) {
        std::copy(area.bytes.begin(), area.bytes.end(), HostBytes(area).begin());
      } else {
        bench_->SetBytes(TileAt(area.xy), area.address, area.bytes);
      }
    }
  }

  uint32_t Pick(uint32_t from, uint32_t to) {
    return from + static_cast<uint32_t>(random_() * (uint64_t{to} - from + 1) >> 32);
  }

  // Sends what there is room for, takes what is complete, lets the card run: each at times only, as a
  // host does that has other things to do.
  Status Feed() {
    std::vector<std::deque<const StreamEntry*>> waiting(options_.queues);
    for (const StreamEntry& entry : stream_.entries) waiting[entry.queue].push_back(&entry);
    pages_.resize(options_.queues);
    const uint64_t patience = kPatience * (1 + stream_.entries.size());
    for (uint64_t spent = 0; spent < patience;) {
      ASSIGN_OR_RETURN(const AdvanceResult result, bench_->device().Advance(Pick(50, 4000)));
      spent += result.clocks + 1;
      ASSIGN_OR_RETURN(const bool rests, bench_->AtRest(result));
      bool moved = false;
      for (uint32_t queue = 0; queue < options_.queues; ++queue) {
        if (rests || Pick(0, 3) == 0) {
          ASSIGN_OR_RETURN(const bool taken, TakePages(queue));
          moved |= taken;
        }
        ASSIGN_OR_RETURN(const bool sent, SendSome(queue, waiting[queue]));
        moved |= sent;
      }
      if (!rests || moved) continue;
      for (uint32_t queue = 0; queue < options_.queues; ++queue) {
        if (!waiting[queue].empty()) {
          return Stuck(fmt::format("the card rests with {} entries of queue {} unsent",
                                   waiting[queue].size(), queue));
        }
      }
      return OkStatus();
    }
    return Stuck("the card does not come to rest");
  }

  StatusOr<bool> TakePages(uint32_t queue) {
    bool any = false;
    for (uint32_t most = Pick(1, 3); most != 0; --most) {
      ASSIGN_OR_RETURN(const std::vector<std::byte> page, bench_->TakeCompletionPage(queue));
      if (page.empty()) break;
      pages_[queue].push_back(page);
      any = true;
    }
    return any;
  }

  StatusOr<bool> SendSome(uint32_t queue, std::deque<const StreamEntry*>& waiting) {
    bool any = false;
    for (uint32_t most = Pick(1, 6); most != 0 && !waiting.empty(); --most) {
      const StreamEntry& entry = *waiting.front();
      ASSIGN_OR_RETURN(const bool room,
                       bench_->queue(queue).HasRoom(static_cast<uint32_t>(entry.bytes.size())));
      if (!room) break;
      RETURN_IF_ERROR(bench_->queue(queue).Send(entry.bytes, entry.stall_after));
      waiting.pop_front();
      any = true;
    }
    return any;
  }

  std::string Harts(uint32_t queue) {
    std::string text;
    const auto add = [&](const char* name, hw::Coordinate tile, uint32_t hart) {
      const abi::HartStatus status = bench_->status(tile, hart);
      char waypoint[5] = {};
      std::memcpy(waypoint, &status.waypoint, 4);
      text += fmt::format(
          "\n  {}: state {} waypoint {} command {} progress {} fault {} ({:#x}, {:#x}, {:#x}) at "
          "{:#x}, waits for {} of {}",
          name, status.state, waypoint, status.command, status.progress, status.fault_code,
          status.fault_detail[0], status.fault_detail[1], status.fault_detail[2],
          status.fault_offset, status.wait_count, status.wait_stream);
    };
    add("prefetch", BenchQueue::PrefetchTile(queue), hw::kBrisc);
    add("dispatch", BenchQueue::DispatchTile(queue), hw::kBrisc);
    add("dispatch_s", BenchQueue::DispatchTile(queue), hw::kNcrisc);
    return text;
  }

  // What a queue's prefetcher is at.
  std::string CommandsNear(uint32_t queue) {
    const uint32_t at = bench_->status(BenchQueue::PrefetchTile(queue), hw::kBrisc).progress;
    ReferenceExecutor again(LayoutOf(*bench_), stream_.memory);
    again.WatchCommands(queue, at < 6 ? 0 : at - 6, at + 2);
    return Watched(again);
  }

  Status Stuck(std::string_view what) {
    std::string text;
    for (uint32_t i = 0; i < options_.queues; ++i) {
      text += fmt::format("\n queue {}{}{}", i, Harts(i), CommandsNear(i));
    }
    return Internal("{}{}", what, text);
  }

  Status Compare(uint32_t queue, ReferenceExecutor& reference) {
    const ReferenceExecutor::Outcome& expected = reference.outcome(queue);
    RETURN_IF_ERROR(CompareHarts(queue, expected));
    RETURN_IF_ERROR(CompareCompletions(queue, expected));
    RETURN_IF_ERROR(CompareCredits(queue, expected));
    for (uint32_t stream = 0; stream < hw::kStreams; ++stream) {
      const uint32_t found = bench_->Word(BenchQueue::DispatchTile(queue),
                                          hw::StreamRegister(stream, hw::kStreamSpaceAvailable));
      RETURN_IF_ERROR(
          Same(fmt::format("stream {}", stream), reference.card().stream(queue, stream), found));
    }
    return OkStatus();
  }

  static Status Same(std::string_view what, uint64_t expected, uint64_t found) {
    if (expected == found) return OkStatus();
    return Internal("{} is {}, expected {}", what, found, expected);
  }

  Status CompareHarts(uint32_t queue, const ReferenceExecutor::Outcome& expected) {
    const auto prefetch = bench_->status(BenchQueue::PrefetchTile(queue), hw::kBrisc);
    const auto dispatch = bench_->status(BenchQueue::DispatchTile(queue), hw::kBrisc);
    const auto dispatch_s = bench_->status(BenchQueue::DispatchTile(queue), hw::kNcrisc);
    const auto state = [](bool ended) { return ended ? abi::kHartStopped : abi::kHartReady; };
    if (prefetch.state != state(expected.prefetch_ended) ||
        dispatch.state != state(expected.dispatch_ended) ||
        dispatch_s.state != state(expected.dispatch_s_ended) ||
        prefetch.progress != expected.prefetch_commands ||
        dispatch.progress != expected.dispatch_commands ||
        dispatch_s.progress != expected.dispatch_s_commands) {
      return Internal("after {}, {} and {} commands the harts say{}{}", expected.prefetch_commands,
                      expected.dispatch_commands, expected.dispatch_s_commands, Harts(queue),
                      CommandsNear(queue));
    }
    return OkStatus();
  }

  // Every page and slot that went out is back.
  Status CompareCredits(uint32_t queue, const ReferenceExecutor::Outcome& expected) {
    const hw::Coordinate prefetch = BenchQueue::PrefetchTile(queue);
    const hw::Coordinate dispatch = BenchQueue::DispatchTile(queue);
    using Block = abi::ControlBlock;
    const auto at = [&](hw::Coordinate tile, size_t offset) {
      return bench_->counter(tile, offset);
    };
    RETURN_IF_ERROR(Same("pages returned", at(dispatch, offsetof(Block, dispatch_pages_arrived)),
                         at(prefetch, offsetof(Block, dispatch_pages_returned))));
    RETURN_IF_ERROR(Same("pages of dispatch_s returned",
                         at(dispatch, offsetof(Block, dispatch_s_pages_arrived)),
                         at(prefetch, offsetof(Block, dispatch_s_pages_returned))));
    RETURN_IF_ERROR(Same("completion pages", expected.completion_pages,
                         bench_->completion_pointer(queue).pages_written));
    RETURN_IF_ERROR(Same("completion pages read", expected.completion_pages,
                         at(dispatch, offsetof(Block, completion_pages_read))));
    RETURN_IF_ERROR(Same("entries fetched", bench_->queue(queue).entries_sent(),
                         at(prefetch, offsetof(Block, entries_fetched))));
    RETURN_IF_ERROR(
        Same("NOTIFY_PREFETCH", expected.notifies, at(prefetch, offsetof(Block, sync))));
    RETURN_IF_ERROR(
        Same("last event", expected.last_event, bench_->status(dispatch, hw::kBrisc).last_event));
    const auto slots = bench_->Bytes(prefetch, bench_->block(queue).fetch_queue_address,
                                     2 * size_t{options_.fetch_queue_entries});
    const auto full = std::count_if(slots.begin(), slots.end(),
                                    [](std::byte byte) { return byte != std::byte{0}; });
    return Same("bytes in empty fetch slots", 0, static_cast<uint64_t>(full));
  }

  Status CompareCompletions(uint32_t queue, const ReferenceExecutor::Outcome& expected) {
    size_t page = 0;
    for (size_t record = 0; record < expected.completions.size(); ++record) {
      const std::vector<std::byte>& wanted = expected.completions[record];
      for (size_t at = 0; at < wanted.size(); at += abi::kCompletionPageBytes, ++page) {
        if (page == pages_[queue].size()) {
          return Internal("completion record {} of {} has not come", record,
                          expected.completions.size());
        }
        const size_t size = std::min<size_t>(abi::kCompletionPageBytes, wanted.size() - at);
        const auto [found, end] = std::mismatch(
            wanted.begin() + static_cast<std::ptrdiff_t>(at),
            wanted.begin() + static_cast<std::ptrdiff_t>(at + size), pages_[queue][page].begin());
        if (found == wanted.begin() + static_cast<std::ptrdiff_t>(at + size)) continue;
        return Internal("completion record {} of {} bytes: byte {} is {:#x}, expected {:#x}",
                        record, wanted.size(), found - wanted.begin(), static_cast<uint32_t>(*end),
                        static_cast<uint32_t>(*found));
      }
    }
    return Same("completion pages taken", page, pages_[queue].size());
  }

  Status CompareMemory(ReferenceExecutor& reference) {
    for (const MemoryArea& wanted : reference.card().memory().areas()) {
      std::vector<std::byte> found;
      if (IsHost(wanted)) {
        const MutableByteSpan bytes = HostBytes(wanted);
        found.assign(bytes.begin(), bytes.end());
      } else {
        found = bench_->Bytes(TileAt(wanted.xy), wanted.address, wanted.bytes.size());
      }
      if (found == wanted.bytes) continue;
      const auto at = std::mismatch(wanted.bytes.begin(), wanted.bytes.end(), found.begin()).first -
                      wanted.bytes.begin();
      const uint64_t address = wanted.address + static_cast<uint64_t>(at);
      return Internal("tile ({},{}) address {:#x} is {:#x}, expected {:#x}; written by{}",
                      hw::NocX(wanted.xy), hw::NocY(wanted.xy), address,
                      static_cast<uint32_t>(found[static_cast<size_t>(at)]),
                      static_cast<uint32_t>(wanted.bytes[static_cast<size_t>(at)]),
                      Writers(wanted.xy, address));
    }
    return OkStatus();
  }

  std::string Writers(uint32_t xy, uint64_t address) {
    ReferenceExecutor again(LayoutOf(*bench_), stream_.memory);
    again.Watch(xy, address);
    return Watched(again);
  }

  std::string Watched(ReferenceExecutor& again) {
    const Status executed = Execute(again);
    std::string text = executed.ok() ? "" : executed.ToString();
    for (const std::string& line : again.watched()) text += "\n  " + line;
    return text;
  }

  const uint32_t seed_;
  const uint32_t commands_;
  Random random_;
  const BenchOptions options_;
  std::unique_ptr<FirmwareBench> bench_;
  RecordStream stream_;
  std::vector<std::vector<std::vector<std::byte>>> pages_;  // by queue
};

}  // namespace

Status RunStream(uint32_t seed, uint32_t commands, StreamCounts* counts) {
  return Runner(seed, commands).Run(counts);
}

uint32_t ShortestFailure(uint32_t seed, uint32_t commands) {
  // A shorter stream is the beginning of a longer one, so what fails early fails in all that follow -
  // mostly: the host's pauses differ.
  StreamCounts counts;
  for (uint32_t step = commands / 2; step != 0;) {
    if (commands > step && !RunStream(seed, commands - step, &counts).ok()) {
      commands -= step;
    } else {
      step /= 2;
    }
  }
  return commands;
}

}  // namespace ttfd::testing
