// Addresses, conversions and masks of the packer.
#include "runtime/sim/tensix/packer.h"

#include <cstring>

#include "runtime/sim/tensix/formats.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

constexpr uint32_t kRowsOfInstruction = 4;
constexpr uint32_t kAllColumns = 0xFFFF;

enum ReluMode : uint32_t { kNoRelu, kRelu, kReluAboveThreshold, kReluUpToThreshold };

// `bits` and `threshold` are of 16 or 32 bits alike; `sign` is the sign's bit. Of 32 bits the highest 19 decide what is
// above the threshold.
uint32_t Relu(uint32_t mode, uint32_t threshold, uint32_t sign, uint32_t bits) {
  if (mode == kNoRelu) return bits;
  if ((bits & sign) != 0) return 0;
  if (mode == kReluAboveThreshold && bits <= threshold) return 0;
  const uint32_t ignored = sign == kSignBit32 ? 13 : 0;
  if (mode == kReluUpToThreshold && bits >> ignored > threshold >> ignored) return threshold;
  return bits;
}

bool IsModelledMask(uint32_t mask) { return mask <= 1 || mask == kAllColumns; }

}  // namespace

Outcome Packer::FindConversion(Conversion* conversion) {
  conversion->from_32_bit = config_[isa::kPackRead32Bit] != 0;
  conversion->in = config_.format(isa::kPackInFormat);
  conversion->out = config_.format(isa::kPackOutFormat);
  if (config_.format(isa::kAluDstFormat) != conversion->in) {
    return report_.Refuse("format of Dst", "it is not the packer's in format");
  }
  const bool bfloat16 = conversion->in == isa::Format::kFloat16B;
  const bool float32 = conversion->in == isa::Format::kFloat32;
  if (bfloat16 && conversion->out == conversion->in) return Outcome::kDone;
  if (bfloat16 && conversion->out == isa::Format::kFloat32 && !conversion->from_32_bit) {
    return Outcome::kDone;
  }
  if (float32 && conversion->out == conversion->in && conversion->from_32_bit) {
    return Outcome::kDone;
  }
  return report_.Refuse("formats",
                        "the model packs bfloat16 as bfloat16, as float32 from a 16-bit Dst, and "
                        "float32 as float32 from a "
                        "32-bit one");
}

Outcome Packer::Plan(const AddressCounters& at, const Conversion& conversion, uint32_t* row,
                     uint32_t* address) {
  if (at.source.at[kX] != 0 || at.dest.at[kX] != kColumns - 1) {
    return report_.Refuse("x counters", "the packer moves rows of 16 datums: 0 to 15");
  }
  for (const isa::ConfigField stride : {isa::kPackSourceXStride, isa::kPackSourceYStride,
                                        isa::kPackSourceZStride, isa::kPackSourceWStride}) {
    if (config_[stride] % conversion.in_bytes() != 0) {
      return report_.Refuse("strides in Dst", "they are multiples of a datum");
    }
  }
  const uint32_t from = (at.source.at[kY] * config_[isa::kPackSourceYStride] +
                         at.source.at[kZ] * config_[isa::kPackSourceZStride] +
                         at.source.at[kW] * config_[isa::kPackSourceWStride]) /
                        conversion.in_bytes();
  if (from % kColumns != 0) {
    return report_.Refuse("address in Dst", "it is no multiple of a row");
  }
  *row = (from / kColumns + config_[isa::kPackDstOffset]) % kDstRows;
  if (*row + kRowsOfInstruction > kDstRows) {
    return report_.Refuse("address in Dst", "the rows pass the end of Dst");
  }
  if (!continues_ && (at.dest.at[kZ] != 0 || at.dest.at[kW] != 0)) {
    return report_.Refuse("z and w counters", "the packer's own z and w in L1 are 0");
  }
  const uint32_t offset = at.dest.at[kY] * config_[isa::kPackDestYStride] >> 4;
  *address = continues_ ? next_address_ : (config_[isa::kPackAddress] + 1 + offset) << 4;
  const uint32_t bytes = kRowsOfInstruction * kColumns * conversion.out_bytes();
  if (uint64_t{*address} + bytes > l1_.size()) {
    return report_.Refuse("address", "the tile is not inside L1");
  }
  const uint32_t planes = config_[isa::kPackRowsPerPlane];
  if (planes == 0 || planes > 16) {
    return report_.Refuse("configuration word 28", "a plane has 1 to 16 rows");
  }
  if (!IsModelledMask(config_[isa::kPackEdgeMask0]) ||
      !IsModelledMask(config_[isa::kPackEdgeMask1])) {
    return report_.Refuse("edge mask", "modelled are the masks 0, 1 and 0xFFFF");
  }
  if (config_[isa::kPackReluMode] > kReluUpToThreshold) {
    return report_.Refuse("configuration word 2", "ReLU has the modes 0 to 3");
  }
  if (config_[isa::kPackReluMode] != kNoRelu &&
      (config_[isa::kPackReluThreshold] & kSignBit16) != 0) {
    return report_.Refuse("configuration word 2", "the threshold of ReLU is not negative");
  }
  return Outcome::kDone;
}

