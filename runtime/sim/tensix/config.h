// Configuration of one engine: the words of bank 0, and each thread's own.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/hw/tensix_config.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

class Config {
 public:
  explicit Config(Report& report) : report_(report) {}

  uint32_t operator[](const hw::tensix::ConfigField& at) const {
    return at.field.Of(words_[at.word]);
  }
  uint32_t word(uint32_t index) const { return words_[index]; }
  uint32_t thread(uint32_t thread, uint32_t id) const { return threads_[thread][id]; }
  hw::tensix::Format format(const hw::tensix::ConfigField& at) const {
    return static_cast<hw::tensix::Format>((*this)[at]);
  }

  // The format in which `thread` computes with a source: the one that its bank recorded, or the configured one.
  hw::tensix::Format SourceAFormat(uint32_t of_thread, hw::tensix::Format recorded) const {
    return thread(of_thread, hw::tensix::kThreadSrcAFormatOverride) != 0
               ? format(hw::tensix::kAluSrcAFormat)
               : recorded;
  }
  hw::tensix::Format SourceBFormat(uint32_t of_thread, hw::tensix::Format recorded) const {
    return thread(of_thread, hw::tensix::kThreadSrcBFormatOverride) != 0
               ? format(hw::tensix::kAluSrcBFormat)
               : recorded;
  }

  // A word of bank 0, written by a hart or by an instruction. Only words and bits that the model, and the official
  // simulator, know; a refusal leaves the word as it was.
  Outcome Write(uint32_t index, uint32_t value);
  // False: the word cannot be read.
  static bool IsReadable(uint32_t index);

  // Instructions.
  Outcome SetThreadWord(uint32_t thread, hw::tensix::SETC16 instruction);
  Outcome MergeByte(uint32_t byte, uint32_t instruction);  // RMWCIB0 to 3

 private:
  Report& report_;
  std::array<uint32_t, hw::tensix::kConfigWords> words_{};
  std::array<std::array<uint16_t, hw::tensix::kThreadConfigWords>, hw::tensix::kThreads> threads_{};
};

}  // namespace ttfd::sim::tensix
