// Addresses, conversions and masks of the packer.
#include "runtime/sim/tensix/packer.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "runtime/sim/tensix/formats.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

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

constexpr Packer::Conversion Packer::kConversions[] = {
    {false, isa::Format::kFloat16B, isa::Format::kFloat16B},
    {false, isa::Format::kFloat16B, isa::Format::kFloat32},
    {true, isa::Format::kFloat16B, isa::Format::kFloat16B},
    {true, isa::Format::kFloat32, isa::Format::kFloat32},
    {true, isa::Format::kFloat32, isa::Format::kBfp8B},
    {true, isa::Format::kBfp8B, isa::Format::kBfp8B},
};

Outcome Packer::FindConversion(Conversion* conversion) {
  conversion->from_32_bit = config_[isa::kPackRead32Bit] != 0;
  conversion->in = config_.format(isa::kPackInFormat);
  conversion->out = config_.format(isa::kPackOutFormat);
  if (config_.format(isa::kAluDstFormat) != conversion->in) {
    return report_.Refuse("format of Dst", "it is not the packer's in format");
  }
  if (std::find(std::begin(kConversions), std::end(kConversions), *conversion) ==
      std::end(kConversions)) {
    return report_.Refuse("formats",
                          "the model packs a 32-bit Dst as Float32 -> Float32 or Bfp8_b, bfloat16 "
                          "-> bfloat16, Bfp8_b -> Bfp8_b, and a 16-bit one as bfloat16 -> bfloat16 "
                          "or Float32");
  }
  return Outcome::kDone;
}

