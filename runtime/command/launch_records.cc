// The records of a launch, laid out once and patched in place.
#include "runtime/command/launch_records.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/l1_map.h"
#include "runtime/command/launch_encoder.h"
#include "runtime/command/packed_writes.h"
#include "runtime/command/record_batch.h"

namespace ttfd {
namespace {

// Where things lie in a record that carries one WRITE_PACKED.
struct PackedView {
  PackedView(ByteSpan records, uint32_t begin) {
    const uint32_t at = begin + abi::kCommandBytes;
    const auto header = LoadAt<abi::WritePacked>(records.data() + at);
    const bool multicast = (header.flags & abi::kPackedMulticast) != 0;
    const uint32_t target =
        multicast ? sizeof(abi::WritePackedMulticast) : sizeof(abi::WritePackedUnicast);
    count = header.count;
    stride = AlignUp<uint32_t>(header.size, abi::kPackedDataAlignment);
    address = at + offsetof(abi::WritePacked, address);
    data = at + uint32_t{sizeof(abi::WritePacked)} +
           AlignUp(count * target, abi::kPackedDataAlignment);
    shared = (header.flags & abi::kPackedNoStride) != 0;
  }
  uint32_t count = 0;
  uint32_t stride = 0;
  uint32_t address = 0;  // offset of the field
  uint32_t data = 0;     // offset of the first packet
  bool shared = false;
};

}  // namespace

// Lays the records out with the encoders every launch uses, and notes what will differ.
class LaunchRecords::Builder {
 public:
  Builder(LaunchRecords& records, const Program& program,
          std::span<const KernelArguments> arguments, const CardGeometry& card)
      : out_(records),
        program_(program),
        arguments_(arguments),
        card_(card),
        batch_(card.max_record_bytes()) {}

  void Run() {
    out_.callable_images_ = program_.callables;
    out_.kernels_.resize(arguments_.size());
    for (size_t i = 0; i < arguments_.size(); ++i) {
      out_.kernels_[i].common_words = static_cast<uint32_t>(arguments_[i].common.size());
      out_.kernels_[i].words_per_core = arguments_[i].words_per_core;
    }
    AddGroups();
    AddPerCoreWords();
    AddMessages();
    AddGo();
    out_.template_.assign(batch_.copied().begin(), batch_.copied().end());
    for (const RecordBatch::Entry& entry : batch_.entries()) {
      out_.entry_bytes_.push_back(entry.bytes);
    }
  }

 private:
  // Calls `visit(view)` for the WRITE_PACKED records that `encode` appends.
  template <typename Encode, typename Visit>
  void ForEachRecord(const Encode& encode, const Visit& visit) {
    auto begin = static_cast<uint32_t>(batch_.copied().size());
    encode();
    while (begin < batch_.copied().size()) {
      visit(PackedView(batch_.copied(), begin));
      begin += LoadAt<abi::RelayInline>(batch_.copied().data() + begin).stride;
    }
  }

  void AddGroups() {
    if (out_.config_.group_bytes == 0) return;
    std::vector<std::byte> block(out_.config_.group_bytes);
    const uint32_t slice = MaxSharedBytes(card_.max_record_bytes());
    for (const ProgramGroup& group : program_.groups) {
      FillGroupConfig(group, out_.config_, block);
      for (uint32_t begin = 0; begin < block.size(); begin += slice) {
        const ByteSpan part =
            ByteSpan(block).subspan(begin, std::min<size_t>(slice, block.size() - begin));
        ForEachRecord(
            [&] { PackedShared(kPackedSemaphores, 0, part, group.rectangles, card_, batch_); },
            [&](const PackedView& view) {
              out_.config_addresses_.push_back({view.address, begin});
              const auto size = static_cast<uint32_t>(part.size());
              AddCommonWords(group, begin, size, view.data);
              AddWords(out_.config_.callable_offset, program_.callables.size(), begin, size,
                       view.data, &out_.callables_);
            });
      }
    }
  }

