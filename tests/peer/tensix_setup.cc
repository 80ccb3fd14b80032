#include "tests/peer/tensix_setup.h"

#include "runtime/hw/tensix_isa.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

constexpr uint32_t kFirstDatum = 64;  // of SrcA, as the unpacker's destination counts
constexpr uint32_t kGpr = 8;          // that configuration passes through
constexpr uint32_t kBfloat16 = static_cast<uint32_t>(tensix::Format::kFloat16B);

}  // namespace

TensixSetup::TensixSetup(bool float32_dst) {
  PrepareConfiguration(float32_dst);
  PrepareThread();
}

void TensixSetup::PrepareConfiguration(bool float32_dst) {
  for (const uint32_t word : {0, 2, 14, 15, 17, 20, 21, 50, 56, 57, 59, 68, 69, 71, 92, 220}) {
    SetWord(word, 0);
  }
  Set(tensix::kAluSrcAFormat, kBfloat16);
  Set(tensix::kAluSrcBFormat, kBfloat16);
  Set(tensix::kAluFloat32Dst, float32_dst ? 1 : 0);
  for (uint32_t unpacker = 0; unpacker < 2; ++unpacker) {
    const tensix::UnpackerConfig& config = tensix::kUnpackers[unpacker];
    Set(config.in_format, kBfloat16);
    Set(config.uncompressed, 1);
    Set(config.x_dim, 1024);
    Set(config.y_dim, 1);
    Set(config.z_dim, 1);
    Set(config.out_format, kBfloat16);
    Set(config.no_zero_compression, 0xF);
    Set(config.address, TensixProgram::kOperands / 16 - 1);
  }
  SetWord(64, config_[64] | 1024u << 16);
  SetWord(86, 1024);
  SetWord(84, kFirstDatum);
  Set(tensix::kPackEdgeMask0, 0xFFFF);
  SetWord(25, 0);
  Set(tensix::kPackRowsPerPlane, 16);
  Set(tensix::kPackNoZeroCompression, 1);
  SetWord(180, 0);
  const tensix::Format dst = float32_dst ? tensix::Format::kFloat32 : tensix::Format::kFloat16B;
  SetPlainPacker(float32_dst, dst, dst);
  Configure();
}

void TensixSetup::PrepareThread() {
  for (const uint32_t id : {tensix::kThreadStateId, tensix::kThreadDstOffset,
                            tensix::kThreadSrcAFormatOverride, tensix::kThreadSrcBFormatOverride,
                            tensix::kThreadKeepDvalid, tensix::kThreadUnpackContext}) {
    SetThread(id, 0);
  }
  SetThread(tensix::kThreadUnpackSet, 4);
  for (uint32_t i = 0; i < tensix::kAddrMods; ++i) {
    SetModifier(i, {});
    SetThread(tensix::kThreadAddrModBias + i, 0);
  }
  for (uint32_t i = 0; i < tensix::kPackAddrMods; ++i) SetThread(tensix::kThreadAddrModPack + i, 0);
  ZeroAdc(7);
}

void TensixSetup::Set(tensix::ConfigField field, uint32_t value) {
  SetWord(field.word, field.field.In(config_[field.word], value));
}

void TensixSetup::SetWord(uint32_t word, uint32_t value) {
  config_[word] = value;
  set_[word] = unsent_[word] = true;
}

void TensixSetup::Configure(bool by_engine) {
  program_.Sync();
  for (uint32_t word = 0; word < config_.size(); ++word) {
    if (!unsent_[word]) continue;
    unsent_[word] = false;
    if (!by_engine) {
      program_.Store(hw::kTensixConfig + 4 * word, config_[word]);
      continue;
    }
    for (uint32_t half = 0; half < 2; ++half) {
      const uint32_t value = config_[word] >> 16 * half & 0xFFFF;
      Push(tensix::SETDMAREG{}
               .reg_index_16b(2 * kGpr + half)
               .payload_sig_sel(value & 0x3FFF)
               .payload_sig_sel_size(value >> 14));
    }
    Push(tensix::STALLWAIT{}.stall_res(tensix::kStallConfig).wait_res(tensix::kUntilThcon));
    Push(tensix::WRCFG{}.cfg_reg(word).gpr_address(kGpr));
  }
}

