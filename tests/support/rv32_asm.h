// A tiny RV32IM assembler for programs of a few dozen instructions in tests and benchmarks.
//
//   Rv32Asm a;
//   a.Li(kT0, 5);
//   Rv32Asm::Label loop = a.Here();
//   a.Addi(kT0, kT0, -1);
//   a.Bne(kT0, kZero, loop);
//   device.Write(0, a.bytes());
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/bytes.h"

namespace ttfd {

enum Register : uint32_t {
  kZero = 0,
  kRa = 1,
  kSp = 2,
  kT0 = 5,
  kT1 = 6,
  kT2 = 7,
  kS0 = 8,
  kS1 = 9,
  kA0 = 10,
  kA1 = 11,
  kA2 = 12,
  kA3 = 13,
  kA4 = 14,
  kA5 = 15,
  kA6 = 16,
  kA7 = 17,
  kS2 = 18,
  kS3 = 19,
  kS4 = 20,
  kS5 = 21,
  kT3 = 28,
  kT4 = 29,
  kT5 = 30,
  kT6 = 31,
};

class Rv32Asm {
 public:
  // A byte offset from the start of the program.
  using Label = uint32_t;

  Label Here() const { return static_cast<Label>(words_.size() * 4); }
  ByteSpan bytes() const { return std::as_bytes(std::span(words_)); }
  const std::vector<uint32_t>& words() const { return words_; }

  void Word(uint32_t word) { words_.push_back(word); }

  // Encodings by format.
  void R(uint32_t match, uint32_t rd, uint32_t rs1, uint32_t rs2) {
    Word(match | rd << 7 | rs1 << 15 | rs2 << 20);
  }
  void I(uint32_t match, uint32_t rd, uint32_t rs1, int32_t immediate) {
    Word(match | rd << 7 | rs1 << 15 | static_cast<uint32_t>(immediate) << 20);
  }
  void S(uint32_t match, uint32_t rs1, uint32_t rs2, int32_t immediate) {
    const auto i = static_cast<uint32_t>(immediate);
    Word(match | rs1 << 15 | rs2 << 20 | (i & 31) << 7 | (i >> 5 & 127) << 25);
  }
  void B(uint32_t match, uint32_t rs1, uint32_t rs2, Label target) {
    Word(match | rs1 << 15 | rs2 << 20 | BranchBits(target - Here()));
  }

  // Li takes one instruction when the value fits 12 bits, two otherwise.
  void Li(uint32_t rd, uint32_t value) {
    const auto low = static_cast<int32_t>(value << 20) >> 20;
    const uint32_t high = value - static_cast<uint32_t>(low);
    if (high == 0) {
      Addi(rd, kZero, low);
      return;
    }
    Lui(rd, high);
    if (low != 0) Addi(rd, rd, low);
  }
  void Lui(uint32_t rd, uint32_t value) { Word(0x37 | rd << 7 | (value & 0xFFFFF000)); }
  void Auipc(uint32_t rd, uint32_t value) { Word(0x17 | rd << 7 | (value & 0xFFFFF000)); }
  void Addi(uint32_t rd, uint32_t rs1, int32_t i) { I(0x13, rd, rs1, i); }
  void Andi(uint32_t rd, uint32_t rs1, int32_t i) { I(0x7013, rd, rs1, i); }
  void Xori(uint32_t rd, uint32_t rs1, int32_t i) { I(0x4013, rd, rs1, i); }
  void Slli(uint32_t rd, uint32_t rs1, int32_t i) { I(0x1013, rd, rs1, i); }
  void Srli(uint32_t rd, uint32_t rs1, int32_t i) { I(0x5013, rd, rs1, i); }
  void Add(uint32_t rd, uint32_t rs1, uint32_t rs2) { R(0x33, rd, rs1, rs2); }
  void Sub(uint32_t rd, uint32_t rs1, uint32_t rs2) { R(0x40000033, rd, rs1, rs2); }
  void Xor(uint32_t rd, uint32_t rs1, uint32_t rs2) { R(0x4033, rd, rs1, rs2); }
  void Or(uint32_t rd, uint32_t rs1, uint32_t rs2) { R(0x6033, rd, rs1, rs2); }
  void Sltu(uint32_t rd, uint32_t rs1, uint32_t rs2) { R(0x3033, rd, rs1, rs2); }
  void Mul(uint32_t rd, uint32_t rs1, uint32_t rs2) { R(0x02000033, rd, rs1, rs2); }

  void Lw(uint32_t rd, uint32_t base, int32_t offset) { I(0x2003, rd, base, offset); }
  void Lhu(uint32_t rd, uint32_t base, int32_t offset) { I(0x5003, rd, base, offset); }
  void Lbu(uint32_t rd, uint32_t base, int32_t offset) { I(0x4003, rd, base, offset); }
  void Sw(uint32_t rs2, uint32_t base, int32_t offset) { S(0x2023, base, rs2, offset); }
  void Sh(uint32_t rs2, uint32_t base, int32_t offset) { S(0x1023, base, rs2, offset); }
  void Sb(uint32_t rs2, uint32_t base, int32_t offset) { S(0x0023, base, rs2, offset); }
  void AmoAdd(uint32_t rd, uint32_t address, uint32_t rs2) { R(0x202F, rd, address, rs2); }
  void Fence() { Word(0x0FF0000F); }

  void Beq(uint32_t rs1, uint32_t rs2, Label target) { B(0x0063, rs1, rs2, target); }
  void Bne(uint32_t rs1, uint32_t rs2, Label target) { B(0x1063, rs1, rs2, target); }
  void Blt(uint32_t rs1, uint32_t rs2, Label target) { B(0x4063, rs1, rs2, target); }
  void Bltu(uint32_t rs1, uint32_t rs2, Label target) { B(0x6063, rs1, rs2, target); }
  void Jal(uint32_t rd, Label target) { Word(0x6F | rd << 7 | JumpBits(target - Here())); }
  void Jalr(uint32_t rd, uint32_t base, int32_t offset) { I(0x67, rd, base, offset); }
  void Jump(Label target) { Jal(kZero, target); }

  // A branch to a place not yet known: emit it with Here() as target, then Bind() it.
  void BindBranch(Label at, Label target) {
    uint32_t& word = words_[at / 4];
    word = (word & 0x01FFF07F) | BranchBits(target - at);
  }
  void BindJump(Label at, Label target) {
    uint32_t& word = words_[at / 4];
    word = (word & 0xFFF) | JumpBits(target - at);
  }

  // Stores `value` at `address`; uses t5 and t6.
  void StoreWord(uint32_t address, uint32_t value) {
    Li(kT6, address);
    Li(kT5, value);
    Sw(kT5, kT6, 0);
  }
  // Waits for ever in a loop that the model parks and nothing wakes.
  void Halt() {
    const Label loop = Here();
    Fence();
    Jump(loop);
  }

 private:
  static uint32_t BranchBits(uint32_t i) {
    return (i >> 11 & 1) << 7 | (i >> 1 & 15) << 8 | (i >> 5 & 63) << 25 | (i >> 12 & 1) << 31;
  }
  static uint32_t JumpBits(uint32_t i) {
    return (i & 0xFF000) | (i >> 11 & 1) << 20 | (i >> 1 & 0x3FF) << 21 | (i >> 20 & 1) << 31;
  }

  std::vector<uint32_t> words_;
};

}  // namespace ttfd
