// Instructions, and registers as a hart reaches them.
#include "runtime/hw/stream.h"
#include "tests/peer/refused_tables.h"

namespace ttfd {
namespace {

// Registers of the own tile, as a hart reaches them.
constexpr uint32_t kNiu = hw::kNiuAddress;

void LoadFrom(uint32_t address, Rv32Asm* a) {
  a->Li(kT6, address);
  a->Lw(kT5, kT6, 0);
}

const RefusedProgram kPrograms[] = {
    {"hart zeroes", [](const Setting&, Rv32Asm* a) { a->Word(0); }},
    {"hart ones", [](const Setting&, Rv32Asm* a) { a->Word(~0u); }},
    {"hart compressed",
     [](const Setting& s, Rv32Asm* a) {
       const uint32_t rest = s.choose.Any() << 2;
       a->Word(rest | s.choose.Below(3));
     }},
    {"hart fence.i", [](const Setting&, Rv32Asm* a) { a->Word(0x0000100F); }},
    {"hart fence w,w", [](const Setting&, Rv32Asm* a) { a->Word(0x0110000F); }},
    {"hart ebreak", [](const Setting&, Rv32Asm* a) { a->Word(0x00100073); }},
    {"hart ecall", [](const Setting&, Rv32Asm* a) { a->Word(0x00000073); }},
    {"hart wfi", [](const Setting&, Rv32Asm* a) { a->Word(0x10500073); }},
    {"hart mret", [](const Setting&, Rv32Asm* a) { a->Word(0x30200073); }},
    {"hart rdcycle", [](const Setting&, Rv32Asm* a) { a->Word(0xC0002573); }},
    {"hart csrr mstatus", [](const Setting&, Rv32Asm* a) { a->Word(0x30002573); }},
    {"hart csrw cfg0 unknown bit",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT0, 4);
       a->Word(0x7C029073);
     }},
    {"hart csrw cfg0 store merge timer",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT0, 0x20000);
       a->Word(0x7C029073);
     }},
    {"hart lr", [](const Setting&, Rv32Asm* a) { a->Word(0x1000202F); }},
    {"hart sc", [](const Setting&, Rv32Asm* a) { a->Word(0x1800202F); }},
    {"hart amo in local RAM",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT6, hw::kLocalRamAddress);
       a->AmoAdd(kT0, kT6, kT0);
     }},
    {"hart amo in register",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT6, hw::StreamRegister(3, hw::kStreamBufferSize));
       a->AmoAdd(kT0, kT6, kT0);
     }},
    {"hart amo misaligned",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT6, kHere + 2);
       a->AmoAdd(kT0, kT6, kT0);
     }},
    {"hart fdiv", [](const Setting&, Rv32Asm* a) { a->Word(0x18007053); }},
    {"hart fsqrt", [](const Setting&, Rv32Asm* a) { a->Word(0x58007053); }},
    {"hart fadd", [](const Setting&, Rv32Asm* a) { a->Word(0x00007053); }},
    {"hart fadd.d", [](const Setting&, Rv32Asm* a) { a->Word(0x02007053); }},
    {"hart flw", [](const Setting&, Rv32Asm* a) { a->Word(0x00002007); }},
    {"hart vector", [](const Setting&, Rv32Asm* a) { a->Word(0x02007057); }},
    {"hart 64-bit word instruction", [](const Setting&, Rv32Asm* a) { a->Word(0x0000003B); }},
    {"hart ld", [](const Setting&, Rv32Asm* a) { a->Word(0x00003003); }},
    {"hart lwu", [](const Setting&, Rv32Asm* a) { a->Word(0x00006003); }},
    {"hart jump misaligned",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT0, 0x102);
       a->Jalr(kZero, kT0, 0);
     }},
    {"hart jump to local RAM",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT0, hw::kLocalRamAddress);
       a->Jalr(kZero, kT0, 0);
     }},
    {"hart jump past L1",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT0, hw::kL1Bytes);
       a->Jalr(kZero, kT0, 0);
     }},
    {"hart load misaligned",
     [](const Setting& s, Rv32Asm* a) {
       a->Li(kT6, kHere);
       s.choose.Percent(50) ? a->Lw(kT0, kT6, static_cast<int32_t>(s.choose.Between(1, 3)))
                           : a->Lhu(kT0, kT6, 1);
     }},
    {"hart store misaligned",
     [](const Setting& s, Rv32Asm* a) {
       a->Li(kT6, kHere);
       s.choose.Percent(50) ? a->Sw(kT0, kT6, static_cast<int32_t>(s.choose.Between(1, 3)))
                           : a->Sh(kT0, kT6, 1);
     }},
    {"hart load past L1", [](const Setting&, Rv32Asm* a) { LoadFrom(hw::kL1Bytes, a); }},
    {"hart store past L1", [](const Setting&, Rv32Asm* a) { a->StoreWord(hw::kL1Bytes, 1); }},
    {"hart load from nowhere", [](const Setting&, Rv32Asm* a) { LoadFrom(0x40000000, a); }},
    {"hart load past local RAM",
     [](const Setting&, Rv32Asm* a) {
       LoadFrom(hw::kLocalRamAddress + hw::kLocalRamBytesBrisc, a);
     }},
    {"hart register load of 1",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT6, hw::StreamRegister(3, hw::kStreamBufferSize));
       a->Lbu(kT5, kT6, 0);
     }},
    {"hart register load of 2",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT6, hw::StreamRegister(3, hw::kStreamBufferSize));
       a->Lhu(kT5, kT6, 0);
     }},
    {"hart register store of 1",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT6, hw::StreamRegister(3, hw::kStreamBufferSize));
       a->Sb(kT5, kT6, 0);
     }},
    {"hart register store of 2",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT6, hw::StreamRegister(3, hw::kStreamBufferSize));
       a->Sh(kT5, kT6, 0);
     }},
    {"hart register misaligned",
     [](const Setting&, Rv32Asm* a) {
       a->Li(kT6, hw::StreamRegister(3, hw::kStreamBufferSize));
       a->Lw(kT5, kT6, 2);
     }},
    {"hart NIU configuration as it was",
     [](const Setting&, Rv32Asm* a) {
       LoadFrom(kNiu + hw::kNocConfig0, a);
       a->Li(kT6, kHere);
       a->Sw(kT5, kT6, 0);
     }},
    {"hart NIU unknown read", [](const Setting&, Rv32Asm* a) { LoadFrom(kNiu + 0x7F0, a); }},
    {"hart NIU unknown write", [](const Setting&, Rv32Asm* a) { a->StoreWord(kNiu + 0x7F0, 0); }},
    {"hart NIU exclusion read",
     [](const Setting&, Rv32Asm* a) { LoadFrom(kNiu + hw::kNocBroadcastExclude, a); }},
    {"hart NIU unknown counter",
     [](const Setting& s, Rv32Asm* a) {
       static constexpr uint32_t kUnknown[] = {3, 4, 5, 6, 8, 9, 12, 13, 14, 15, 0x30, 0x3F};
       LoadFrom(kNiu + hw::kNocStatus + 4 * s.choose.Pick(kUnknown), a);
     }},
    {"hart NIU counter write",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(kNiu + hw::kNocStatus, 0); }},
    {"hart NIU command 0",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(kNiu + hw::kNocCommand, 0); }},
    {"hart NIU command 2",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(kNiu + hw::kNocCommand, 2); }},
    {"hart NIU packet tag",
     [](const Setting& s, Rv32Asm* a) {
       NocFields fields = NocRead(s.self, s.other, kThere, kHere, 64);
       fields.tag = 1u << s.choose.Below(10);
       EmitNoc(*a, fields);
     }},
    {"hart NIU exclusion",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(kNiu + hw::kNocBroadcastExclude, 1); }},
    {"hart NIU clear some",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(kNiu + hw::kNocClearOutstanding, 1); }},
    {"hart NIU clear none",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(kNiu + hw::kNocClearOutstanding, 0); }},
    {"hart NIU translation off",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(kNiu + hw::kNocConfig0, 0); }},
    {"hart NIU column mask less",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(kNiu + hw::kNocRouterConfig1, 0); }},
    {"hart NIU column mask more",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(kNiu + hw::kNocRouterConfig1, 0x303); }},
    {"hart stream unknown read",
     [](const Setting&, Rv32Asm* a) { LoadFrom(hw::StreamRegister(3, 4), a); }},
    {"hart stream unknown write",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(hw::StreamRegister(3, 4), 0); }},
    {"hart stream update read",
     [](const Setting&, Rv32Asm* a) {
       LoadFrom(hw::StreamRegister(3, hw::kStreamSpaceAvailableUpdate), a);
     }},
    {"hart stream space write",
     [](const Setting&, Rv32Asm* a) {
       a->StoreWord(hw::StreamRegister(3, hw::kStreamSpaceAvailable), 0);
     }},
    {"hart stream update destination",
     [](const Setting& s, Rv32Asm* a) {
       a->StoreWord(hw::StreamRegister(3, hw::kStreamSpaceAvailableUpdate),
                    64 | s.choose.Between(1, 63));
     }},
    {"hart stream source past 24 bits",
     [](const Setting&, Rv32Asm* a) {
       a->StoreWord(hw::StreamRegister(3, hw::kStreamRemoteSource), 1u << 24);
     }},
    {"hart soft reset unknown bit",
     [](const Setting& s, Rv32Asm* a) {
       static constexpr uint32_t kUnknown[] = {0, 1, 7, 10, 15, 16, 17, 19, 23};
       a->StoreWord(hw::kSoftReset0, 0x47000 | 1u << s.choose.Pick(kUnknown));
     }},
    {"hart soft reset bits 24 to 30",
     [](const Setting& s, Rv32Asm* a) {
       a->StoreWord(hw::kSoftReset0, 0x47000 | 1u << s.choose.Between(24, 30));
     }},
    {"hart reset PC misaligned",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(hw::kTriscResetPc, 2); }},
    {"hart reset PC past L1",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(hw::kNcriscResetPc, hw::kL1Bytes); }},
    {"hart reset PC override bits",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(hw::kTriscResetPcOverride, 8); }},
    {"hart NCRISC reset PC read",
     [](const Setting&, Rv32Asm* a) { LoadFrom(hw::kNcriscResetPc, a); }},
    {"hart wall clock write",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(hw::kWallClockLow, 0); }},
    {"hart unknown debug register", [](const Setting&, Rv32Asm* a) { LoadFrom(0xFFB12004, a); }},
    {"hart PC snapshot", [](const Setting&, Rv32Asm* a) { LoadFrom(hw::kPcSnapshot, a); }},
    {"hart configuration word 0", [](const Setting&, Rv32Asm* a) { LoadFrom(hw::kTensixConfig, a); }},
    {"hart configuration word 1",
     [](const Setting&, Rv32Asm* a) { LoadFrom(hw::kTensixConfig + 4, a); }},
    {"hart cache mask read",
     [](const Setting&, Rv32Asm* a) { LoadFrom(hw::kInstructionCacheInvalidate, a); }},
    {"hart cache mask",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(hw::kInstructionCacheInvalidate, 0x1F); }},
    {"hart cache mask unknown bit",
     [](const Setting&, Rv32Asm* a) { a->StoreWord(hw::kInstructionCacheInvalidate, 0x20); }},
    {"hart unknown region", [](const Setting&, Rv32Asm* a) { LoadFrom(0xFFF00000, a); }},
};

}  // namespace

std::span<const RefusedProgram> RefusedPrograms() { return kPrograms; }

}  // namespace ttfd
