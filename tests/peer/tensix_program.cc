#include "tests/peer/tensix_program.h"

#include <fmt/format.h>

#include "runtime/sim/tensix/disassemble.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

constexpr uint32_t kMostPushes = 200;  // between two waits: libttsim ends when 512 are queued
constexpr uint32_t kEnd = 3;

std::string Shown(uint32_t address, uint32_t value) {
  const uint32_t place = address & ~3u;
  switch (address & 3) {
    case 1:
      return fmt::format("load {:08x} to {:x}", place, value);
    case 2:
      return "sync";
    case 3:
      return "end";
    default:
      if (place == tensix::kPush) return sim::tensix::Disassemble(value);
      if (place >= hw::kTensixConfig) {
        return fmt::format("cfg {} = {:08x}", (place - hw::kTensixConfig) / 4, value);
      }
      return fmt::format("store {:08x} = {:08x}", place, value);
  }
}

}  // namespace

void TensixProgram::Add(Kind kind, uint32_t address, uint32_t value) {
  words_.resize(words_.empty() ? 0 : words_.size() - 2);
  words_.insert(words_.end(), {address | kind, value, kResults | kEnd, kDone});
}

void TensixProgram::Push(uint32_t instruction) {
  if (unsynced_ == kMostPushes) Sync();
  ++unsynced_;
  Store(tensix::kPush, instruction);
}

void TensixProgram::Sync() {
  if (unsynced_ == 0) return;
  unsynced_ = 0;
  Add(kSync, tensix::kSync, 0);
}

uint32_t TensixProgram::Reserve(uint32_t bytes) {
  const uint32_t at = kResults + result_bytes_;
  result_bytes_ += (bytes + 15) & ~15u;
  return at;
}

std::string TensixProgram::ToString() const {
  std::string text;
  for (size_t i = 0; i < words_.size(); i += 2) text += Shown(words_[i], words_[i + 1]) + "\n";
  return text;
}

Rv32Asm TensixProbe() {
  Rv32Asm a;
  a.Li(kS0, TensixProgram::kList);
  const Rv32Asm::Label step = a.Here();
  a.Lw(kT0, kS0, 0);
  a.Lw(kT1, kS0, 4);
  a.Addi(kS0, kS0, 8);
  a.Andi(kT2, kT0, 3);
  const Rv32Asm::Label other = a.Here();
  a.Bne(kT2, kZero, other);
  a.Sw(kT1, kT0, 0);
  a.Jump(step);

  a.BindBranch(other, a.Here());
  a.Sub(kT0, kT0, kT2);
  a.Addi(kT2, kT2, -2);
  const Rv32Asm::Label load = a.Here();
  a.Blt(kT2, kZero, load);
  const Rv32Asm::Label end = a.Here();
  a.Bne(kT2, kZero, end);
  a.Sw(kZero, kT0, 0);
  a.Lw(kT2, kT0, 0);
  a.Add(kT1, kT1, kT2);
  a.Jump(step);

  a.BindBranch(load, a.Here());
  a.Lw(kT2, kT0, 0);
  a.Sw(kT2, kT1, 0);
  a.Jump(step);

  a.BindBranch(end, a.Here());
  a.Sw(kT1, kT0, 0);
  a.Halt();
  return a;
}

}  // namespace ttfd
