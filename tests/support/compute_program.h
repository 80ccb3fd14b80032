// A compute kernel between chain_reader.cc and chain_writer.cc, on a booted card: tiles in, tiles out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "firmware/kernel_elfs.h"
#include "runtime/base/bytes.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/command/program.h"
#include "runtime/hw/tensix_isa.h"
#include "tests/support/booted_card.h"

namespace ttfd {

// Numbers in bfloat16: rounded as the packer does, ties away from zero; zero has no sign.
inline uint16_t ToBfloat16(float value) {
  return value == 0 ? 0 : static_cast<uint16_t>((std::bit_cast<uint32_t>(value) + 0x8000) >> 16);
}
inline float FromBfloat16(uint16_t word) { return std::bit_cast<float>(uint32_t{word} << 16); }

struct Tile {
  static constexpr uint32_t kSide = 32, kFace = 16, kWords = kSide * kSide;
  static constexpr uint32_t BytesIn(hw::tensix::Format format) {
    if (format == hw::tensix::Format::kBfp8B) return kWords / kFace + kWords;
    return (format == hw::tensix::Format::kFloat32 ? 4 : 2) * kWords;
  }
  // Where row `row`, column `column` lies in a tile: four faces, each row by row.
  static size_t At(uint32_t row, uint32_t column) {
    const uint32_t face = row / kFace * 2 + column / kFace;
    return face * kFace * kFace + row % kFace * kFace + column % kFace;
  }
};

// The numbers of whole tiles in a format, rounded as the packer does: finite ones that are not denormal. By the rule of
// docs/tensix.md alone, not by code of the model or of libttfd.
inline std::vector<std::byte> EncodeTiles(hw::tensix::Format format,
                                          std::span<const float> numbers) {
  std::vector<std::byte> bytes;
  const auto append = [&](auto word) {
    const auto* const from = reinterpret_cast<const std::byte*>(&word);
    bytes.insert(bytes.end(), from, from + sizeof(word));
  };
  if (format != hw::tensix::Format::kBfp8B) {
    for (const float number : numbers) {
      format == hw::tensix::Format::kFloat32 ? append(number == 0 ? 0.0f : number)
                                             : append(ToBfloat16(number));
    }
    return bytes;
  }
  for (; !numbers.empty(); numbers = numbers.subspan(Tile::kWords)) {
    std::vector<uint8_t> data;
    for (uint32_t row = 0; row < Tile::kWords; row += Tile::kFace) {
      uint32_t cut[Tile::kFace];
      uint32_t shared = 0;
      for (uint32_t i = 0; i < Tile::kFace; ++i) {
        cut[i] = ((std::bit_cast<uint32_t>(numbers[row + i]) >> 16) + 1) & 0xFFFE;
        shared = std::max(shared, cut[i] >> 7 & 0xFF);
      }
      append(static_cast<uint8_t>(shared));
      for (const uint32_t bits : cut) {
        const uint32_t exponent = bits >> 7 & 0xFF;
        const double mantissa = exponent == 0 ? 0 : (bits & 0x7F) | 0x80;
        const double nearest =
            std::floor(std::ldexp(mantissa, -1 - static_cast<int>(shared - exponent)) + 0.5);
        const auto magnitude = static_cast<uint32_t>(std::min(nearest, 127.0));
        data.push_back(static_cast<uint8_t>(magnitude == 0 ? 0 : magnitude | bits >> 15 << 7));
      }
    }
    for (const uint8_t byte : data) append(byte);
  }
  return bytes;
}
inline std::vector<float> DecodeTiles(hw::tensix::Format format, std::span<const std::byte> bytes) {
  std::vector<float> numbers;
  for (; !bytes.empty(); bytes = bytes.subspan(Tile::BytesIn(format))) {
    for (uint32_t i = 0; i < Tile::kWords; ++i) {
      if (format == hw::tensix::Format::kFloat32) {
        numbers.push_back(LoadAt<float>(&bytes[4 * i]));
      } else if (format == hw::tensix::Format::kFloat16B) {
        numbers.push_back(FromBfloat16(LoadAt<uint16_t>(&bytes[2 * i])));
      } else {
        const auto exponent = std::to_integer<int>(bytes[i / Tile::kFace]);
        const auto datum = std::to_integer<int>(bytes[Tile::kWords / Tile::kFace + i]);
        const auto magnitude = static_cast<float>(datum & 0x7F);
        numbers.push_back(std::ldexp((datum >> 7) != 0 ? -magnitude : magnitude, exponent - 133));
      }
    }
  }
  return numbers;
}

struct ComputeKernels {
  std::string compute;
  uint32_t inputs;  // circular buffers 0 and up; the next one is the output
  CoreRange cores = {0, 0, 0, 0};
  std::string reader = "chain_reader";
  std::string writer = "chain_writer";
  uint32_t buffered_tiles = 2;
  // By circular buffer; those that are left out have none, which is bfloat16.
  std::vector<hw::tensix::Format> formats = {};
  std::function<void(KernelImage&)> change = {};  // of the compute kernel for each hart
};

class ComputeProgram {
 public:
  ComputeProgram(BootedCard& card, const ComputeKernels& kernels)
      : card_(card),
        inputs_(kernels.inputs),
        columns_(kernels.cores.x1 - kernels.cores.x0 + 1),
        cores_(columns_ * (kernels.cores.y1 - kernels.cores.y0 + 1)) {
    const std::pair<std::string, hw::Hart> uses[] = {{kernels.reader, hw::kNcrisc},
                                                     {kernels.compute + "_trisc0", hw::kTrisc0},
                                                     {kernels.compute + "_trisc1", hw::kTrisc1},
                                                     {kernels.compute + "_trisc2", hw::kTrisc2},
                                                     {kernels.writer, hw::kBrisc}};
    ProgramSpec spec;
    for (const auto& [name, hart] : uses) {
      const auto image = LoadKernel(KernelElf(name), name);
      EXPECT_TRUE(image.ok()) << image.status().ToString();
      auto used = *image;
      if (kernels.change && hart >= hw::kTrisc0) {
        auto changed = std::make_shared<KernelImage>(**image);
        kernels.change(*changed);
        used = changed;
      }
      spec.kernels.push_back({used, hart, {kernels.cores}});
    }
    for (uint32_t index = 0; index <= inputs_; ++index) {
      const bool has_format = index < kernels.formats.size();
      tile_bytes_.push_back(
          Tile::BytesIn(has_format ? kernels.formats[index] : hw::tensix::Format::kFloat16B));
      spec.circular_buffers.push_back(
          {index,
           kernels.buffered_tiles,
           tile_bytes_.back(),
           {kernels.cores},
           has_format ? static_cast<uint32_t>(kernels.formats[index]) + 1 : 0});
    }
    const auto program = BuildProgram(1, spec, card_->description().grid);
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
  }

