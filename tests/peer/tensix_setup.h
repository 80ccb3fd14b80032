// Writes what a program sets before its instructions and keeps its state: configuration, modifiers, address counters.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "tests/peer/tensix_program.h"
#include "tests/peer/tensix_state.h"

namespace ttfd {

// A format in L1 and what an unpacker makes of it.
struct UnpackedFormat {
  hw::tensix::Format in, out;
};
// All that go into a source.
inline constexpr UnpackedFormat kSourceFormats[] = {
    {hw::tensix::Format::kFloat16B, hw::tensix::Format::kFloat16B},
    {hw::tensix::Format::kFloat32, hw::tensix::Format::kTf32},
    {hw::tensix::Format::kFloat32, hw::tensix::Format::kFloat16B},
    {hw::tensix::Format::kBfp8B, hw::tensix::Format::kBfp8B},
};
constexpr uint32_t DatumBytes(hw::tensix::Format format) {
  using hw::tensix::Format;
  if (format == Format::kBfp8B) return 1;
  return format == Format::kFloat32 || format == Format::kTf32 ? 4 : 2;
}

class TensixSetup {
 public:
  static constexpr uint32_t kPacker = 4;  // bit of a set of address counters; unpackers are 1 and 2

  const TensixProgram& program() const { return program_; }

  // Configuration is sent by the next Configure(): with stores, or with SETDMAREG and WRCFG.
  void Set(hw::tensix::ConfigField field, uint32_t value);
  void SetWord(uint32_t word, uint32_t value);
  void SetFormat(hw::tensix::ConfigField field, hw::tensix::Format format) {
    Set(field, static_cast<uint32_t>(format));
  }
  void SetUnpackedFormat(uint32_t unpacker, UnpackedFormat format) {
    SetFormat(hw::tensix::kUnpackers[unpacker].in_format, format.in);
    SetFormat(hw::tensix::kUnpackers[unpacker].out_format, format.out);
  }
  hw::tensix::Format FormatOf(hw::tensix::ConfigField field) const {
    return static_cast<hw::tensix::Format>(Of(field));
  }
  void Configure(bool by_engine = false);
  // The next Configure() sends every word that was ever set.
  void SendAgain() { unsent_ = set_; }
  void SetThread(uint32_t id, uint32_t value);
  void SetModifier(uint32_t section, RowCounters::Modifier modifier);

  template <typename Instruction>
  void Push(Instruction instruction) {
    program_.Push(instruction.word);
  }
  void Store(uint32_t address, uint32_t value) { program_.Store(address, value); }
  void Load(uint32_t address);
  // Not after what was pushed.
  void Sync() { program_.Sync(); }
  uint32_t Reserve(uint32_t bytes) { return program_.Reserve(bytes); }

  // Address counters of the units in the set `units`.
  void SetAdc(uint32_t units, uint32_t channel, uint32_t dimension, uint32_t value);
  void SetAdcRange(uint32_t units, uint32_t first, uint32_t last);
  // Four values of 3 bits: X and Y (or Z and W) of channel 0, then of channel 1, where `mask` has the bit.
  void SetAdcPair(uint32_t units, bool zw, uint32_t mask, const std::array<uint32_t, 4>& values);
  void ZeroAdc(uint32_t units);

 protected:
  // Configuration in which nothing is special.
  explicit TensixSetup(bool float32_dst);

  // The packer in its plain state.
  void SetPlainPacker(bool read32, hw::tensix::Format in, hw::tensix::Format out);
  uint32_t Of(hw::tensix::ConfigField field) const { return field.field.Of(config_[field.word]); }
  uint32_t Word(uint32_t word) const { return config_[word]; }
  uint32_t Thread(uint32_t id) const { return thread_[id]; }
  RowCounters::Modifier Modifier(uint32_t section) const;
  AddressCounters& adc(uint32_t unit) { return adcs_[unit]; }
  const AddressCounters& adc(uint32_t unit) const { return adcs_[unit]; }

 private:
  void PrepareConfiguration(bool float32_dst);
  void PrepareThread();

  TensixProgram program_;
  std::array<uint32_t, hw::tensix::kConfigWords> config_{};
  std::bitset<hw::tensix::kConfigWords> set_, unsent_;
  std::array<uint32_t, hw::tensix::kThreadConfigWords> thread_{};
  std::array<AddressCounters, 3> adcs_;
};

}  // namespace ttfd
