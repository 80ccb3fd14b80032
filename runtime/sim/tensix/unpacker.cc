// Addresses of a tile in L1 and in the source registers.
#include "runtime/sim/tensix/unpacker.h"

#include <algorithm>

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

constexpr uint32_t kDatumBytes = 2;  // of bfloat16
// SrcA's address has four rows more than its row. Source: ttsim 1.10.0.
constexpr uint32_t kSrcARowOffset = 4;
constexpr uint32_t kSmallestBFloat16 = 0xFFFF0000;  // for the FPU, which has no infinity
constexpr uint32_t kRowsAtOnce = 4;  // of 16-bit datums, where SrcA gets more than one row

void UnpackRow(const std::byte* from, uint32_t count, SourceRow& to) {
  if (count == kColumns) {  // a loop of constant length
    for (uint32_t i = 0; i < kColumns; ++i) {
      to[i] = uint32_t{LoadAt<uint16_t>(from + i * kDatumBytes)} << 16;
    }
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    to[i] = uint32_t{LoadAt<uint16_t>(from + i * kDatumBytes)} << 16;
  }
}

void UnpackColumn(const std::byte* from, uint32_t count, SourceRow* face, uint32_t column) {
  for (uint32_t i = 0; i < count; ++i) {
    face[i][column] = uint32_t{LoadAt<uint16_t>(from + i * kDatumBytes)} << 16;
  }
}

}  // namespace

Outcome Unpackers::CheckConfig(uint32_t thread, uint32_t unpacker) {
  const isa::UnpackerConfig& of = isa::kUnpackers[unpacker];
  const isa::Format in = config_.format(of.in_format);
  if (in != isa::Format::kFloat16B || config_.format(of.out_format) != in) {
    return report_.Refuse("formats", "the model unpacks bfloat16 as bfloat16");
  }
  if (config_[of.uncompressed] != 1 || (config_[of.no_zero_compression] & 1) != 1) {
    return report_.Refuse("compression", "the model unpacks tiles that are not compressed");
  }
  if (config_.thread(thread, isa::kThreadUnpackSet) != 4) {
    return report_.Refuse("thread configuration 5", "it is 4 where SrcA and SrcB are filled");
  }
  return Outcome::kDone;
}

Outcome Unpackers::Plan(uint32_t unpacker, const AddressCounters& at, Transfer* transfer) {
  const isa::UnpackerConfig& of = isa::kUnpackers[unpacker];
  const uint32_t y_stride = config_[of.x_dim];
  const uint32_t z_stride = y_stride * config_[of.y_dim];
  const uint32_t w_stride = z_stride * std::max(config_[of.z_dim], 1u);
  const uint32_t first = at.source.at[kX] + at.source.at[kY] * y_stride +
                         at.source.at[kZ] * z_stride + at.source.at[kW] * w_stride;
  const uint32_t base = (config_[of.address] + config_[of.offset] + 1) << 4;
  const uint32_t last_x = at.dest.at[kX];
  if (last_x < at.source.at[kX] || last_x - at.source.at[kX] >= kSourceRows * kColumns) {
    return report_.Refuse("x counters", "the unpacker moves 1 to 1024 datums");
  }
  transfer->count = last_x - at.source.at[kX] + 1;
  const uint64_t start = base + uint64_t{first} * kDatumBytes;
  if (start + uint64_t{transfer->count} * kDatumBytes > l1_.size()) {
    return report_.Refuse("address", "the tile is not inside L1");
  }
  transfer->address = static_cast<uint32_t>(start);
  if (unpacker == 0 && config_[of.transpose] != 0 && start % 16 != 0) {
    return report_.Refuse("address", "a transposition begins at a multiple of 16");
  }
  if (at.dest.at[kW] != 0) return report_.Refuse("w counter", "the destination's is 0");
  if (config_[of.dest_y_stride] % kDatumBytes != 0 ||
      config_[of.dest_z_stride] % kDatumBytes != 0) {
    return report_.Refuse("strides in Src", "they are multiples of a datum");
  }

  uint32_t to =
      (at.dest.at[kY] * config_[of.dest_y_stride] + at.dest.at[kZ] * config_[of.dest_z_stride]) /
      kDatumBytes;
  if (unpacker == 0) {
    to = config_[isa::kUnpack0DestAddress] + (config_[isa::kUnpack0AddCounter] != 0 ? to : 0);
    if (to < kSrcARowOffset * kColumns) {
      return report_.Refuse("address in SrcA", "SrcA begins at 64");
    }
    to -= kSrcARowOffset * kColumns;
  }
  transfer->row = to / kColumns;
  if (to % kColumns != 0) return report_.Refuse("address in Src", "it is no multiple of a row");
  if (unpacker == 0 && transfer->count > kColumns && transfer->row % kRowsAtOnce != 0) {
    return report_.Refuse("address in SrcA", "several rows begin at a multiple of 4");
  }
  const uint32_t rows = (transfer->count + kColumns - 1) / kColumns;
  if (unpacker == 1 && transfer->row + rows > kSourceRows) {
    return report_.Refuse("address in SrcB", "SrcB has 64 rows");
  }
  return Outcome::kDone;
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
  if (CheckConfig(thread, unpacker) != Outcome::kDone) return Outcome::kRefused;
  if (Plan(unpacker, at, &transfer) != Outcome::kDone) return Outcome::kRefused;

  SourceRow* const rows = source.unpack_bank().ChangeRows();
  const bool transposes = unpacker == 0 && config_[isa::kUnpackers[0].transpose] != 0;
  const std::byte* from = l1_.data() + transfer.address;
  for (uint32_t done = 0; done < transfer.count; done += kColumns, from += kColumns * kDatumBytes) {
    const uint32_t row = (transfer.row + done / kColumns) % kSourceRows;
    const uint32_t count = std::min(transfer.count - done, kColumns);
    if (transposes) {
      // To a column of the face of 16 rows.
      UnpackColumn(from, count, rows + row / kColumns * kColumns, row % kColumns);
    } else {
      UnpackRow(from, count, rows[row]);
    }
  }
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
    std::fill_n(&source.unpack_bank().ChangeRows()[0][0], kSourceRows * kColumns,
                kSmallestBFloat16);
  }
  if (instruction.set_dvalid() != 0) HandOver(unpacker);
  return Outcome::kDone;
}

}  // namespace ttfd::sim::tensix
