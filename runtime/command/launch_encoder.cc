// A launch as records.
#include "runtime/command/launch_encoder.h"

#include <algorithm>
#include <cstring>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/l1_map.h"
#include "runtime/command/packed_writes.h"
#include "runtime/command/record_writer.h"

namespace ttfd {
namespace {

abi::LaunchMessage MessageOf(const Program& program, const ProgramGroup& group,
                             const LaunchConfig& config, const LaunchPlacement& placement) {
  abi::LaunchMessage message{};
  message.config_address = placement.config_address;
  message.circular_buffer_count = static_cast<uint16_t>(program.circular_buffer_count);
  message.semaphore_offset = static_cast<uint16_t>(config.semaphore_offset);
  message.semaphore_count = static_cast<uint16_t>(program.semaphore_count);
  message.program_id = program.id;
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    message.arguments[hart].common = static_cast<uint16_t>(config.common_offset[hart]);
    message.arguments[hart].per_core = static_cast<uint16_t>(config.per_core_offset[hart]);
    if (group.kernel[hart] == kNoKernel) continue;
    const uint32_t image = program.kernels[static_cast<size_t>(group.kernel[hart])].image;
    message.kernel_address[hart] = placement.images[image].address;
    message.enables |= 1u << hart;
    if (placement.images[image].new_code) message.enables |= abi::kLaunchNewCode;
  }
  return message;
}

// Harts [first, last) whose per-core words are sent as one packet a tile.
struct HartSpan {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t bytes = 0;
};

// WRITE_PACKED moves at most a page a tile, and a small ring less.
std::vector<HartSpan> CutPerCoreWords(const LaunchConfig& config, uint32_t max_record_bytes) {
  const uint32_t max_bytes = std::min(abi::kDispatchPageBytes, max_record_bytes - 64);
  std::vector<HartSpan> spans;
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    if (config.per_core_words[hart] == 0) continue;
    const uint32_t end = config.per_core_offset[hart] + config.per_core_words[hart] * 4;
    if (!spans.empty() && end - config.per_core_offset[spans.back().first] <= max_bytes) {
      spans.back().last = hart + 1;
      spans.back().bytes = end - config.per_core_offset[spans.back().first];
    } else {
      spans.push_back({hart, hart + 1, config.per_core_words[hart] * 4});
    }
  }
  return spans;
}

Status EncodePerCoreWords(const Program& program, std::span<const KernelArguments> arguments,
                          const LaunchConfig& config, uint32_t config_address,
                          const HartSpan& harts, const CardGeometry& card, RecordSink& sink) {
  std::vector<PackedTarget> targets;
  std::vector<uint32_t> tiles;  // index into Program::workers of each target
  for (uint32_t i = 0; i < program.workers.size(); ++i) {
    const bool has_words = [&] {
      for (uint32_t hart = harts.first; hart < harts.last; ++hart) {
        const int16_t kernel = program.places[i][hart].kernel;
        if (kernel != kNoKernel && arguments[static_cast<size_t>(kernel)].words_per_core > 0) {
          return true;
        }
      }
      return false;
    }();
    if (!has_words) continue;
    targets.push_back({card.WorkerXy(program.workers[i]), 0});
    tiles.push_back(i);
  }
  const uint32_t begin = config.per_core_offset[harts.first];
  return PackedEach(kPackedArguments, config_address + begin, harts.bytes, targets, card, sink,
                    [&](MutableByteSpan to, size_t target) {
                      std::memset(to.data(), 0, to.size());
                      for (uint32_t hart = harts.first; hart < harts.last; ++hart) {
                        const KernelPlace place = program.places[tiles[target]][hart];
                        if (place.kernel == kNoKernel) continue;
                        const KernelArguments& given = arguments[static_cast<size_t>(place.kernel)];
                        if (given.words_per_core == 0) continue;
                        std::memcpy(
                            to.data() + config.per_core_offset[hart] - begin,
                            given.per_core.data() + size_t{place.position} * given.words_per_core,
                            given.words_per_core * sizeof(uint32_t));
                      }
                    });
}

}  // namespace

Status EncodeImages(const Program& program, const LaunchPlacement& placement,
                    const CardGeometry& card, RecordSink& sink) {
  std::vector<LargePart> parts;
  for (size_t i = 0; i < program.images.size(); ++i) {
    for (const CoreRange& range : placement.images[i].missing) {
      parts.push_back({range, placement.images[i].address, program.images[i].image->bytes});
    }
  }
  if (parts.empty()) return OkStatus();
  return PackedLarge(kPackedLargeBinaries, parts, card, sink);
}

