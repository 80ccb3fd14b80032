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
                             const LaunchConfig& config,
                             std::span<const KernelArguments> arguments) {
  abi::LaunchMessage message{};
  message.circular_buffer_count = static_cast<uint16_t>(program.circular_buffer_count);
  message.semaphore_offset = static_cast<uint16_t>(config.semaphore_offset);
  message.semaphore_count = static_cast<uint16_t>(program.semaphore_count);
  message.callable_offset = static_cast<uint16_t>(config.callable_offset);
  message.callable_count = static_cast<uint16_t>(program.callables.size());
  message.program_id = program.id;
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    abi::LaunchArguments& words = message.arguments[hart];
    words.common_offset = static_cast<uint16_t>(config.common_offset[hart]);
    words.per_core_offset = static_cast<uint16_t>(config.per_core_offset[hart]);
    if (group.kernel[hart] == kNoKernel) continue;
    const KernelArguments& given = arguments[static_cast<size_t>(group.kernel[hart])];
    words.common_count = static_cast<uint16_t>(given.common.size());
    words.per_core_count = static_cast<uint16_t>(given.words_per_core);
    message.enables |= 1u << hart;
  }
  return message;
}

}  // namespace

std::vector<CoreRange> ImageRectangles(const TileSet& missing, const TileSet& workers,
                                       GridSize grid) {
  std::vector<CoreRange> rectangles = CoverWithRectangles(missing, grid);
  if (rectangles.size() <= kMaxImageRectangles) return rectangles;
  // Not beyond the workers of the launch: launches of others there would know nothing of the write.
  return CoverWithRectangles(TilesOf(BoundingBox(missing, grid), grid) & workers, grid);
}

void EncodeImages(const Program& program, std::span<const ImagePlacement> images,
                  const CardGeometry& card, RecordBatch& batch) {
  std::vector<LargePart> parts;
  for (size_t i = 0; i < program.images.size(); ++i) {
    for (const CoreRange& range : images[i].missing) {
      parts.push_back({range, images[i].address, program.images[i].image->bytes});
    }
  }
  if (!parts.empty()) PackedLarge(kPackedLargeBinaries, parts, card, batch);
}

void EncodeLaunchMessages(const Program& program, const LaunchConfig& config,
                          std::span<const KernelArguments> arguments, const CardGeometry& card,
                          std::vector<uint32_t>& groups, RecordBatch& batch) {
  if (program.groups.size() == 1) {
    groups = {0};
    const abi::LaunchMessage message = MessageOf(program, program.groups[0], config, arguments);
    PackedShared(kPackedLaunch, 0, BytesOf(message), program.groups[0].rectangles, card, batch);
    return;
  }
  const bool multicast =
      std::any_of(program.groups.begin(), program.groups.end(), [](const ProgramGroup& group) {
        return std::any_of(group.rectangles.begin(), group.rectangles.end(),
                           [](const CoreRange& range) { return CoreCount(range) > 1; });
      });
  std::vector<PackedTarget> targets;
  groups.clear();
  for (uint32_t group = 0; group < program.groups.size(); ++group) {
    for (const CoreRange& range : program.groups[group].rectangles) {
      if (multicast) {
        targets.push_back({card.Rectangle(range), CoreCount(range)});
      } else {
        targets.push_back({card.WorkerXy(range.y0 * card.grid().x + range.x0), 0});
      }
      groups.push_back(group);
    }
  }
  PackedEach(kPackedLaunch, 0, sizeof(abi::LaunchMessage), targets, card, batch,
             [&](MutableByteSpan to, size_t target) {
               StoreAt(to.data(),
                       MessageOf(program, program.groups[groups[target]], config, arguments));
             });
}

void EncodeGoTable(const GoPlan& go, RecordBatch& batch) {
  if (go.new_table.empty()) return;
  const auto bytes = static_cast<uint32_t>(go.new_table.size() * sizeof(uint32_t));
  const MutableByteSpan memory =
      batch.Append(InlineRecordBytes(sizeof(abi::SetGoSignalNocData) + bytes));
  RecordWriter writer(memory);
  abi::SetGoSignalNocData table{};
  table.id = abi::DispatchId::kSetGoSignalNocData;
  table.num_words = static_cast<uint32_t>(go.new_table.size());
  MutableByteSpan words = writer.DispatchS(table, bytes);
  std::memcpy(words.data(), go.new_table.data(), bytes);
}

void EncodeGo(const GoPlan& go, RecordBatch& batch) {
  const MutableByteSpan memory = batch.Append(InlineRecordBytes(sizeof(abi::NotifySubordinate)) +
                                              InlineRecordBytes(sizeof(abi::SendGoSignal)));
  RecordWriter writer(memory);
  abi::NotifySubordinate notify{};
  notify.id = abi::DispatchId::kNotifySubordinateGoSignal;
  notify.wait = 1;
  writer.Dispatch(notify);
  abi::SendGoSignal send{};
  send.id = abi::DispatchId::kSendGoSignal;
  send.multicast_go_offset = abi::kNoMulticastGo;
  send.num_unicast_txns = go.multicast ? uint8_t{0} : go.count;
  writer.DispatchS(send);
}

}  // namespace ttfd