uint32_t Packer::EdgeSet(uint32_t row) const {
  const uint32_t y = row % config_[isa::kPackRowsPerPlane];
  return config_.word(isa::kPackRowSets + config_[isa::kPackRowSetSelect]) >> 2 * y & 3;
}

void Packer::ConvertRow(const Conversion& conversion, const DstBlock& row, PackedRow& to) const {
  if (conversion.in == isa::Format::kFloat32) {
    for (uint32_t i = 0; i < kColumns; ++i) to[i] = uint32_t{row.high[0][i]} << 16 | row.low[0][i];
  } else if (conversion.from_32_bit) {
    for (uint32_t i = 0; i < kColumns; ++i) {
      to[i] = PackFloat32AsBFloat16(uint32_t{row.high[0][i]} << 16 | row.low[0][i]);
    }
  } else {
    for (uint32_t i = 0; i < kColumns; ++i) to[i] = PackBFloat16(row.high[0][i]);
  }
  const bool is_float32 = conversion.in == isa::Format::kFloat32;
  if (const uint32_t mode = config_[isa::kPackReluMode]; mode != kNoRelu) {
    const uint32_t threshold = config_[isa::kPackReluThreshold] << (is_float32 ? 16 : 0);
    const uint32_t sign = is_float32 ? kSignBit32 : kSignBit16;
    for (uint32_t& bits : to) bits = Relu(mode, threshold, sign, bits);
  }
  if (!is_float32 && conversion.out == isa::Format::kFloat32) {
    for (uint32_t& bits : to) bits <<= 16;
  }
}

Outcome Packer::Execute(uint32_t thread, isa::PACR instruction) {
  if (instruction.last(0).addr_mode(0).word != isa::PACR{}.word) {
    return report_.Refuse("flags", "modelled are the fields last and addr_mode; the others are 0");
  }
  const uint32_t modifier =
      config_.thread(thread, isa::kThreadAddrModPack + instruction.addr_mode());
  if (isa::kAddrModDestYCr.Of(modifier) != 0) {
    return report_.Refuse("addr_mode", "its modifier returns y in L1, which the model does not");
  }
  AddressCounters& at = counters_.of(thread, kPack);
  Conversion conversion;
  uint32_t row = 0;
  uint32_t address = 0;
  if (FindConversion(&conversion) != Outcome::kDone) return Outcome::kRefused;
  if (Plan(at, conversion, &row, &address) != Outcome::kDone) return Outcome::kRefused;

  if (!continues_) rows_ = 0;
  for (uint32_t i = 0; i < kRowsOfInstruction; ++i) {
    if (EdgeSet(rows_ + i) > 1) return report_.Refuse("edge mask", "a row has mask 0 or 1");
  }
  std::byte* to = l1_.data() + address;
  for (uint32_t i = 0; i < kRowsOfInstruction; ++i, ++rows_) {
    const uint32_t mask = config_[EdgeSet(rows_) == 1 ? isa::kPackEdgeMask1 : isa::kPackEdgeMask0];
    PackedRow bits;
    ConvertRow(conversion, dst_.Read(row + i, conversion.from_32_bit), bits);
    if (mask != kAllColumns) {
      for (uint32_t k = 0; k < kColumns; ++k) bits[k] = (mask >> k & 1) != 0 ? bits[k] : 0;
    }
    if (conversion.out_bytes() == 4) {
      std::memcpy(to, bits, sizeof(bits));
    } else {
      uint16_t halves[kColumns];
      for (uint32_t k = 0; k < kColumns; ++k) halves[k] = static_cast<uint16_t>(bits[k]);
      std::memcpy(to, halves, sizeof(halves));
    }
    to += kColumns * conversion.out_bytes();
  }
  report_.written_address = address;
  report_.written_bytes = kRowsOfInstruction * kColumns * conversion.out_bytes();
  next_address_ = address + report_.written_bytes;
  continues_ = instruction.last() == 0;
  AdvancePack(modifier, &at);
  return Outcome::kDone;
}

}  // namespace ttfd::sim::tensix