Status EncodeConfig(const Program& program, std::span<const KernelArguments> arguments,
                    const LaunchConfig& config, uint32_t config_address, const CardGeometry& card,
                    RecordSink& sink) {
  if (config.group_bytes > 0) {
    std::vector<std::byte> block(config.group_bytes);
    for (const ProgramGroup& group : program.groups) {
      FillGroupConfig(group, arguments, config, block);
      if (FitsPackedShared(block.size(), sink.max_record_bytes())) {
        RETURN_IF_ERROR(
            PackedShared(kPackedSemaphores, config_address, block, group.rectangles, card, sink));
        continue;
      }
      std::vector<LargePart> parts;
      for (const CoreRange& range : group.rectangles) {
        parts.push_back({range, config_address, block});
      }
      RETURN_IF_ERROR(PackedLarge(kPackedLargeConfig, parts, card, sink));
    }
  }
  for (const HartSpan& harts : CutPerCoreWords(config, sink.max_record_bytes())) {
    RETURN_IF_ERROR(
        EncodePerCoreWords(program, arguments, config, config_address, harts, card, sink));
  }
  return OkStatus();
}

Status EncodeLaunchMessages(const Program& program, const LaunchConfig& config,
                            const LaunchPlacement& placement, const CardGeometry& card,
                            RecordSink& sink) {
  const uint32_t address =
      abi::kLaunchRingAddress + placement.slot * uint32_t{sizeof(abi::LaunchMessage)};
  if (program.groups.size() == 1) {
    const abi::LaunchMessage message = MessageOf(program, program.groups[0], config, placement);
    return PackedShared(kPackedLaunch, address, BytesOf(message), program.groups[0].rectangles,
                        card, sink);
  }
  std::vector<PackedTarget> targets;
  std::vector<const ProgramGroup*> groups;  // of each target
  const bool multicast =
      std::any_of(program.groups.begin(), program.groups.end(), [](const ProgramGroup& group) {
        return std::any_of(group.rectangles.begin(), group.rectangles.end(),
                           [](const CoreRange& range) { return CoreCount(range) > 1; });
      });
  for (const ProgramGroup& group : program.groups) {
    for (const CoreRange& range : group.rectangles) {
      if (multicast) {
        targets.push_back({card.Rectangle(range), CoreCount(range)});
      } else {
        targets.push_back({card.WorkerXy(range.y0 * card.grid().x + range.x0), 0});
      }
      groups.push_back(&group);
    }
  }
  return PackedEach(kPackedLaunch, address, sizeof(abi::LaunchMessage), targets, card, sink,
                    [&](MutableByteSpan to, size_t target) {
                      StoreAt(to.data(), MessageOf(program, *groups[target], config, placement));
                    });
}

Status EncodeGo(const GoPlan& go, uint32_t slot, uint64_t wait_workers, const CardGeometry& card,
                RecordSink& sink) {
  const uint32_t table_bytes = static_cast<uint32_t>(go.new_table.size() * sizeof(uint32_t));
  uint32_t bytes = InlineRecordBytes(sizeof(abi::NotifySubordinate)) +
                   InlineRecordBytes(sizeof(abi::SendGoSignal));
  if (table_bytes > 0) bytes += InlineRecordBytes(sizeof(abi::SetGoSignalNocData) + table_bytes);
  ASSIGN_OR_RETURN(MutableByteSpan memory, sink.Append(bytes));
  RecordWriter writer(memory);
  if (table_bytes > 0) {
    abi::SetGoSignalNocData table{};
    table.id = abi::DispatchId::kSetGoSignalNocData;
    table.num_words = static_cast<uint32_t>(go.new_table.size());
    MutableByteSpan words = writer.DispatchS(table, table_bytes);
    std::memcpy(words.data(), go.new_table.data(), table_bytes);
  }
  abi::NotifySubordinate notify{};
  notify.id = abi::DispatchId::kNotifySubordinateGoSignal;
  notify.wait = 1;
  notify.index_bitmask = 1;
  writer.Dispatch(notify);
  abi::SendGoSignal send{};
  send.id = abi::DispatchId::kSendGoSignal;
  send.go_signal = abi::GoWord(0, card.dispatch_tile().x, card.dispatch_tile().y, slot);
  send.multicast_go_offset = go.multicast ? uint8_t{0} : abi::kNoMulticastGo;
  send.num_unicast_txns = go.multicast ? uint8_t{0} : go.count;
  send.noc_data_start_index = go.first;
  send.wait_count = static_cast<uint32_t>(wait_workers);
  send.wait_stream = abi::kFirstWorkerStream;
  writer.DispatchS(send);
  return OkStatus();
}

uint64_t MaxLaunchRecordBytes(const Program& program, std::span<const KernelArguments> arguments) {
  const LaunchConfig config = LayOutConfig(program, arguments);
  uint64_t bytes = 1024;  // waits, notify, go, its table
  for (const ProgramImage& image : program.images) {
    // Parts are cut to a record or to 32 KiB; 1 KiB a rectangle is ample for their headers even
    // with the smallest rings.
    bytes += kMaxImageRectangles * (image.image->bytes.size() * 5 / 4 + 1024);
  }
  for (const ProgramGroup& group : program.groups) {
    const uint64_t each =
        FitsPackedShared(config.group_bytes, abi::kMaxEntryBytes) ? 8 : 12 + config.group_bytes;
    bytes += 256 + config.group_bytes +
             group.rectangles.size() * (each + 8 + sizeof(abi::LaunchMessage));
  }
  bytes += program.workers.size() * (config.bytes - config.group_bytes + 32) + 1024;
  return bytes;
}

}  // namespace ttfd