  // The common words of the group's kernels that lie in [begin, begin + size) of its configuration.
  void AddCommonWords(const ProgramGroup& group, uint32_t begin, uint32_t size, uint32_t data) {
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      if (group.kernel[hart] == kNoKernel) continue;
      KernelWords& kernel = out_.kernels_[static_cast<size_t>(group.kernel[hart])];
      AddWords(out_.config_.common_offset[hart], kernel.common_words, begin, size, data,
               &kernel.common);
    }
  }

  // The part of `count` words from `first` on that lies in [begin, begin + size) of a group's configuration.
  static void AddWords(uint32_t first, size_t count, uint32_t begin, uint32_t size, uint32_t data,
                       std::vector<Words>* words) {
    const uint32_t from = std::max(first, begin);
    const uint32_t to = std::min(first + static_cast<uint32_t>(count) * 4, begin + size);
    if (from >= to) return;
    words->push_back({data + (from - begin), (from - first) / 4, (to - from) / 4});
  }

  void AddPerCoreWords() {
    for (const HartSpan& harts : CutPerCoreWords(out_.config_, card_.max_record_bytes())) {
      const std::vector<uint32_t> tiles = TilesWithWords(program_, arguments_, harts);
      std::vector<PackedTarget> targets;
      for (const uint32_t tile : tiles) {
        targets.push_back({card_.WorkerXy(program_.workers[tile]), 0});
      }
      const uint32_t begin = out_.config_.per_core_offset[harts.first];
      size_t next = 0;
      ForEachRecord(
          [&] {
            PackedEach(kPackedArguments, 0, harts.bytes, targets, card_, batch_,
                       [](MutableByteSpan, size_t) {});
          },
          [&](const PackedView& view) {
            out_.config_addresses_.push_back({view.address, begin});
            for (uint32_t i = 0; i < view.count; ++i) {
              AddTileWords(tiles[next++], harts, view.data + i * view.stride);
            }
          });
    }
  }

  void AddTileWords(uint32_t tile, const HartSpan& harts, uint32_t packet) {
    const uint32_t begin = out_.config_.per_core_offset[harts.first];
    for (uint32_t hart = harts.first; hart < harts.last; ++hart) {
      const KernelPlace place = program_.places[tile][hart];
      if (place.kernel == kNoKernel) continue;
      KernelWords& kernel = out_.kernels_[static_cast<size_t>(place.kernel)];
      if (kernel.words_per_core == 0) continue;
      kernel.per_core.push_back({packet + out_.config_.per_core_offset[hart] - begin,
                                 place.position * kernel.words_per_core, kernel.words_per_core});
    }
  }

  void AddMessages() {
    std::vector<uint32_t> groups;  // of each packet
    size_t next = 0;
    ForEachRecord(
        [&] { EncodeLaunchMessages(program_, out_.config_, arguments_, card_, groups, batch_); },
        [&](const PackedView& view) {
          out_.slot_addresses_.push_back(view.address);
          for (uint32_t i = 0; i < (view.shared ? 1 : view.count); ++i) {
            AddMessage(program_.groups[groups[view.shared ? 0 : next++]],
                       view.data + i * view.stride);
          }
        });
  }

  void AddMessage(const ProgramGroup& group, uint32_t offset) {
    MessagePatch patch;
    patch.offset = offset;
    patch.image.fill(kNoKernel);
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      if (group.kernel[hart] == kNoKernel) continue;
      patch.image[hart] =
          static_cast<int32_t>(program_.kernels[static_cast<size_t>(group.kernel[hart])].image);
      patch.enables |= 1u << hart;
    }
    out_.messages_.push_back(patch);
  }

  void AddGo() {
    const auto begin = static_cast<uint32_t>(batch_.copied().size());
    GoPlan go;
    go.multicast = out_.multicast_go_;
    go.count = static_cast<uint8_t>(go.multicast ? 0 : program_.workers.size());
    EncodeGo(go, batch_);
    out_.notify_ = begin + abi::kCommandBytes;
    out_.go_ = out_.notify_ + InlineRecordBytes(sizeof(abi::NotifySubordinate));
  }

  LaunchRecords& out_;
  const Program& program_;
  const std::span<const KernelArguments> arguments_;
  const CardGeometry& card_;
  RecordBatch batch_;
};

