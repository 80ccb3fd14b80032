// A compute kernel between chain_reader.cc and chain_writer.cc, on a booted card: tiles of bfloat16 in, tiles out.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "firmware/kernel_elfs.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/command/program.h"
#include "tests/support/booted_card.h"

namespace ttfd {

// Numbers in bfloat16: rounded as the packer does, ties away from zero; zero has no sign.
inline uint16_t ToBfloat16(float value) {
  return value == 0 ? 0 : static_cast<uint16_t>((std::bit_cast<uint32_t>(value) + 0x8000) >> 16);
}
inline float FromBfloat16(uint16_t word) { return std::bit_cast<float>(uint32_t{word} << 16); }

struct Tile {
  static constexpr uint32_t kSide = 32, kFace = 16, kWords = kSide * kSide, kBytes = 2 * kWords;
  // Where row `row`, column `column` lies in a tile: four faces, each row by row.
  static size_t At(uint32_t row, uint32_t column) {
    const uint32_t face = row / kFace * 2 + column / kFace;
    return face * kFace * kFace + row % kFace * kFace + column % kFace;
  }
};

struct ComputeKernels {
  std::string compute;
  uint32_t inputs;  // circular buffers 0 and up; the next one is the output
  CoreRange cores = {0, 0, 0, 0};
  std::string reader = "chain_reader";
  std::string writer = "chain_writer";
  uint32_t buffered_tiles = 2;
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
      spec.kernels.push_back({*image, hart, {kernels.cores}});
    }
    for (uint32_t index = 0; index <= inputs_; ++index) {
      spec.circular_buffers.push_back(
          {index, kernels.buffered_tiles, Tile::kBytes, {kernels.cores}});
    }
    const auto program = BuildProgram(1, spec, card_.dispatcher->card().grid);
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
  }

  // Launches on inputs of as many tiles each; returns as many tiles. `arguments`: the compute kernel's from 3 on.
  std::vector<uint16_t> Run(const std::vector<std::vector<uint16_t>>& inputs,
                            const std::vector<uint32_t>& arguments) {
    const auto tiles = static_cast<uint32_t>(inputs[0].size() / Tile::kWords);
    const std::vector<uint32_t> share = {tiles, cores_, columns_};
    std::vector<KernelArguments> all(5);
    for (KernelArguments& kernel : all) kernel.common = share;
    all[0].common.push_back(inputs_);
    for (uint32_t i = 0; i < inputs_; ++i) {
      all[0].common.push_back(Address(i));
      const Status written =
          card_.Write(Tiles(Address(i), tiles), 0, std::as_bytes(std::span(inputs[i])));
      EXPECT_TRUE(written.ok()) << written.ToString();
    }
    all[0].common.push_back(kDelayClocks);
    for (size_t trisc = 1; trisc <= 3; ++trisc) {
      all[trisc].common.insert(all[trisc].common.end(), arguments.begin(), arguments.end());
    }
    all[4].common.insert(all[4].common.end(), {inputs_, Address(inputs_), kDelayClocks});
    const Status launched = card_.Submit(LaunchCommand{program_, all});
    EXPECT_TRUE(launched.ok()) << launched.ToString();
    const Region result = Tiles(Address(inputs_), tiles);
    const auto bytes = card_.Read(result, 0, result.size_bytes);
    EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
    std::vector<uint16_t> words(inputs[0].size());
    if (bytes.ok()) std::memcpy(words.data(), bytes->data(), bytes->size());
    return words;
  }

 private:
  static constexpr uint32_t kDelayClocks = 3000;  // of the slow kernels

  static uint32_t Address(uint32_t buffer) { return 0x100000 * (buffer + 1); }
  static Region Tiles(uint32_t address, uint32_t tiles) {
    return {MemoryKind::kDram, -1, address, Tile::kBytes, uint64_t{tiles} * Tile::kBytes};
  }

  BootedCard& card_;
  uint32_t inputs_;
  uint32_t columns_;
  uint32_t cores_;
  std::shared_ptr<const Program> program_;
};

}  // namespace ttfd