  // Launches on inputs of as many tiles each; returns as many tiles. `arguments`: the compute kernel's from 3 on.
  // `Word`: std::byte, or uint16_t for bfloat16.
  template <typename Word>
  std::vector<Word> Run(const std::vector<std::vector<Word>>& inputs,
                        const std::vector<uint32_t>& arguments) {
    const Status launched = Launch(inputs, arguments);
    EXPECT_TRUE(launched.ok()) << launched.ToString();
    const uint32_t tiles = TilesOf(inputs[0]);
    const auto result = Result<Word>(tiles);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? *result
                       : std::vector<Word>(Tiles(inputs_, tiles).size_bytes / sizeof(Word));
  }

  // The same in two steps, for launches that fail.
  template <typename Word>
  Status Launch(const std::vector<std::vector<Word>>& inputs,
                const std::vector<uint32_t>& arguments) {
    const uint32_t tiles = TilesOf(inputs[0]);
    const std::vector<uint32_t> share = {tiles, cores_, columns_};
    std::vector<KernelArguments> all(5);
    for (KernelArguments& kernel : all) kernel.common = share;
    all[0].common.push_back(inputs_);
    for (uint32_t i = 0; i < inputs_; ++i) {
      all[0].common.push_back(Address(i));
      RETURN_IF_ERROR(card_.Write(Tiles(i, tiles), 0, std::as_bytes(std::span(inputs[i]))));
    }
    all[0].common.push_back(kDelayClocks);
    for (size_t trisc = 1; trisc <= 3; ++trisc) {
      all[trisc].common.insert(all[trisc].common.end(), arguments.begin(), arguments.end());
    }
    all[4].common.insert(all[4].common.end(), {inputs_, Address(inputs_), kDelayClocks});
    return card_.Submit(LaunchCommand{program_, all});
  }
  template <typename Word>
  StatusOr<std::vector<Word>> Result(uint32_t tiles) {
    const Region result = Tiles(inputs_, tiles);
    ASSIGN_OR_RETURN(const auto bytes, card_.Read(result, 0, result.size_bytes));
    std::vector<Word> words(result.size_bytes / sizeof(Word));
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
  }

 private:
  static constexpr uint32_t kDelayClocks = 3000;  // of the slow kernels

  static uint32_t Address(uint32_t buffer) { return 0x100000 * (buffer + 1); }
  // Counts the tiles in words of circular buffer 0.
  template <typename Word>
  uint32_t TilesOf(const std::vector<Word>& words) const {
    return static_cast<uint32_t>(words.size() * sizeof(Word) / tile_bytes_[0]);
  }
  // The region of circular buffer `buffer`.
  Region Tiles(uint32_t buffer, uint32_t tiles) const {
    const uint32_t bytes = tile_bytes_[buffer];
    return {MemoryKind::kDram, -1, Address(buffer), bytes, uint64_t{tiles} * bytes};
  }

  BootedCard& card_;
  uint32_t inputs_;
  uint32_t columns_;
  uint32_t cores_;
  std::vector<uint32_t> tile_bytes_;  // of circular buffers
  std::shared_ptr<const Program> program_;
};

}  // namespace ttfd
