// Which transfers of the unpackers and of the packer libttsim accepts.
#include <algorithm>

#include "tests/peer/tensix_writer.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

constexpr uint32_t kRow = 16;  // datums
constexpr uint32_t kSourceDatums = 1024;
constexpr uint32_t kSkipped = 64;  // datums of SrcA's address that are not there
constexpr uint32_t kDstLast = 1024 - 4;
constexpr uint64_t kOperandsEnd =
    TensixProgram::kOperands + TensixProgram::kTiles * TensixProgram::kTileBytes;

// SrcA takes several rows from a multiple of so many on.
uint32_t BurstRows(tensix::Format in) { return 8 / DatumBytes(in); }

}  // namespace

// The datums lie among the operands.
bool TensixWriter::UnpackReads(uint32_t unpacker) const {
  const tensix::UnpackerConfig& config = tensix::kUnpackers[unpacker];
  const AddressCounters& counters = adc(unpacker);
  const uint64_t x = Of(config.x_dim);
  const uint64_t y = Of(config.y_dim), z = std::max(1u, Of(config.z_dim));
  const uint64_t first =
      counters.At(0, AddressCounters::kX) + counters.At(0, AddressCounters::kY) * x +
      counters.At(0, AddressCounters::kZ) * x * y + counters.At(0, AddressCounters::kW) * x * y * z;
  const uint64_t base =
      Word(config.address.word) + uint64_t{1} + (unpacker == 0 ? Of(config.offset) : 0);
  const tensix::Format in = FormatOf(config.in_format);
  uint64_t at = base * 16 + first * DatumBytes(in);
  if (in == tensix::Format::kBfp8B) at += ((x * y * z + 15) / 16 + 15) / 16 * 16;
  if (counters.At(1, AddressCounters::kX) < counters.At(0, AddressCounters::kX)) return false;
  if (counters.count() > kSourceDatums || at + counters.count() * DatumBytes(in) > kOperandsEnd)
    return false;
  return Of(config.transpose) == 0 || at % 16 == 0;
}

bool TensixWriter::UnpackWrites(uint32_t unpacker) const {
  const tensix::UnpackerConfig& config = tensix::kUnpackers[unpacker];
  const AddressCounters& counters = adc(unpacker);
  if (counters.At(1, AddressCounters::kW) != 0) return false;
  const uint32_t bytes = DatumBytes(FormatOf(config.out_format));
  uint32_t to = (counters.At(1, AddressCounters::kY) * Of(config.dest_y_stride) +
                 counters.At(1, AddressCounters::kZ) * Of(config.dest_z_stride)) /
                bytes;
  if (unpacker == 1) return to % kRow == 0 && to + counters.count() <= kSourceDatums;
  if (Of(tensix::kUnpack0AddCounter) == 0) to = 0;
  to += Of(tensix::kUnpack0DestAddress);
  const uint32_t burst = BurstRows(FormatOf(config.in_format)) * kRow;
  const uint32_t alignment = counters.count() > kRow ? burst : kRow;
  return to >= kSkipped && (to - kSkipped) % alignment == 0;
}

bool TensixWriter::Unpack(uint32_t unpacker, bool hand_over, uint32_t steps) {
  SourceBanks& banks = banks_[unpacker];
  if (!banks.free() || !UnpackReads(unpacker) || !UnpackWrites(unpacker)) return false;
  PushUnpack(unpacker, hand_over, steps);
  return true;
}

void TensixWriter::PushUnpack(uint32_t unpacker, bool hand_over, uint32_t steps) {
  AddressCounters& counters = adc(unpacker);
  counters.Add(0, AddressCounters::kZ, steps & 3);
  counters.Add(0, AddressCounters::kY, steps >> 2 & 3);
  counters.Add(1, AddressCounters::kZ, steps >> 4 & 3);
  counters.Add(1, AddressCounters::kY, steps >> 6 & 3);
  if (hand_over) {
    banks_[unpacker].HandOver(FormatOf(tensix::kUnpackers[unpacker].out_format));
  }
  Push(tensix::UNPACR{}
           .unpacker(unpacker)
           .last(1)
           .ovrd_thread_id(1)
           .set_dat_valid(hand_over ? 1 : 0)
           .addr_mode(steps));
}