LaunchRecords::LaunchRecords(const Program& program, std::span<const KernelArguments> arguments,
                             bool multicast_go, const CardGeometry& card)
    : config_(LayOutConfig(program, arguments)), multicast_go_(multicast_go) {
  Builder(*this, program, arguments, card).Run();
}

bool LaunchRecords::Fits(std::span<const KernelArguments> arguments) const {
  if (arguments.size() != kernels_.size()) return false;
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    if (!FitsKernel(i, arguments[i])) return false;
  }
  return true;
}

void LaunchRecords::CopyTo(MutableByteSpan to) const {
  std::memcpy(to.data(), template_.data(), template_.size());
}

void LaunchRecords::PatchPlace(const LaunchPlace& place, const CardGeometry& card,
                               MutableByteSpan records) const {
  for (const AddressPatch& patch : config_addresses_) {
    StoreAt(records.data() + patch.offset, place.config_address + patch.delta);
  }
  const uint32_t slot = abi::LaunchMessageAddress(place.slot);
  for (const uint32_t offset : slot_addresses_) StoreAt(records.data() + offset, slot);
  for (const MessagePatch& patch : messages_) {
    std::byte* const message = records.data() + patch.offset;
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      if (patch.image[hart] == kNoKernel) continue;
      StoreAt(message + offsetof(abi::LaunchMessage, kernel_address) + 4 * hart,
              place.image_addresses[static_cast<size_t>(patch.image[hart])]);
    }
    StoreAt(message + offsetof(abi::LaunchMessage, config_address), place.config_address);
    StoreAt(message + offsetof(abi::LaunchMessage, enables),
            patch.enables | (place.new_code ? abi::kLaunchNewCode : 0));
  }
  for (const Words& words : callables_) {
    for (uint32_t i = 0; i < words.count; ++i) {
      StoreAt(records.data() + words.offset + 4 * i,
              place.image_addresses[callable_images_[words.first + i]]);
    }
  }
  ForEachPrintTag([&](uint32_t offset) { StoreAt(records.data() + offset, place.print_tag); });
  StoreAt(records.data() + notify_ + offsetof(abi::NotifySubordinate, index_bitmask),
          static_cast<uint16_t>(1u << place.sub_device));
  auto go = LoadAt<abi::SendGoSignal>(records.data() + go_);
  const hw::Coordinate tile = card.dispatch_tile(place.hardware_queue);
  go.go_signal = abi::GoWord(place.sub_device, tile.x, tile.y, place.slot);
  if (multicast_go_) go.multicast_go_offset = static_cast<uint8_t>(place.sub_device);
  go.noc_data_start_index = place.go_first;
  go.wait_count = place.wait_workers;
  go.wait_stream = abi::kFirstWorkerStream + place.sub_device;
  StoreAt(records.data() + go_, go);
}

void LaunchRecords::PatchArguments(uint32_t kernel, const KernelArguments& arguments,
                                   MutableByteSpan records) const {
  ForEachArgument(kernel, arguments, [&records](uint32_t offset, ByteSpan words) {
    std::memcpy(records.data() + offset, words.data(), words.size());
  });
}

void LaunchRecords::Append(const LaunchPlace& place, std::span<const KernelArguments> arguments,
                           const CardGeometry& card, RecordBatch& batch) const {
  const auto fill = [&](MutableByteSpan to) {
    CopyTo(to);
    PatchPlace(place, card, to);
    for (uint32_t i = 0; i < arguments.size(); ++i) PatchArguments(i, arguments[i], to);
  };
  if (entry_bytes_.size() == 1) {
    fill(batch.Append(bytes()));
    return;
  }
  std::vector<std::byte> records(template_.size());
  fill(records);
  const std::byte* from = records.data();
  for (const uint32_t entry : entry_bytes_) {
    std::memcpy(batch.Append(entry).data(), from, entry);
    from += entry;
  }
}

}  // namespace ttfd
