// Which transfers of the unpackers and of the packer libttsim accepts.
#include <algorithm>

#include "tests/peer/tensix_writer.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

constexpr uint32_t kBytes = 2;  // of a datum that is unpacked
constexpr uint32_t kRow = 16;   // datums
constexpr uint32_t kSourceDatums = 1024;
constexpr uint32_t kBurstRows = 4;  // of SrcA, with data of 16 bits
constexpr uint32_t kSkipped = 64;   // datums of SrcA's address that are not there
constexpr uint32_t kDstLast = 1024 - 4;
constexpr uint64_t kOperandsEnd =
    TensixProgram::kOperands + (TensixProgram::kOnesTile + 1) * TensixProgram::kTileBytes;

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
  const uint64_t at = base * 16 + first * kBytes;
  if (counters.At(1, AddressCounters::kX) < counters.At(0, AddressCounters::kX)) return false;
  if (counters.count() > kSourceDatums || at + counters.count() * kBytes > kOperandsEnd)
    return false;
  return Of(config.transpose) == 0 || at % 16 == 0;
}

bool TensixWriter::UnpackWrites(uint32_t unpacker) const {
  const tensix::UnpackerConfig& config = tensix::kUnpackers[unpacker];
  const AddressCounters& counters = adc(unpacker);
  if (counters.At(1, AddressCounters::kW) != 0) return false;
  uint32_t to = (counters.At(1, AddressCounters::kY) * Of(config.dest_y_stride) +
                 counters.At(1, AddressCounters::kZ) * Of(config.dest_z_stride)) /
                kBytes;
  if (unpacker == 1) return to % kRow == 0 && to + counters.count() <= kSourceDatums;
  if (Of(tensix::kUnpack0AddCounter) == 0) to = 0;
  to += Of(tensix::kUnpack0DestAddress);
  const uint32_t alignment = counters.count() > kRow ? kBurstRows * kRow : kRow;
  return to >= kSkipped && to % alignment == 0;
}

bool TensixWriter::Unpack(uint32_t unpacker, bool hand_over, uint32_t steps) {
  SourceBanks& banks = banks_[unpacker];
  if (!banks.free() || !UnpackReads(unpacker) || !UnpackWrites(unpacker)) return false;
  AddressCounters& counters = adc(unpacker);
  counters.Add(0, AddressCounters::kZ, steps & 3);
  counters.Add(0, AddressCounters::kY, steps >> 2 & 3);
  counters.Add(1, AddressCounters::kZ, steps >> 4 & 3);
  counters.Add(1, AddressCounters::kY, steps >> 6 & 3);
  if (hand_over) banks.HandOver();
  Push(tensix::UNPACR{}
           .unpacker(unpacker)
           .last(1)
           .ovrd_thread_id(1)
           .set_dat_valid(hand_over ? 1 : 0)
           .addr_mode(steps));
  return true;
}

void TensixWriter::UnpackTile(uint32_t unpacker, uint32_t tile) {
  Set(tensix::kUnpackers[unpacker].address,
      (TensixProgram::kOperands + tile * TensixProgram::kTileBytes) / 16 - 1);
  Configure();
  const uint32_t units = 1u << unpacker;
  ZeroAdc(units);
  SetAdcRange(units, 0, kSourceDatums - 1);
  Unpack(unpacker, true, 0);
}

bool TensixWriter::Pack(uint32_t modifier, bool last, uint32_t end) {
  AddressCounters& counters = adc(2);
  const auto bytes = [this](tensix::ConfigField format) { return Of(format) == 0 ? 4u : 2u; };
  if (counters.At(0, AddressCounters::kX) != 0 || counters.count() != kRow) return false;
  const uint32_t from = (counters.At(0, AddressCounters::kY) * Of(tensix::kPackSourceYStride) +
                         counters.At(0, AddressCounters::kZ) * Of(tensix::kPackSourceZStride) +
                         counters.At(0, AddressCounters::kW) * Of(tensix::kPackSourceWStride)) /
                        bytes(tensix::kPackInFormat);
  if (from % kRow != 0) return false;
  if ((from / kRow + Of(tensix::kPackDstOffset)) % 1024 > kDstLast) return false;
  uint32_t address = pack_address_;
  if (!packing_) {
    if ((counters.At(1, AddressCounters::kZ) | counters.At(1, AddressCounters::kW)) != 0)
      return false;
    const uint32_t offset = counters.At(1, AddressCounters::kY) * Of(tensix::kPackDestYStride) / 16;
    address = (Of(tensix::kPackAddress) + 1 + offset) * 16;
  }
  if (address + 4 * kRow * bytes(tensix::kPackOutFormat) > end) return false;
  pack_address_ = address + 4 * kRow * bytes(tensix::kPackOutFormat);
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