bool TensixWriter::UnpackToDst(uint32_t row, uint32_t steps) {
  const tensix::UnpackerConfig& config = tensix::kUnpackers[0];
  const UnpackedFormat before = {FormatOf(config.in_format), FormatOf(config.out_format)};
  const uint32_t address = Of(tensix::kUnpack0DestAddress), transposes = Of(config.transpose);
  SetUnpackedFormat(0, {tensix::Format::kFloat32, tensix::Format::kFloat32});
  Set(tensix::kUnpack0DestAddress, kSkipped + row * kRow);
  Set(config.transpose, 0);
  const AddressCounters& counters = adc(0);
  const uint32_t offset = (counters.At(1, AddressCounters::kY) * Of(config.dest_y_stride) +
                           counters.At(1, AddressCounters::kZ) * Of(config.dest_z_stride)) /
                          DatumBytes(tensix::Format::kFloat32);
  const uint32_t first = row + offset / kRow;
  const uint32_t end = first + (counters.count() + kRow - 1) / kRow;
  const bool accepted = banks_[0].free() && counters.At(1, AddressCounters::kW) == 0 &&
                        offset % kRow == 0 && UnpackReads(0) && end <= kDstRows;
  if (accepted) {
    Set(tensix::kUnpack0ToDst, 1);
    Configure();
    SetThread(tensix::kThreadUnpackSet, 0);
    PushUnpack(0, false, steps);
    Set(tensix::kUnpack0ToDst, 0);
    for (uint32_t i = first; i < end; ++i) Touch32(i);
  }
  SetUnpackedFormat(0, before);
  Set(tensix::kUnpack0DestAddress, address);
  Set(config.transpose, transposes);
  Configure();
  if (accepted) SetThread(tensix::kThreadUnpackSet, 4);
  return accepted;
}

void TensixWriter::SetTileAddress(uint32_t unpacker, uint32_t tile) {
  Set(tensix::kUnpackers[unpacker].address,
      (TensixProgram::kOperands + tile * TensixProgram::kTileBytes) / 16 - 1);
  const uint32_t units = 1u << unpacker;
  ZeroAdc(units);
  SetAdcRange(units, 0, kSourceDatums - 1);
}

void TensixWriter::UnpackTile(uint32_t unpacker, uint32_t tile) {
  const bool is_block = FormatOf(tensix::kUnpackers[unpacker].in_format) == tensix::Format::kBfp8B;
  SetTileAddress(unpacker, is_block ? TensixProgram::kBlockTiles + tile % 8 : tile);
  Configure();
  Unpack(unpacker, true, 0);
}

void TensixWriter::UnpackTileToDst(uint32_t tile, uint32_t row) {
  SetTileAddress(0, tile);
  UnpackToDst(row, 0);
}

bool TensixWriter::Pack(uint32_t modifier, bool last, uint32_t end) {
  AddressCounters& counters = adc(2);
  const auto bytes = [this](tensix::ConfigField format) { return DatumBytes(FormatOf(format)); };
  if (counters.At(0, AddressCounters::kX) != 0 || counters.count() != kRow) return false;
  const uint32_t from = (counters.At(0, AddressCounters::kY) * Of(tensix::kPackSourceYStride) +
                         counters.At(0, AddressCounters::kZ) * Of(tensix::kPackSourceZStride) +
                         counters.At(0, AddressCounters::kW) * Of(tensix::kPackSourceWStride)) /
                        bytes(tensix::kPackInFormat);
  if (from % kRow != 0) return false;
  if ((from / kRow + Of(tensix::kPackDstOffset)) % 1024 > kDstLast) return false;
  uint32_t address = pack_address_, exponents = pack_exponents_;
  if (!packing_) {
    if ((counters.At(1, AddressCounters::kZ) | counters.At(1, AddressCounters::kW)) != 0)
      return false;
    const uint32_t offset = counters.At(1, AddressCounters::kY) * Of(tensix::kPackDestYStride) / 16;
    exponents = (Of(tensix::kPackAddress) + 1 + offset) * 16;
    address = exponents + Of(tensix::kPackExponentBytes) * 16;
  }
  if (address + 4 * kRow * bytes(tensix::kPackOutFormat) > end) return false;
  pack_address_ = address + 4 * kRow * bytes(tensix::kPackOutFormat);
  pack_exponents_ = exponents + 4;
  packing_ = !last;
  Push(tensix::PACR{}.addr_mode(modifier).last(last ? 1 : 0));
  StepPackCounters(Thread(tensix::kThreadAddrModPack + modifier));
  return true;
}

void TensixWriter::EndPacking() {
  if (!packing_) return;
  ZeroAdc(kPacker);
  SetAdcRange(kPacker, 0, kRow - 1);
  Pack(0, true, ~0u);
}

void TensixWriter::StepPackCounters(uint32_t modifier) {
  const auto step = [modifier](ReturningCounter& counter, uint32_t mask, tensix::Field increment,
                               tensix::Field back, tensix::Field clear) {
    const uint32_t value = increment.Of(modifier);
    if (clear.Of(modifier) != 0) {
      counter.Set(0);
    } else {
      back.Of(modifier) != 0 ? counter.Return(value, mask) : counter.Add(value, mask);
    }
  };
  constexpr tensix::Field kNone = {0, 0};
  auto& [source, destination] = adc(2).channels;
  step(source[1], AddressCounters::kMasks[1], tensix::kAddrModSourceYIncrement,
       tensix::kAddrModSourceYCr, tensix::kAddrModSourceYClear);
  step(destination[1], AddressCounters::kMasks[1], tensix::kAddrModDestYIncrement, kNone,
       tensix::kAddrModDestYClear);
  step(source[2], AddressCounters::kMasks[2], tensix::kAddrModSourceZIncrement, kNone,
       tensix::kAddrModSourceZClear);
  step(destination[2], AddressCounters::kMasks[2], tensix::kAddrModDestZIncrement, kNone,
       tensix::kAddrModDestZClear);
}

}  // namespace ttfd