Outcome Packer::CheckConfig() {
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

Outcome Packer::Plan(const AddressCounters& at, const Conversion& conversion, uint32_t* row,
                     Target* target) {
  if (at.source.at[kX] != 0 || at.dest.at[kX] != kColumns - 1) {
    return report_.Refuse("x counters", "the packer moves rows of 16 datums: 0 to 15");
  }
  const uint32_t in_bytes = DatumBytes(conversion.in);
  for (const isa::ConfigField stride : {isa::kPackSourceXStride, isa::kPackSourceYStride,
                                        isa::kPackSourceZStride, isa::kPackSourceWStride}) {
    if (config_[stride] % in_bytes != 0) {
      return report_.Refuse("strides in Dst", "they are multiples of a datum");
    }
  }
  const uint32_t from = (at.source.at[kY] * config_[isa::kPackSourceYStride] +
                         at.source.at[kZ] * config_[isa::kPackSourceZStride] +
                         at.source.at[kW] * config_[isa::kPackSourceWStride]) /
                        in_bytes;
  if (from % kColumns != 0) {
    return report_.Refuse("address in Dst", "it is no multiple of a row");
  }
  *row = (from / kColumns + config_[isa::kPackDstOffset]) % kDstRows;
  if (*row + kPackedRows > kDstRows) {
    return report_.Refuse("address in Dst", "the rows pass the end of Dst");
  }
  if (!continues_ && (at.dest.at[kZ] != 0 || at.dest.at[kW] != 0)) {
    return report_.Refuse("z and w counters", "the packer's own z and w in L1 are 0");
  }
  *target = next_;
  if (!continues_) {
    const uint32_t offset = at.dest.at[kY] * config_[isa::kPackDestYStride] >> 4;
    target->exponents = (config_[isa::kPackAddress] + 1 + offset) << 4;
    target->data = target->exponents +
                   (conversion.has_exponents() ? config_[isa::kPackExponentBytes] * 16 : 0);
  }
  const uint64_t bytes = kPackedRows * kColumns * DatumBytes(conversion.out);
  if (target->data + bytes > l1_.size() ||
      (conversion.has_exponents() && target->exponents + uint64_t{16} > l1_.size())) {
    return report_.Refuse("address", "the tile is not inside L1");
  }
  return CheckConfig();
}

Outcome Packer::FindMasks(Masks& masks) {
  const uint32_t plane = config_[isa::kPackRowsPerPlane];
  const uint32_t sets = config_.word(isa::kPackRowSets + config_[isa::kPackRowSetSelect]);
  uint32_t y = rows_ % plane;
  for (uint32_t& mask : masks) {
    const uint32_t set = sets >> 2 * y & 3;
    if (set > 1) return report_.Refuse("edge mask", "a row has mask 0 or 1");
    mask = config_[set == 1 ? isa::kPackEdgeMask1 : isa::kPackEdgeMask0];
    if (++y == plane) y = 0;
  }
  return Outcome::kDone;
}

void Packer::ReadRow(const Conversion& conversion, const DstBlock& row, PackedRow& to) const {
  const auto convert = [&](auto each) {
    for (uint32_t i = 0; i < kColumns; ++i) to[i] = each(i);
  };
  const auto bits = [&](uint32_t i) { return uint32_t{row.high[0][i]} << 16 | row.low[0][i]; };
  if (conversion.is_float32()) {
    convert(bits);
  } else if (!conversion.from_32_bit) {
    convert([&](uint32_t i) { return PackBFloat16(row.high[0][i]); });
  } else if (conversion.in == isa::Format::kBfp8B) {
    convert([&](uint32_t i) { return PackFloat32AsEvenBFloat16(bits(i)); });
  } else {
    convert([&](uint32_t i) { return PackFloat32AsBFloat16(bits(i)); });
  }
  if (const uint32_t mode = config_[isa::kPackReluMode]; mode != kNoRelu) {
    const uint32_t threshold = config_[isa::kPackReluThreshold]
                               << (conversion.is_float32() ? 16 : 0);
    const uint32_t sign = conversion.is_float32() ? kSignBit32 : kSignBit16;
    for (uint32_t& datum : to) datum = Relu(mode, threshold, sign, datum);
  }
}

void Packer::WriteRow(const Conversion& conversion, const PackedRow& row, const Target& to) {
  std::byte* const data = l1_.data() + to.data;
  if (conversion.out == isa::Format::kFloat32) {
    PackedRow words;
    const uint32_t shift = conversion.is_float32() ? 0 : 16;
    for (uint32_t i = 0; i < kColumns; ++i) words[i] = row[i] << shift;
    std::memcpy(data, words, sizeof(words));
    return;
  }
  uint16_t halves[kColumns];
  for (uint32_t i = 0; i < kColumns; ++i) {
    halves[i] = conversion.is_float32() ? CutToBFloat16(row[i]) : static_cast<uint16_t>(row[i]);
  }
  if (!conversion.has_exponents()) {
    std::memcpy(data, halves, sizeof(halves));
    return;
  }
  uint32_t exponent = 0;
  for (const uint16_t half : halves) exponent = std::max<uint32_t>(exponent, half >> 7 & 0xFF);
  uint8_t bytes[kColumns];
  for (uint32_t i = 0; i < kColumns; ++i) bytes[i] = PackBfp8(halves[i], exponent);
  l1_[to.exponents] = static_cast<std::byte>(exponent);
  std::memcpy(data, bytes, sizeof(bytes));
}

void Packer::PadExponents(uint32_t end) {
  for (; end % 16 != 0; ++end) l1_[end] = std::byte{0};
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
  Target to;
  if (FindConversion(&conversion) != Outcome::kDone) return Outcome::kRefused;
  if (Plan(at, conversion, &row, &to) != Outcome::kDone) return Outcome::kRefused;

  if (!continues_) rows_ = 0;
  Masks masks;
  if (FindMasks(masks) != Outcome::kDone) return Outcome::kRefused;
  report_.written_address = conversion.has_exponents() ? to.exponents : to.data;
  for (uint32_t i = 0; i < kPackedRows; ++i) {
    PackedRow bits;
    ReadRow(conversion, dst_.Read(row + i, conversion.from_32_bit), bits);
    if (masks[i] != kAllColumns) {
      for (uint32_t k = 0; k < kColumns; ++k) bits[k] = (masks[i] >> k & 1) != 0 ? bits[k] : 0;
    }
    WriteRow(conversion, bits, to);
    to.data += kColumns * DatumBytes(conversion.out);
    ++to.exponents;
  }
  rows_ += kPackedRows;
  report_.packed_row = row;
  report_.written_bytes = to.data - report_.written_address;
  continues_ = instruction.last() == 0;
  if (conversion.has_exponents() && !continues_) PadExponents(to.exponents);
  next_ = to;
  AdvancePack(modifier, &at);
  return Outcome::kDone;
}

}  // namespace ttfd::sim::tensix