void TensixSetup::SetThread(uint32_t id, uint32_t value) {
  thread_[id] = value;
  Push(tensix::SETC16{}.setc16_reg(id).setc16_value(value));
}

void TensixSetup::SetModifier(uint32_t section, RowCounters::Modifier modifier) {
  SetThread(tensix::kThreadAddrModAb + section, modifier.ab);
  SetThread(tensix::kThreadAddrModDst + section, modifier.dst);
}

void TensixSetup::Load(uint32_t address) {
  program_.Sync();
  program_.Load(address);
}

void TensixSetup::SetAdc(uint32_t units, uint32_t channel, uint32_t dimension, uint32_t value) {
  for (uint32_t i = 0; i < adcs_.size(); ++i) {
    if ((units >> i & 1) != 0) adcs_[i].Set(channel, dimension, value);
  }
  Push(tensix::SETADC{}.cnt_set_mask(units).channel_index(channel).dimension_index(dimension).value(
      value));
}

void TensixSetup::SetAdcRange(uint32_t units, uint32_t first, uint32_t last) {
  for (uint32_t i = 0; i < adcs_.size(); ++i) {
    if ((units >> i & 1) == 0) continue;
    adcs_[i].Set(0, AddressCounters::kX, first);
    adcs_[i].Set(1, AddressCounters::kX, last);
  }
  Push(tensix::SETADCXX{}.cnt_set_mask(units).x_start(first).x_end(last));
}

void TensixSetup::SetAdcPair(uint32_t units, bool zw, uint32_t mask,
                             const std::array<uint32_t, 4>& values) {
  for (uint32_t i = 0; i < adcs_.size(); ++i) {
    for (uint32_t k = 0; k < values.size(); ++k) {
      if ((units >> i & 1) != 0 && (mask >> k & 1) != 0) {
        adcs_[i].Set(k / 2, k % 2 + (zw ? 2 : 0), values[k]);
      }
    }
  }
  const auto filled = [&](auto instruction) {
    return instruction.cnt_set_mask(units)
        .bit_mask(mask)
        .ch0_x(values[0])
        .ch0_y(values[1])
        .ch1_x(values[2])
        .ch1_y(values[3]);
  };
  zw ? Push(filled(tensix::SETADCZW{})) : Push(filled(tensix::SETADCXY{}));
}

void TensixSetup::ZeroAdc(uint32_t units) {
  SetAdcPair(units, false, 15, {});
  SetAdcPair(units, true, 15, {});
}

void TensixSetup::SetPlainPacker(bool read32, tensix::Format in, tensix::Format out) {
  SetFormat(tensix::kAluDstFormat, in);
  Set(tensix::kPackRead32Bit, read32 ? 1 : 0);
  SetFormat(tensix::kPackInFormat, in);
  SetFormat(tensix::kPackOutFormat, out);
  Set(tensix::kPackSourceYStride, 16 * DatumBytes(in));
  Set(tensix::kPackExponentBytes, 0);
  SetWord(13, 0);
  Set(tensix::kPackDestYStride, 0);
  Set(tensix::kPackReluMode, 0);
  Set(tensix::kPackEdgeMask0, 0xFFFF);
  Set(tensix::kPackRowSetSelect, 0);
  SetWord(20, 0);
  Set(tensix::kPackDstOffset, 0);
}

RowCounters::Modifier TensixSetup::Modifier(uint32_t section) const {
  return {thread_[tensix::kThreadAddrModAb + section],
          thread_[tensix::kThreadAddrModDst + section]};
}

}  // namespace ttfd
