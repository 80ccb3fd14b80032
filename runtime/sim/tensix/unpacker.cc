// Addresses of a tile in L1 and in the registers, and formats of its datums.
#include "runtime/sim/tensix/unpacker.h"

#include <algorithm>
#include <iterator>

#include "runtime/sim/tensix/formats.h"

namespace ttfd::sim::tensix {
// A row of datums or a part of it, in L1.
struct Datums {
  const std::byte* data;
  const std::byte* exponents;  // of Bfp8_b
  uint32_t first;              // number of the first datum among the 16 that share an exponent
};

namespace {

namespace isa = hw::tensix;

// SrcA's address has four rows more than its row, and so has Dst's. Source: ttsim 1.10.0.
constexpr uint32_t kSkippedRows = 4;
constexpr uint32_t kSmallest = 0xFFFFE000;  // for the FPU, which has no infinity

// In a loop of constant length where the row is whole.
template <typename Convert>
[[gnu::always_inline]] inline void ConvertEach(uint32_t count, uint32_t* to, Convert convert) {
  if (count == kColumns) {
    for (uint32_t i = 0; i < kColumns; ++i) to[i] = convert(i);
    return;
  }
  for (uint32_t i = 0; i < count; ++i) to[i] = convert(i);
}

void UnpackBFloat16(const Datums& from, uint32_t count, uint32_t* to) {
  ConvertEach(count, to,
              [&](uint32_t i) { return uint32_t{LoadAt<uint16_t>(from.data + 2 * i)} << 16; });
}

template <uint32_t (*kConvert)(uint32_t)>
void UnpackFloat32(const Datums& from, uint32_t count, uint32_t* to) {
  ConvertEach(count, to, [&](uint32_t i) { return kConvert(LoadAt<uint32_t>(from.data + 4 * i)); });
}
constexpr uint32_t Unchanged(uint32_t bits) { return bits; }

void UnpackBfp8(const Datums& from, uint32_t count, uint32_t* to) {
  if (from.first == 0) {
    const auto exponent = std::to_integer<uint32_t>(*from.exponents);
    ConvertEach(count, to, [&](uint32_t i) {
      return Bfp8AsFloat32(std::to_integer<uint32_t>(from.data[i]), exponent);
    });
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    to[i] = Bfp8AsFloat32(std::to_integer<uint32_t>(from.data[i]),
                          std::to_integer<uint32_t>(from.exponents[(from.first + i) / kColumns]));
  }
}

}  // namespace

struct Unpackers::Conversion {
  isa::Format in;
  isa::Format out;
  bool to_dst;
  uint32_t rows_at_once;  // SrcA takes more than one row from multiples of so many on
  void (*row)(const Datums& from, uint32_t count, uint32_t* to);
};

constexpr Unpackers::Conversion Unpackers::kConversions[] = {
    {isa::Format::kFloat16B, isa::Format::kFloat16B, false, 4, UnpackBFloat16},
    {isa::Format::kFloat32, isa::Format::kTf32, false, 2, UnpackFloat32<Float32AsTf32>},
    {isa::Format::kFloat32, isa::Format::kFloat16B, false, 2, UnpackFloat32<Float32AsBFloat16>},
    {isa::Format::kFloat32, isa::Format::kFloat32, true, 1, UnpackFloat32<Unchanged>},
    {isa::Format::kBfp8B, isa::Format::kBfp8B, false, 8, UnpackBfp8},
};

const Unpackers::Conversion* Unpackers::FindConversion(uint32_t thread, uint32_t unpacker) {
  const isa::UnpackerConfig& of = isa::kUnpackers[unpacker];
  const isa::Format in = config_.format(of.in_format);
  const isa::Format out = config_.format(of.out_format);
  const bool to_dst = unpacker == 0 && config_[isa::kUnpack0ToDst] != 0;
  const auto* const conversion =
      std::find_if(std::begin(kConversions), std::end(kConversions), [&](const Conversion& each) {
        return each.in == in && each.out == out && each.to_dst == to_dst;
      });
  if (conversion == std::end(kConversions)) {
    report_.Refuse("formats",
                   "the model unpacks bfloat16 and Bfp8_b as they are, Float32 as TF32 or bfloat16 "
                   "into a source, and Float32 as it is into Dst");
    return nullptr;
  }
  if (config_[of.uncompressed] != 1 || (config_[of.no_zero_compression] & 1) != 1) {
    report_.Refuse("compression", "the model unpacks tiles that are not compressed");
    return nullptr;
  }
  if (config_.thread(thread, isa::kThreadUnpackSet) != (to_dst ? 0u : 4u)) {
    report_.Refuse("thread configuration 5", "it is 4 where SrcA and SrcB are filled, 0 for Dst");
    return nullptr;
  }
  if (to_dst && config_[of.transpose] != 0) {
    report_.Refuse("transposition", "the model transposes into SrcA");
    return nullptr;
  }
  return conversion;
}

Outcome Unpackers::PlanSource(uint32_t unpacker, const Conversion& conversion,
                              const AddressCounters& at, Transfer* transfer) {
  const isa::UnpackerConfig& of = isa::kUnpackers[unpacker];
  const uint32_t y_stride = config_[of.x_dim];
  const uint32_t z_stride = y_stride * config_[of.y_dim];
  const uint32_t w_stride = z_stride * std::max(config_[of.z_dim], 1u);
  const uint32_t first = at.source.at[kX] + at.source.at[kY] * y_stride +
                         at.source.at[kZ] * z_stride + at.source.at[kW] * w_stride;
  const uint64_t base = (config_[of.address] + config_[of.offset] + 1) << 4;
  const uint32_t last_x = at.dest.at[kX];
  if (last_x < at.source.at[kX] || last_x - at.source.at[kX] >= kSourceRows * kColumns) {
    return report_.Refuse("x counters", "the unpacker moves 1 to 1024 datums");
  }
  transfer->count = last_x - at.source.at[kX] + 1;
  uint64_t data = base;
  if (conversion.in == isa::Format::kBfp8B) {
    // One exponent for 16 datums, in a section before the data whose length is a multiple of 16.
    const uint64_t exponents = (uint64_t{w_stride} + kColumns - 1) / kColumns;
    data += (exponents + 15) / 16 * 16;
    const uint64_t last = base + (uint64_t{first} + transfer->count - 1) / kColumns;
    if (last >= l1_.size()) return report_.Refuse("address", "the exponents are not inside L1");
    transfer->exponents = static_cast<uint32_t>(base + first / kColumns);
    transfer->datum = first % kColumns;
  }
  const uint64_t start = data + uint64_t{first} * DatumBytes(conversion.in);
  if (start + uint64_t{transfer->count} * DatumBytes(conversion.in) > l1_.size()) {
    return report_.Refuse("address", "the tile is not inside L1");
  }
  transfer->address = static_cast<uint32_t>(start);
  if (unpacker == 0 && config_[of.transpose] != 0 && start % 16 != 0) {
    return report_.Refuse("address", "a transposition begins at a multiple of 16");
  }
  return Outcome::kDone;
}

Outcome Unpackers::PlanTarget(uint32_t unpacker, const Conversion& conversion,
                              const AddressCounters& at, Transfer* transfer) {
  const isa::UnpackerConfig& of = isa::kUnpackers[unpacker];
  const uint32_t bytes = DatumBytes(conversion.out);
  if (at.dest.at[kW] != 0) return report_.Refuse("w counter", "the destination's is 0");
  if (config_[of.dest_y_stride] % bytes != 0 || config_[of.dest_z_stride] % bytes != 0) {
    return report_.Refuse("strides in Src", "they are multiples of a datum");
  }
  uint32_t to =
      (at.dest.at[kY] * config_[of.dest_y_stride] + at.dest.at[kZ] * config_[of.dest_z_stride]) /
      bytes;
  if (unpacker == 0) {
    const bool adds = conversion.to_dst || config_[isa::kUnpack0AddCounter] != 0;
    to = config_[isa::kUnpack0DestAddress] + (adds ? to : 0);
    if (to < kSkippedRows * kColumns) {
      return report_.Refuse("address in SrcA", "SrcA and Dst begin at 64");
    }
    to -= kSkippedRows * kColumns;
  }
  transfer->row = to / kColumns;
  if (to % kColumns != 0) return report_.Refuse("address in Src", "it is no multiple of a row");
  if (unpacker == 0 && transfer->count > kColumns && transfer->row % conversion.rows_at_once != 0) {
    return report_.Refuse("address in SrcA",
                          "several rows begin at a multiple of 4; of Float32 2, of Bfp8_b 8");
  }
  const uint32_t end = transfer->row + (transfer->count + kColumns - 1) / kColumns;
  if (unpacker == 1 && end > kSourceRows) {
    return report_.Refuse("address in SrcB", "SrcB has 64 rows");
  }
  if (conversion.to_dst && end > kDstRows) {
    return report_.Refuse("address in Dst", "the rows pass the end of Dst");
  }
  return Outcome::kDone;
}

Outcome Unpackers::Plan(uint32_t unpacker, const Conversion& conversion, const AddressCounters& at,
                        Transfer* transfer) {
  const Outcome outcome = PlanSource(unpacker, conversion, at, transfer);
  return outcome != Outcome::kDone ? outcome : PlanTarget(unpacker, conversion, at, transfer);
}

void Unpackers::MoveToSource(uint32_t unpacker, const Conversion& conversion,
                             const Transfer& transfer) {
  SourceRow* const rows = sources_[unpacker]->unpack_bank().ChangeRows(conversion.out);
  const bool transposes = unpacker == 0 && config_[isa::kUnpackers[0].transpose] != 0;
  const uint32_t row_bytes = kColumns * DatumBytes(conversion.in);
  Datums from = {l1_.data() + transfer.address, l1_.data() + transfer.exponents, transfer.datum};
  for (uint32_t done = 0; done < transfer.count; done += kColumns, from.data += row_bytes) {
    const uint32_t row = (transfer.row + done / kColumns) % kSourceRows;
    const uint32_t count = std::min(transfer.count - done, kColumns);
    if (transposes) {
      // To a column of the face of 16 rows.
      SourceRow datums;
      conversion.row(from, count, datums);
      SourceRow* const face = rows + row / kColumns * kColumns;
      for (uint32_t i = 0; i < count; ++i) face[i][row % kColumns] = datums[i];
    } else {
      conversion.row(from, count, rows[row]);
    }
    ++from.exponents;
  }
}

void Unpackers::MoveToDst(const Conversion& conversion, const Transfer& transfer) {
  Datums from = {l1_.data() + transfer.address, nullptr, 0};
  for (uint32_t done = 0; done < transfer.count; done += kColumns) {
    const uint32_t count = std::min(transfer.count - done, kColumns);
    SourceRow datums;
    conversion.row(from, count, datums);
    const DstBlock to = dst_.Part(transfer.row + done / kColumns, true);
    for (uint32_t i = 0; i < count; ++i) to.Store(0, i, datums[i]);
    from.data += kColumns * DatumBytes(conversion.in);
  }
}

void Unpackers::HandOver(uint32_t unpacker) {
  sources_[unpacker]->HandOver(config_.format(isa::kUnpackers[unpacker].out_format));
  report_.changed |= EventOf(unpacker);
}

Outcome Unpackers::Execute(uint32_t thread, isa::UNPACR instruction) {
  constexpr isa::UNPACR kExpected = isa::UNPACR{}.last(1).ovrd_thread_id(1);
  if (instruction.set_dat_valid(0).addr_mode(0).unpacker(0).word != kExpected.word) {
    return report_.Refuse("flags", "modelled are last 1, ovrd_thread_id 1 and the others 0");
  }
  const uint32_t unpacker = instruction.unpacker();
  SourceFile& source = *sources_[unpacker];
  if (source.unpack_bank().valid) return report_.Wait(EventOf(unpacker));
  AddressCounters& at = counters_.of(thread, unpacker == 0 ? kUnpack0 : kUnpack1);
  Transfer transfer;
  const Conversion* const conversion = FindConversion(thread, unpacker);
  if (conversion == nullptr) return Outcome::kRefused;
  if (Plan(unpacker, *conversion, at, &transfer) != Outcome::kDone) return Outcome::kRefused;
  conversion->to_dst ? MoveToDst(*conversion, transfer)
                     : MoveToSource(unpacker, *conversion, transfer);
  report_.read_address =
      conversion->in == isa::Format::kBfp8B ? transfer.exponents : transfer.address;
  report_.read_bytes =
      transfer.address + transfer.count * DatumBytes(conversion->in) - report_.read_address;
  report_.unpacked_row = transfer.row;
  report_.unpacked_rows = conversion->to_dst ? (transfer.count + kColumns - 1) / kColumns : 0;
  const uint32_t steps = instruction.addr_mode();
  at.source.Add(kZ, steps & 3);
  at.source.Add(kY, steps >> 2 & 3);
  at.dest.Add(kZ, steps >> 4 & 3);
  at.dest.Add(kY, steps >> 6 & 3);
  if (instruction.set_dat_valid() != 0) HandOver(unpacker);
  return Outcome::kDone;
}

Outcome Unpackers::Execute(uint32_t /*thread*/, isa::UNPACR_NOP instruction) {
  constexpr isa::UNPACR_NOP kExpected = isa::UNPACR_NOP{}.unpack_pop(1);
  const uint32_t value = instruction.src_clr_val_ctrl();
  if (value > (instruction.unpacker() == 0 ? 1 : 0)) {
    return report_.Refuse("src_clr_val_ctrl", "0 clears; 1 fills SrcA with the smallest number");
  }
  if (instruction.src_clr_val_ctrl(0).stall_clr_cntrl(0).set_dvalid(0).unpacker(0).word !=
      kExpected.word) {
    return report_.Refuse("flags", "modelled is unpack_pop 1: the bank is filled");
  }
  const uint32_t unpacker = instruction.unpacker();
  SourceFile& source = *sources_[unpacker];
  const bool own_bank = instruction.stall_clr_cntrl() != 0;
  if (own_bank ? source.unpack_bank().valid : source.matrix_bank().valid) {
    return report_.Wait(EventOf(unpacker));
  }
  if (instruction.set_dvalid() != 0 && source.unpack_bank().valid) {
    return report_.Refuse("set_dvalid", "the unpacker's bank is valid already");
  }
  if (value == 0) {
    source.unpack_bank().Clear();
  } else {
    std::fill_n(&source.unpack_bank().ChangeRows(isa::Format::kTf32)[0][0], kSourceRows * kColumns,
                kSmallest);
  }
  if (instruction.set_dvalid() != 0) HandOver(unpacker);
  return Outcome::kDone;
}

}  // namespace ttfd::sim::tensix
