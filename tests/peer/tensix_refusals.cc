#include "tests/peer/tensix_refusals.h"

#include "runtime/hw/tensix_isa.h"

namespace ttfd {
namespace {

namespace isa = hw::tensix;

void Sources(TensixWriter& writer) {
  writer.UnpackTile(0, 0);
  writer.UnpackTile(1, 0);
}

// Sources and, for the address modifier 0, what it does to Dst.
template <uint32_t kBits>
void Modified(TensixWriter& writer) {
  Sources(writer);
  writer.SetModifier(0, {0, kBits});
}
constexpr uint32_t kToCr = isa::kAddrModDstToCr.mask();
constexpr auto kToCrAndCr = Modified<kToCr | isa::kAddrModDstCr.mask()>;
constexpr auto kToCrAndClear = Modified<kToCr | isa::kAddrModDstClear.mask()>;

// Sources, SrcB with 1.0 only, and a row that is added to all rows of Dst.
template <uint32_t kRow>
void Offset(TensixWriter& writer) {
  writer.UnpackTile(0, 0);
  writer.UnpackTile(1, TensixProgram::kOnesTile);
  writer.SetFloat32Dst(false);
  writer.SetThread(isa::kThreadDstOffset, kRow);
}

void Narrow(TensixWriter& writer) { writer.SetFloat32Dst(false); }

// Sources, and the row of both that math begins with.
void EighthRow(TensixWriter& writer) {
  Offset<0>(writer);
  writer.SetRwc(isa::SETRWC{}.bit_mask(3).rwc_a(8).rwc_b(8));
}

// SrcA's unpacker stands before a bank that is valid, and math before one that is not.
void CrossedBanks(TensixWriter& writer) {
  const auto flip = [&] {
    writer.SetThread(isa::kThreadKeepDvalid, 1);
    writer.SetRwc(isa::SETRWC{}.clear_dvalid(1));
    writer.SetThread(isa::kThreadKeepDvalid, 0);
  };
  writer.Fill(0, true, false, true);
  flip();
  writer.Fill(0, true, false, true);
  writer.ClearValid(1);
  flip();
}

template <uint32_t kChannel, uint32_t kDimension, uint32_t kValue>
void Counter(TensixWriter& writer) {
  writer.SetAdcRange(7, 0, 15);
  writer.SetAdc(7, kChannel, kDimension, kValue);
}

void MisalignedFace(TensixWriter& writer) {
  writer.Set(isa::kUnpackers[0].transpose, 1);
  writer.Configure();
  writer.SetAdcRange(1, 1, 256);
}

// A configuration in which units move rows of 16 datums, but for one field.
template <typename... Fields>
void Configured(TensixWriter& writer, Fields... fields) {
  (writer.Set(fields.field, fields.value), ...);
  writer.Configure();
  writer.SetAdcRange(7, 0, 15);
}
struct FieldValue {
  isa::ConfigField field;
  uint32_t value;
};

// One row of Float32 goes to row kRow of Dst.
template <uint32_t kRow, uint32_t kUnpackSet>
void ToDst(TensixWriter& writer) {
  writer.SetUnpackedFormat(0, {isa::Format::kFloat32, isa::Format::kFloat32});
  Configured(writer, FieldValue{isa::kUnpack0ToDst, 1},
             FieldValue{isa::kUnpack0DestAddress, 64 + 16 * kRow});
  writer.SetThread(isa::kThreadUnpackSet, kUnpackSet);
}

template <isa::Format kIn, isa::Format kOut>
void Unpacked(TensixWriter& writer) {
  writer.SetUnpackedFormat(0, {kIn, kOut});
  Configured(writer);
}

template <isa::Format kIn, isa::Format kOut>
void Packed(TensixWriter& writer) {
  writer.PlainPacker(true, kIn, kOut);
  Configured(writer);
}

// Sources as TF32, and Dst.
template <bool kFloat32Dst>
void Tf32(TensixWriter& writer) {
  Sources(writer);
  writer.SetFloat32Dst(kFloat32Dst);
  Configured(writer, FieldValue{isa::kAluSrcAFormat, static_cast<uint32_t>(isa::Format::kTf32)});
  writer.SetThread(isa::kThreadSrcAFormatOverride, 1);
}

constexpr isa::UNPACR kOneUnpacr = isa::UNPACR{}.last(1).ovrd_thread_id(1);
constexpr isa::PACR kOnePacr = isa::PACR{}.last(1);
constexpr uint32_t kNotModelled = 60;  // id of thread configuration
const TensixRefusal kRefusals[] = {
    {"counters of no unit: SETADC", isa::SETADC{}.value(1).word, "cnt_set_mask: "},
    {"counters of no unit: SETADCXX", isa::SETADCXX{}.x_end(1).word, "cnt_set_mask: "},
    {"counters of no unit: SETADCXY", isa::SETADCXY{}.bit_mask(1).word, "cnt_set_mask: "},
    {"counters of no unit: SETADCZW", isa::SETADCZW{}.bit_mask(1).word, "cnt_set_mask: "},
    {"no counter: SETADCXY", isa::SETADCXY{}.cnt_set_mask(1).word, "bit_mask: "},
    {"no counter: SETADCZW", isa::SETADCZW{}.cnt_set_mask(1).word, "bit_mask: "},
    {"another thread's counter", isa::SETADC{}.cnt_set_mask(1).value(0x10000).word, "value: "},
    {"cr of SrcA without its mask", isa::SETRWC{}.bit_mask(14).rwc_cr(1).word, "rwc_cr: "},
    {"cr of SrcB without its mask", isa::SETRWC{}.bit_mask(13).rwc_cr(2).word, "rwc_cr: "},
    {"cr from the counter of Dst", isa::SETRWC{}.bit_mask(15).rwc_cr(8).word, "rwc_cr: "},
    {"increment from cr of SrcA", isa::INCRWC{}.rwc_cr(1).word, "rwc_cr: "},
    {"release of no bank", isa::CLEARDVALID{}.word, "clear_dvalid: "},
    {"release of a bank that is not valid", isa::CLEARDVALID{}.clear_dvalid(1).word,
     "clear_dvalid: "},
    {"release by SETRWC", isa::SETRWC{}.clear_dvalid(2).word, "clear_dvalid: "},

    {"c_to_cr and cr: ELWADD", isa::ELWADD{}.word, "addr_mode: ", kToCrAndCr},
    {"c_to_cr and clear: ELWMUL", isa::ELWMUL{}.word, "addr_mode: ", kToCrAndClear},
    {"c_to_cr and clear: MVMUL", isa::MVMUL{}.word, "addr_mode: ", kToCrAndClear},
    {"c_to_cr and cr: GAPOOL", isa::GAPOOL{}.instr_mod(1).word, "addr_mode: ", kToCrAndCr},
    {"c_to_cr and cr: ZEROACC", isa::ZEROACC{}.word, "addr_mode: ", kToCrAndCr},
    {"c_to_cr and cr: ZEROACC of 16 rows", isa::ZEROACC{}.clear_mode(1).word,
     "addr_mode: ", kToCrAndCr},
    {"c_to_cr and cr: MOVB2A", isa::MOVB2A{}.instr_mod(2).word, "addr_mode: ", kToCrAndCr},
    {"c_to_cr and clear: MOVD2A", isa::MOVD2A{}.instr_mod(2).word, "addr_mode: ", kToCrAndClear},
    {"c_to_cr and clear: SFPLOAD", isa::SFPLOAD{}.instr_mod(3).word, "addr_mode: ", kToCrAndClear},
    {"c_to_cr and cr: SFPSTORE", isa::SFPSTORE{}.instr_mod(3).word, "addr_mode: ", kToCrAndCr},

    {"past the end of Dst: ELWADD", isa::ELWADD{}.dst(16).word, "dst: ", Offset<1008>},
    {"past the end of Dst: ELWMUL", isa::ELWMUL{}.dst(16).word, "dst: ", Offset<1008>},
    {"past the end of Dst: GMPOOL", isa::GMPOOL{}.instr_mod(1).dst(16).word, "dst: ", Offset<1008>},
    {"past the end of Dst: ZEROACC", isa::ZEROACC{}.where(16).word, "where: ", Offset<1008>},
    {"past the end of Dst: 16 rows", isa::ZEROACC{}.clear_mode(1).where(32).word,
     "where: ", Offset<512>},
    {"one row of 32 bits", isa::ZEROACC{}.use_32_bit_mode(1).word, "use_32_bit_mode: "},
    {"half 2 of Dst", isa::ZEROACC{}.clear_mode(2).where(2).word, "where: "},
    {"flags without data", isa::ZEROACC{}.clear_mode(3).clear_zero_flags(1).word,
     "clear_zero_flags: "},
    {"field dst: MVMUL", isa::MVMUL{}.dst(4).word, "dst: ", Offset<4>},
    {"field dst: ELWSUB", isa::ELWSUB{}.dst(4).word, "dst: ", Offset<4>},
    {"field dst: GAPOOL", isa::GAPOOL{}.instr_mod(1).dst(2).word, "dst: ", Offset<2>},
    {"field dst: MOVA2D", isa::MOVA2D{}.instr_mod(2).dst(4).word, "dst: ", Offset<4>},
    {"field dst: MOVB2D", isa::MOVB2D{}.instr_mod(4).dst(2).word, "dst: ", Offset<2>},
    {"field dst: MOVD2B", isa::MOVD2B{}.instr_mod(2).dst(2).word, "dst: ", Offset<2>},
    {"field dst without sources: MVMUL", isa::MVMUL{}.dst(4).word, "dst: "},
    {"field src without sources: MOVB2D", isa::MOVB2D{}.instr_mod(4).src(2).word, "src: ", Narrow},
    {"row of Dst: MVMUL", isa::MVMUL{}.word, "dst: ", Offset<4>},
    {"row of Dst: MOVA2D", isa::MOVA2D{}.instr_mod(2).word, "dst: ", Offset<4>},
    {"row of SrcA: MVMUL", isa::MVMUL{}.word, "counter of SrcA: ", EighthRow},
    {"row of SrcA: GMPOOL", isa::GMPOOL{}.instr_mod(1).word, "counter of SrcA: ", EighthRow},
    {"past the end of SrcA: MOVA2D", isa::MOVA2D{}.instr_mod(2).src(56).word, "src: ", EighthRow},
    {"past the end of SrcA: MOVB2A", isa::MOVB2A{}.instr_mod(2).srca(56).word, "srca: ", EighthRow},
    {"past the end of SrcB: MOVB2A", isa::MOVB2A{}.instr_mod(2).srcb(56).word, "srcb: ", EighthRow},
    {"past the end of SrcB: MOVB2D", isa::MOVB2D{}.instr_mod(2).src(56).word, "src: ", EighthRow},
    {"past the end of SrcB: MOVD2B", isa::MOVD2B{}.instr_mod(2).src(56).word, "src: ", EighthRow},
    {"low halves of 16 bits", isa::MOVD2B{}.instr_mod(2).dest_32b_lo(1).word,
     "dest_32b_lo: ", Offset<0>},
    {"one row of SrcA", isa::MOVA2D{}.word, "instr_mod: ", Sources},
    {"broadcast in MVMUL", isa::MVMUL{}.instr_mod(1).word, "instr_mod: ", Sources},
    {"ELWMUL that does not accumulate", isa::ELWMUL{}.dest_accum_en(1).word,
     "dest_accum_en: ", Sources},
    {"a sum in phase 1", isa::ELWADD{}.word, "fidelity: ",
     [](TensixWriter& writer) {
       Modified<isa::kAddrModFidelityIncrement.In(0, 1)>(writer);
       writer.Compute(FpuOperation::kElwmul, 0, 0, 0, false, 0);
     }},
    {"a maximum with other numbers", isa::GMPOOL{}.instr_mod(1).word, "SrcB: ", Sources},
    {"indices of maxima", isa::GMPOOL{}.instr_mod(1).max_pool_index_en(1).word,
     "max_pool_index_en: ", Sources},
    {"zeros in no source", isa::ZEROSRC{}.write_mode(1).word, "src_mask: "},
    {"zeros in all banks of SrcA", isa::ZEROSRC{}.src_mask(1).bank_mask(1).word, "src_mask: "},

    {"w of a source's counter", kOneUnpacr.word, "w counter: ", Counter<1, 3, 1>},
    {"w of the packer's counter", kOnePacr.word, "z and w counters: ", Counter<1, 3, 1>},
    {"x counters in the wrong order", kOneUnpacr.word, "x counters: ", Counter<0, 0, 16>},
    {"x of the packer", kOnePacr.word, "x counters: ",
     [](TensixWriter& writer) { writer.SetAdcRange(TensixWriter::kPacker, 1, 16); }},
    {"a face that begins between rows", kOneUnpacr.word, "address: ", MisalignedFace},
    {"a face in SrcB's unpacker",
     isa::UNPACR_NOP{}.unpacker(1).unpack_pop(1).src_clr_val_ctrl(1).word, "src_clr_val_ctrl: "},
    {"a bank that is valid already", isa::UNPACR_NOP{}.unpack_pop(1).set_dvalid(1).word,
     "set_dvalid: ", CrossedBanks},
    {"Float32 into a source", kOneUnpacr.word,
     "formats: ", Unpacked<isa::Format::kFloat32, isa::Format::kFloat32>},
    {"Float32 as Bfp8_b", kOneUnpacr.word,
     "formats: ", Unpacked<isa::Format::kFloat32, isa::Format::kBfp8B>},
    {"bfloat16 as TF32", kOneUnpacr.word,
     "formats: ", Unpacked<isa::Format::kFloat16B, isa::Format::kTf32>},
    {"Bfp8_b as bfloat16", kOneUnpacr.word,
     "formats: ", Unpacked<isa::Format::kBfp8B, isa::Format::kFloat16B>},
    {"Dst with the set of SrcA", kOneUnpacr.word, "thread configuration 5: ", ToDst<0, 4>},
    {"past the end of Dst: UNPACR", kOneUnpacr.word, "address in Dst: ", ToDst<1024, 0>},
    {"rows of Bfp8_b from row 4 on", kOneUnpacr.word, "address in SrcA: ",
     [](TensixWriter& w) {
       Unpacked<isa::Format::kBfp8B, isa::Format::kBfp8B>(w);
       Configured(w, FieldValue{isa::kUnpack0DestAddress, 128});
       w.SetAdcRange(1, 0, 31);
     }},
    {"TF32 from a 16-bit Dst: MOVD2A", isa::MOVD2A{}.instr_mod(2).word,
     "dest_32b_lo: ", Tf32<false>},
    {"TF32 from a 16-bit Dst: MOVD2B", isa::MOVD2B{}.instr_mod(2).word,
     "dest_32b_lo: ", Tf32<false>},
    {"low halves of TF32: MOVD2B", isa::MOVD2B{}.instr_mod(2).dest_32b_lo(1).word,
     "dest_32b_lo: ", Tf32<true>},
    {"low halves of TF32: MOVA2D", isa::MOVA2D{}.instr_mod(2).dest_32b_lo(1).word,
     "dest_32b_lo: ", Tf32<true>},
    {"Float32 as bfloat16", kOnePacr.word,
     "formats: ", Packed<isa::Format::kFloat32, isa::Format::kFloat16B>},
    {"bfloat16 as Bfp8_b", kOnePacr.word,
     "formats: ", Packed<isa::Format::kFloat16B, isa::Format::kBfp8B>},
    {"odd stride in SrcA", kOneUnpacr.word, "strides in Src: ",
     [](TensixWriter& w) {
       Configured(w, FieldValue{isa::kUnpackers[0].dest_y_stride, 33});
     }},
    {"odd stride in SrcB", isa::UNPACR{kOneUnpacr}.unpacker(1).word, "strides in Src: ",
     [](TensixWriter& w) {
       Configured(w, FieldValue{isa::kUnpackers[1].dest_z_stride, 33});
     }},
    {"odd stride in Dst", kOnePacr.word, "strides in Dst: ",
     [](TensixWriter& w) {
       Configured(w, FieldValue{isa::kPackSourceYStride, 33});
     }},
    {"odd stride between datums", kOnePacr.word, "strides in Dst: ",
     [](TensixWriter& w) {
       Configured(w, FieldValue{isa::kPackSourceXStride, 1});
     }},
    {"negative threshold", kOnePacr.word, "configuration word 2: ",
     [](TensixWriter& w) {
       Configured(w, FieldValue{isa::kPackReluMode, 2},
                  FieldValue{isa::kPackReluThreshold, 0x8000});
     }},
    {"mode 4 of ReLU", kOnePacr.word, "configuration word 2: ",
     [](TensixWriter& w) {
       Configured(w, FieldValue{isa::kPackReluMode, 4});
     }},
    {"edge mask 2", kOnePacr.word, "edge mask: ",
     [](TensixWriter& w) {
       Configured(w, FieldValue{isa::kPackEdgeMask0, 2});
     }},
    {"edge set 2", kOnePacr.word, "edge mask: ",
     [](TensixWriter& w) {
       Configured(w, FieldValue{{isa::kPackRowSets, {0, 2}}, 2});
     }},
    {"no rows in a plane", kOnePacr.word, "configuration word 28: ",
     [](TensixWriter& w) {
       Configured(w, FieldValue{isa::kPackRowsPerPlane, 0});
     }},
    {"two formats of Dst", kOnePacr.word, "format of Dst: ",
     [](TensixWriter& w) {
       Configured(w, FieldValue{isa::kAluDstFormat, 1});
     }},
    {"y in L1 that returns", kOnePacr.word, "addr_mode: ",
     [](TensixWriter& writer) {
       Configured(writer);
       writer.SetThread(isa::kThreadAddrModPack, isa::kAddrModDestYCr.mask());
     }},

    {"a sum without 1.0", isa::SFPADD{}.word, "lreg_a: "},
    {"a product and a sum", isa::SFPMUL{}.word, "lreg_c: "},
    {"an odd row", isa::SFPLOAD{}.instr_mod(3).dest_reg_addr(1).word, "dest_reg_addr: "},
    {"an exponent of nine bits", isa::SFPDIVP2{}.imm12(0x80).word, "imm12: "},
    {"a register and a distance", isa::SFPSHFT{}.imm12(1).word, "imm12: "},
    {"mode 4 of SFPSHFT", isa::SFPSHFT{}.instr_mod(4).word, "instr_mod: "},
    {"mode 11 of SFPIADD", isa::SFPIADD{}.instr_mod(11).word, "instr_mod: "},
    {"mode 1 of SFPSTORE", isa::SFPSTORE{}.instr_mod(1).word, "instr_mod: "},
    {"a constant as result", isa::SFPNOT{}.lreg_dest(9).word, "lreg_dest: "},
    {"an empty condition stack", isa::SFPPOPC{}.word, "condition stack: "},
    {"a full condition stack", isa::SFPPUSHC{}.word, "condition stack: ",
     [](TensixWriter& writer) {
       for (int i = 0; i < 8; ++i) writer.Push(isa::SFPPUSHC{});
     }},
    {"conditions that are off: SFPSETCC", isa::SFPSETCC{}.word, "condition codes: ",
     [](TensixWriter& writer) { writer.Push(isa::SFPENCC{}.instr_mod(10).imm12(2)); }},
    {"conditions that are off: SFPCOMPC", isa::SFPCOMPC{}.word, "condition codes: ",
     [](TensixWriter& writer) { writer.Push(isa::SFPENCC{}.instr_mod(10).imm12(2)); }},

    {"a post at the maximum", isa::SEMPOST{}.sem_sel(2).word, "sem_sel: "},
    {"a get at zero", isa::SEMGET{}.sem_sel(2).word, "sem_sel: "},
    {"two semaphores", isa::SEMINIT{}.sem_sel(3).word, "sem_sel: "},
    {"a value above its maximum", isa::SEMINIT{}.sem_sel(2).init_value(2).max_value(1).word,
     "init_value: "},
    {"a wait for the mover", isa::STALLWAIT{}.stall_res(1).wait_res(0x200).word, "wait_res: "},
    {"a wait of no unit", isa::STALLWAIT{}.wait_res(1).word, "stall_res: "},
    {"thread configuration", isa::SETC16{}.setc16_reg(kNotModelled).word, "setc16_reg: "},
};

}  // namespace

TensixProgram TensixRefusal::Prepared() const {
  TensixWriter writer(true);
  if (prepare != nullptr) prepare(writer);
  writer.Sync();
  return writer.program();
}

TensixProgram TensixRefusal::Refused() const {
  TensixProgram program = Prepared();
  program.Push(instruction);
  program.Sync();
  return program;
}

std::span<const TensixRefusal> TensixRefusals() { return kRefusals; }

}  // namespace ttfd
