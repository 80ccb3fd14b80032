// How long the Tensix engine of one tile takes for an operation on tiles of 32x32 bfloat16 in L1: unpack, compute,
// pack, by the instruction stream of one hart.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/hw/tensix.h"
#include "runtime/hw/tensix_config.h"
#include "tests/bench/bench_case.h"
#include "tests/support/rv32_asm.h"

namespace ttfd::bench {
namespace {

namespace isa = hw::tensix;
using Now = std::chrono::steady_clock;

constexpr hw::Coordinate kTile = {1, 2};
constexpr uint32_t kLeft = 0x20000, kRight = 0x21000, kResult = 0x22000, kDone = 0x30000;
constexpr uint32_t kWords = 1024;
constexpr uint32_t kBFloat16 = static_cast<uint32_t>(isa::Format::kFloat16B);

class Program {
 public:
  // The body follows, with SrcB = left, SrcA = right.
  Program();
  // Ends the body: packs Dst, and begins anew.
  Rv32Asm End();

  template <typename Instruction>
  void Push(Instruction instruction) {
    a_.Word(isa::InlineWord(instruction.word));
  }
  void SetThread(uint32_t id, uint32_t value) {
    Push(isa::SETC16{}.setc16_reg(id).setc16_value(value));
  }
  // An address modifier of the matrix unit.
  void SetModifier(uint32_t section, uint32_t a, uint32_t b, uint32_t dst) {
    SetThread(isa::kThreadAddrModAb + section,
              isa::kAddrModSrcAIncrement.In(0, a) | isa::kAddrModSrcBIncrement.In(0, b));
    SetThread(isa::kThreadAddrModDst + section, dst);
    SetThread(isa::kThreadAddrModBias + section, 0);
  }
  // Unpacks both tiles and clears Dst: where the loop begins.
  void Begin();
  // The same, with zeros in SrcA.
  void BeginCopy();

 private:
  void Set(const isa::ConfigField& field, uint32_t value);
  void Configure();

