// A family of kernels of operations (firmware/ops) on a booted card: tensors in, a tensor out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firmware/ops/elfs.h"
#include "firmware/ops/words.h"
#include "runtime/boot/kernel_elf.h"
#include "tests/support/booted_card.h"
#include "tests/support/compute_program.h"

namespace ttfd {

// Batches of batches of matrices of numbers, and the format of its tiles.
struct OpTensor {
  std::array<uint32_t, 4> size = {1, 1, 1, 1};
  hw::tensix::Format format = hw::tensix::Format::kFloat16B;
  std::vector<float> numbers = {};

  static uint32_t TilesOf(uint32_t numbers) { return (numbers + Tile::kSide - 1) / Tile::kSide; }
  uint32_t tile_rows() const { return TilesOf(size[2]); }
  uint32_t tile_columns() const { return TilesOf(size[3]); }
  uint32_t tiles() const { return size[0] * size[1] * tile_rows() * tile_columns(); }
  uint64_t count() const { return uint64_t{size[0]} * size[1] * size[2] * size[3]; }
  Region At(uint32_t address) const {
    const uint32_t bytes = Tile::BytesIn(format);
    return {MemoryKind::kDram, -1, address, bytes, uint64_t{tiles()} * bytes};
  }

  // Calls `call(element, its place in whole tiles)` for each element.
  template <typename Call>
  void ForEach(Call call) const {
    for (size_t element = 0; element < count(); ++element) {
      const auto column = static_cast<uint32_t>(element % size[3]);
      const auto row = static_cast<uint32_t>(element / size[3] % size[2]);
      const size_t matrix = element / size[3] / size[2];
      const size_t tile =
          (matrix * tile_rows() + row / Tile::kSide) * tile_columns() + column / Tile::kSide;
      call(element, tile * Tile::kWords + Tile::At(row % Tile::kSide, column % Tile::kSide));
    }
  }
  std::vector<std::byte> Encode() const {
    std::vector<float> words(size_t{tiles()} * Tile::kWords);
    ForEach([&](size_t element, size_t at) { words[at] = numbers[element]; });
    return EncodeTiles(format, words);
  }
  // Expects that the padding is 0.
  void Decode(std::span<const std::byte> bytes) {
    auto words = DecodeTiles(format, bytes);
    numbers.assign(count(), 0);
    ForEach([&](size_t element, size_t at) {
      numbers[element] = words[at];
      words[at] = 0;
    });
    const auto padding = std::find_if(
        words.begin(), words.end(), [](float word) { return std::bit_cast<uint32_t>(word) != 0; });
    EXPECT_EQ(padding, words.end()) << "padding is " << *padding;
  }
};

// Cores of a launch, in the order of their numbers.
class OpCores {
 public:
  static OpCores Rectangle(uint32_t x, uint32_t y, uint32_t columns, uint32_t count) {
    OpCores cores;
    cores.count_ = count;
    cores.shape_ = x | y << 8 | columns << 16;
    const uint32_t rows = count / columns, rest = count % columns;
    if (rows != 0) cores.ranges_.push_back({x, y, x + columns - 1, y + rows - 1});
    if (rest != 0) cores.ranges_.push_back({x, y + rows, x + rest - 1, y + rows});
    return cores;
  }
  static OpCores Bitmap(const std::vector<std::pair<uint32_t, uint32_t>>& positions) {
    OpCores cores;
    cores.count_ = static_cast<uint32_t>(positions.size());
    cores.bitmap_.resize(ops::kBitmapWords);
    for (const auto& [x, y] : positions) {
      const uint32_t bit = y * ops::kBitmapColumns + x;
      cores.bitmap_[bit / 32] |= 1u << bit % 32;
      cores.ranges_.push_back({x, y, x, y});
    }
    return cores;
  }

  const std::vector<CoreRange>& ranges() const { return ranges_; }
  // Items first to end - 1 of a kernel with these words; a bitmap comes after them.
  template <typename Words>
  KernelArguments Arguments(Words words, uint32_t first, uint32_t end) const {
    constexpr size_t kWords = sizeof(Words) / sizeof(uint32_t);
    const bool has_bitmap = !bitmap_.empty();
    words.cores = {count_, has_bitmap ? static_cast<uint32_t>(kWords) << 24 : shape_, first, end};
    KernelArguments arguments;
    arguments.common.resize(kWords);
    std::memcpy(arguments.common.data(), &words, sizeof(Words));
    arguments.common.insert(arguments.common.end(), bitmap_.begin(), bitmap_.end());
    return arguments;
  }

 private:
  uint32_t count_ = 0;
  uint32_t shape_ = 0;
  std::vector<uint32_t> bitmap_;
  std::vector<CoreRange> ranges_;
};

struct OpBuffer {
  uint32_t index;
  uint32_t pages;
  hw::tensix::Format format;
};

inline constexpr uint32_t kOpOutputAddress = 0x800000;
inline constexpr uint32_t OpInputAddress(size_t input) {
  return 0x100000 * static_cast<uint32_t>(input + 1);
}

class OpProgram {
 public:
  OpProgram(BootedCard& card, const std::string& family, const OpCores& cores,
            const std::vector<OpBuffer>& buffers)
      : card_(card) {
    ProgramSpec spec;
    for (const auto& [name, hart] :
         {std::pair(family + "_reader", hw::kNcrisc),
          {family + "_compute_trisc0", hw::kTrisc0},
          {family + "_compute_trisc1", hw::kTrisc1},
          {family + "_compute_trisc2", hw::kTrisc2},
          {family == "attention" ? "attention_writer" : "tile_writer", hw::kBrisc}}) {
      const auto image = LoadKernel(ops::OperationElf(name), name);
      EXPECT_TRUE(image.ok()) << image.status().ToString();
      spec.kernels.push_back({*image, hart, cores.ranges()});
    }
    for (const OpBuffer& buffer : buffers) {
      spec.circular_buffers.push_back({buffer.index, buffer.pages, Tile::BytesIn(buffer.format),
                                       cores.ranges(), static_cast<uint32_t>(buffer.format) + 1});
    }
    const auto program = BuildProgram(1, spec, card_->description().grid);
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    if (program.ok()) program_ = *program;
  }

  // Input i at OpInputAddress(i); fills the output, which no kernel has written then.
  void Load(const std::vector<OpTensor>& inputs, const OpTensor& output) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Status written = card_.Write(inputs[i].At(OpInputAddress(i)), 0, inputs[i].Encode());
      EXPECT_TRUE(written.ok()) << written.ToString();
    }
    const Region region = output.At(kOpOutputAddress);
    const std::vector<std::byte> unwritten(region.size_bytes, std::byte{0x7E});
    const Status written = card_.Write(region, 0, unwritten);
    EXPECT_TRUE(written.ok()) << written.ToString();
  }
  // `arguments`: of the reader, the compute kernel and the writer.
  void Launch(const KernelArguments& reader, const KernelArguments& compute,
              const KernelArguments& writer) {
    const Status launched =
        card_.Submit(LaunchCommand{program_, {reader, compute, compute, compute, writer}});
    EXPECT_TRUE(launched.ok()) << launched.ToString();
  }
  void Read(OpTensor& output) {
    const Region region = output.At(kOpOutputAddress);
    const auto bytes = card_.Read(region, 0, region.size_bytes);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    output.Decode(*bytes);
  }

 private:
  BootedCard& card_;
  std::shared_ptr<const Program> program_;
};

}  // namespace ttfd