  Rv32Asm a_;
  std::vector<std::pair<uint32_t, uint32_t>> words_;  // configuration: word, value
  Rv32Asm::Label loop_ = 0;
};

void Program::Set(const isa::ConfigField& field, uint32_t value) {
  for (auto& [word, bits] : words_) {
    if (word != field.word) continue;
    bits = field.field.In(bits, value);
    return;
  }
  words_.emplace_back(field.word, field.field.In(0, value));
}

void Program::Configure() {
  Set(isa::kAluSrcAOverride, 0);
  Set(isa::kAluSrcAFormat, kBFloat16);
  Set(isa::kAluSrcBFormat, kBFloat16);
  Set(isa::kAluDstFormat, kBFloat16);
  Set(isa::kAluFloat32Dst, 1);
  Set(isa::kAluFloat32Sfpu, 1);
  Set(isa::kPackReluMode, 0);
  for (uint32_t i = 0; i < 2; ++i) {
    const isa::UnpackerConfig& unpacker = isa::kUnpackers[i];
    Set(unpacker.in_format, kBFloat16);
    Set(unpacker.uncompressed, 1);
    Set(unpacker.x_dim, kWords);
    Set(unpacker.y_dim, 1);
    Set(unpacker.z_dim, 1);
    Set(unpacker.out_format, kBFloat16);
    Set(unpacker.no_zero_compression, 1);
    Set(unpacker.dest_z_stride, 0);
    Set(unpacker.address, (i == 0 ? kRight : kLeft) / 16 - 1);
  }
  Set(isa::kUnpackers[0].offset, 0);
  Set(isa::kUnpackers[0].dest_y_stride, 0);
  Set(isa::kUnpack0DestAddress, 64);
  Set(isa::kUnpack0AddCounter, 0);
  Set(isa::kPackSourceYStride, 32);
  Set(isa::kPackSourceZStride, 0);
  Set(isa::kPackDestYStride, 0);
  Set(isa::kPackRead32Bit, 1);
  Set(isa::kPackEdgeMask0, 0xFFFF);
  Set(isa::kPackEdgeMask1, 0);
  Set({isa::kPackRowSets, {0, 32}}, 0);
  Set(isa::kPackRowsPerPlane, 16);
  Set(isa::kPackExponentBytes, 0);
  Set(isa::kPackNoZeroCompression, 1);
  Set(isa::kPackOutFormat, kBFloat16);
  Set(isa::kPackInFormat, kBFloat16);
  Set(isa::kPackAccumulate, 0);
  Set(isa::kPackAddress, kResult / 16 - 1);
  Set(isa::kPackDstOffset, 0);
  for (const auto& [word, bits] : words_) a_.StoreWord(hw::kTensixConfig + 4 * word, bits);
  a_.Li(kT0, hw::kTensixConfig);
  a_.Lw(kT1, kT0, 0);
}

Program::Program() {
  Configure();
  for (const uint32_t id :
       {isa::kThreadStateId, isa::kThreadDstOffset, isa::kThreadSrcAFormatOverride,
        isa::kThreadSrcBFormatOverride, isa::kThreadKeepDvalid, isa::kThreadUnpackContext}) {
    SetThread(id, 0);
  }
  SetThread(isa::kThreadUnpackSet, 4);
  SetThread(isa::kThreadAddrModPack, isa::kAddrModSourceYIncrement.In(0, 4));
  SetThread(isa::kThreadAddrModPack + 1, isa::kAddrModSourceYClear.In(0, 1));
  Push(isa::SETADCXX{}.cnt_set_mask(3).x_end(kWords - 1));
  Push(isa::SETADCXX{}.cnt_set_mask(4).x_end(15));
  Push(isa::SETADCXY{}.cnt_set_mask(7).bit_mask(10));
  Push(isa::SETADCZW{}.cnt_set_mask(7).bit_mask(15));
  a_.Li(kS0, kDone);
  a_.Li(kS1, 0);
}

void Program::Begin() {
  loop_ = a_.Here();
  Push(isa::SETRWC{}.bit_mask(15));
  Push(isa::ZEROACC{}.clear_mode(3));
  const auto unpack = isa::UNPACR{}.last(1).ovrd_thread_id(1).set_dat_valid(1);
  Push(unpack.unpacker(0));
  Push(unpack.unpacker(1));
}

void Program::BeginCopy() {
  loop_ = a_.Here();
  Push(isa::SETRWC{}.bit_mask(15));
  Push(isa::ZEROACC{}.clear_mode(3));
  Push(isa::UNPACR_NOP{}.unpack_pop(1).stall_clr_cntrl(1).set_dvalid(1));
  Push(isa::UNPACR{}.last(1).ovrd_thread_id(1).set_dat_valid(1).unpacker(1));
}

Rv32Asm Program::End() {
  Push(isa::STALLWAIT{}
           .stall_res(isa::kStallPack | isa::kStallTdma)
           .wait_res(isa::kUntilMath | isa::kUntilSfpu));
  for (uint32_t i = 0; i < 15; ++i) Push(isa::PACR{});
  Push(isa::PACR{}.last(1).addr_mode(1));
  a_.Li(kT0, isa::kSync);
  a_.Sw(kZero, kT0, 0);
  a_.Lw(kT1, kT0, 0);
  a_.Addi(kT1, kT1, 0);
  a_.Addi(kS1, kS1, 1);
  a_.Sw(kS1, kS0, 0);
  a_.Jump(loop_);
  return a_;
}

constexpr uint32_t kNextPhase = isa::kAddrModFidelityIncrement.In(0, 1);

Rv32Asm Matmul() {
  Program p;
  p.SetModifier(0, 0, 8, 0);
  p.SetModifier(1, 0, 24, 0);
  p.SetModifier(2, 32, 40, 0);
  p.SetModifier(3, 48, 8, 0);
  p.SetModifier(4, 16, 8, kNextPhase);
  p.Begin();
  static constexpr uint32_t kSteps[] = {0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0, 4};
  static constexpr uint32_t kRows[] = {0, 8, 32, 40, 0, 8, 32, 40, 16, 24, 48, 56, 16, 24, 48, 56};
  for (uint32_t i = 0; i < 64; ++i) {
    p.Push(isa::MVMUL{}.dst(kRows[i % 16]).addr_mode(kSteps[i % 16]).clear_dvalid(i == 63 ? 3 : 0));
  }
  return p.End();
}

Rv32Asm Multiply() {
  Program p;
  p.SetModifier(0, 8, 8, 0);
  p.SetModifier(1, 8, 8, kNextPhase);
  p.Begin();
  for (uint32_t i = 0; i < 32; ++i) {
    p.Push(
        isa::ELWMUL{}.dst(i % 8 * 8).addr_mode(i % 8 == 7 ? 1 : 0).clear_dvalid(i == 31 ? 3 : 0));
  }
  return p.End();
}

// left + right into Dst.
void Add(Program& p) {
  for (uint32_t i = 0; i < 8; ++i) {
    p.Push(isa::ELWADD{}.dst(i * 8).clear_dvalid(i == 7 ? 3 : 0));
  }
}

Rv32Asm Sum() {
  Program p;
  p.SetModifier(0, 8, 8, 0);
  p.Begin();
  Add(p);
  return p.End();
}

// left as it is: SrcA is cleared by its unpacker.
Rv32Asm Copy() {
  Program p;
  p.SetModifier(0, 8, 8, 0);
  p.BeginCopy();
  Add(p);
  return p.End();
}

// exp of the sum, about 30 instructions a vector: powers of 2 by the exponent field, and a polynomial.
Rv32Asm Exponential() {
  Program p;
  p.SetModifier(0, 8, 8, 0);
  p.SetModifier(2, 0, 0, isa::kAddrModDstIncrement.In(0, 2));
  p.SetModifier(3, 0, 0, 0);
  p.Push(isa::SFPENCC{}.instr_mod(10).imm12(2));
  const auto load = [&p](uint32_t lreg, uint32_t bits) {
    p.Push(isa::SFPLOADI{}.lreg(lreg).instr_mod(8).imm16(bits >> 16));
    p.Push(isa::SFPLOADI{}.lreg(lreg).instr_mod(10).imm16(bits & 0xFFFF));
  };
  load(5, 0x4B400000);  // 1.5 * 2^23: adding it rounds to an integer
  load(6, 0x3FB8AA3B);  // log2(e)
  p.Begin();
  Add(p);
  p.Push(isa::SETRWC{}.bit_mask(15));
  p.Push(isa::STALLWAIT{}.stall_res(isa::kStallSfpu).wait_res(isa::kUntilMath));
  const auto mad = [&p](uint32_t dest, uint32_t x, uint32_t y, uint32_t z, uint32_t mode = 0) {
    p.Push(isa::SFPMAD{}.lreg_dest(dest).lreg_a(x).lreg_b(y).lreg_c(z).instr_mod(mode));
  };
  constexpr uint32_t kPolynomial[] = {0x3C1D955B, 0x3D635847, 0x3E75FDF0, 0x3F317218};
  for (uint32_t vector = 0; vector < 32; ++vector) {
    p.Push(isa::SFPLOAD{}.instr_mod(3).addr_mode(3));
    mad(1, 0, 6, 5);      // n + 1.5 * 2^23
    mad(2, 1, 10, 5, 2);  // n
    mad(2, 0, 6, 2, 2);   // t: the rest
    load(3, 0x3AAEC3FF);
    for (const uint32_t coefficient : kPolynomial) {
      load(4, coefficient);
      mad(3, 3, 2, 4);
    }
    mad(3, 3, 2, 10);
    p.Push(isa::SFPSHFT{}.lreg_dest(1).instr_mod(1).imm12(23));
    p.Push(isa::SFPIADD{}.lreg_dest(3).lreg_c(1).instr_mod(4));
    p.Push(isa::SFPMOV{}.lreg_dest(7).lreg_c(3));
    p.Push(isa::SFPSTORE{}.lreg(7).instr_mod(3).addr_mode(2));
  }
  return p.End();
}

// A device on which TRISC0 of a tile runs `program` for ever.
class RunningEngine {
 public:
  static StatusOr<std::unique_ptr<RunningEngine>> Start(const DeviceOpener& open,
                                                        const Rv32Asm& program) {
    auto running = std::make_unique<RunningEngine>();
    ASSIGN_OR_RETURN(running->device_, open());
    ASSIGN_OR_RETURN(running->window_, running->device_->OpenWindow(UnicastTarget(kTile)));
    std::vector<uint16_t> words(kWords);
    for (uint32_t tile : {kLeft, kRight}) {
      for (uint32_t i = 0; i < kWords; ++i) {
        // Between -2 and 2, all different.
        words[i] = static_cast<uint16_t>((i & 1) << 15 | (0x3F00 + (i * 37 + tile) % 256));
      }
      RETURN_IF_ERROR(running->window_->Write(tile, std::as_bytes(std::span(words))));
    }
    RETURN_IF_ERROR(WriteWord(*running->window_, kDone, 0));
    RETURN_IF_ERROR(running->window_->Write(hw::kTriscDefaultPc[0], program.bytes()));
    RETURN_IF_ERROR(WriteWord(*running->window_, hw::kSoftReset0,
                              hw::kSoftResetAllHarts & ~hw::kSoftResetTrisc0));
    return running;
  }

  // Microseconds an operation.
  StatusOr<double> Measure(std::chrono::nanoseconds budget) {
    ASSIGN_OR_RETURN(const uint32_t before, ReadWord(*window_, kDone));
    const Now::time_point start = Now::now();
    uint32_t done = 0;
    Now::duration passed{};
    while (passed < budget || done == 0) {
      RETURN_IF_ERROR(device_->Advance(10'000).status());
      ASSIGN_OR_RETURN(const uint32_t after, ReadWord(*window_, kDone));
      done = after - before;
      passed = Now::now() - start;
    }
    return std::chrono::duration<double, std::micro>(passed).count() / done;
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Window> window_;
};

BenchCase Case(std::string name, const DeviceOpener& open, Rv32Asm program) {
  auto engine = std::make_shared<std::unique_ptr<RunningEngine>>();
  const auto run = [engine, open, program = std::move(program)](
                       std::chrono::nanoseconds budget) -> StatusOr<double> {
    if (*engine == nullptr) {
      ASSIGN_OR_RETURN(*engine, RunningEngine::Start(open, program));
    }
    return (*engine)->Measure(budget);
  };
  return {std::move(name), "us", run};
}

}  // namespace

std::vector<BenchCase> TensixCases(const std::string& prefix, const DeviceOpener& open) {
  return {Case(prefix + "matmul_hifi4_us", open, Matmul()), Case(prefix + "add_us", open, Sum()),
          Case(prefix + "mul_hifi4_us", open, Multiply()),
          Case(prefix + "exp_us", open, Exponential()), Case(prefix + "copy_us", open, Copy())};
}

}  // namespace ttfd::bench
