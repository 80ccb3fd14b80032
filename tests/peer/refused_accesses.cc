// What a host does through configuration space and BARs.
#include <fmt/format.h>

#include "runtime/hw/arc.h"
#include "runtime/hw/pcie.h"
#include "runtime/hw/stream.h"
#include "tests/peer/refused_tables.h"

namespace ttfd {
namespace {

constexpr uint64_t kBar0 = hw::kModelBar0Address;
constexpr uint64_t kBar2 = hw::kModelBar2Address;
constexpr uint64_t kBar4 = hw::kModelBar4Address;
constexpr uint32_t kSize = hw::StreamRegister(3, hw::kStreamBufferSize);

void R(SequenceBuilder* b, uint64_t paddr, uint64_t size) {
  b->Add(fmt::format("r {:x} {:x}", paddr, size));
}
void W(SequenceBuilder* b, uint64_t paddr, uint64_t size, uint64_t value) {
  b->Add(fmt::format("w {:x} {:x} {:x}", paddr, size, value));
}
// An access through window 5 with its third word changed.
void ThroughChanged(const Setting& s, SequenceBuilder* b, uint32_t word, uint32_t bits) {
  std::array<uint32_t, 3> words = SequenceBuilder::WindowWords(s.other, 0, 1);
  words[word] ^= bits;
  b->WriteWindow(5, words);
  R(b, kBar0 + 5 * hw::kTlbWindow2MBytes, 4);
}
void ThroughChanged4G(const Setting& s, SequenceBuilder* b, uint32_t word, uint32_t bits) {
  std::array<uint32_t, 3> words = {0, s.other.x | s.other.y << 6, 0};
  words[word] ^= bits;
  b->WriteWindow(hw::kTlbWindows2M + 5, words);
  R(b, kBar4 + 5 * hw::kTlbWindow4GBytes, 4);
}
uint64_t Iatu(uint32_t region, uint32_t reg) {
  return kBar2 + hw::kIatuOutbound + region * hw::kIatuStride + reg;
}
void Region(SequenceBuilder* b, uint32_t region, uint64_t base, uint64_t limit) {
  W(b, Iatu(region, hw::kIatuControl2), 4, 0);
  W(b, Iatu(region, hw::kIatuControl1), 4, 0);
  W(b, Iatu(region, hw::kIatuBaseLow), 4, base & 0xFFFFFFFF);
  W(b, Iatu(region, hw::kIatuBaseHigh), 4, base >> 32);
  W(b, Iatu(region, hw::kIatuLimitLow), 4, limit & 0xFFFFFFFF);
  W(b, Iatu(region, hw::kIatuLimitHigh), 4, limit >> 32);
  W(b, Iatu(region, hw::kIatuControl2), 4, hw::kIatuControl2Enable);
}

const RefusedAccess kAccesses[] = {
    {"host second init", [](const Setting&, SequenceBuilder* b) { b->Add("init"); }},
    {"host callbacks while running", [](const Setting&, SequenceBuilder* b) { b->Add("callbacks"); }},
    {"host tile read", [](const Setting&, SequenceBuilder* b) { b->Add("tr"); }},
    {"host tile write", [](const Setting&, SequenceBuilder* b) { b->Add("tw"); }},
    {"host configuration function", [](const Setting&, SequenceBuilder* b) { b->Add("cr 1 0"); }},
    {"host configuration bus", [](const Setting&, SequenceBuilder* b) { b->Add("cr 100 0"); }},
    {"host configuration misaligned", [](const Setting&, SequenceBuilder* b) { b->Add("cr 0 2"); }},
    {"host configuration end", [](const Setting&, SequenceBuilder* b) { b->Add("cr 0 40"); }},
    {"host configuration write read-only",
     [](const Setting& s, SequenceBuilder* b) {
       static constexpr uint32_t kReadOnly[] = {0x00, 0x08, 0x28, 0x2C, 0x34, 0x38, 0x40};
       b->Add(fmt::format("cw 0 {:x} 0", s.choose.Pick(kReadOnly)));
     }},
    {"host configuration write nobody",
     [](const Setting&, SequenceBuilder* b) { b->Add("cw 8 4 0"); }},
    {"host no BAR", [](const Setting&, SequenceBuilder* b) { R(b, 0x1000, 4); }},
    {"host no bytes", [](const Setting&, SequenceBuilder* b) { R(b, kBar0, 0); }},
    {"host BAR0 overrun",
     [](const Setting&, SequenceBuilder* b) { R(b, kBar0 + hw::kBar0Bytes - 2, 4); }},
    {"host BAR0 hole",
     [](const Setting&, SequenceBuilder* b) { R(b, kBar0 + 202 * hw::kTlbWindow2MBytes, 4); }},
    {"host BAR0 NIU register",
     [](const Setting&, SequenceBuilder* b) { R(b, kBar0 + hw::kBar0Niu0 + 0x148, 4); }},
    {"host BAR0 NIU width",
     [](const Setting&, SequenceBuilder* b) { R(b, kBar0 + hw::kBar0Niu0 + 0x44, 2); }},
    {"host BAR0 NIU write",
     [](const Setting&, SequenceBuilder* b) { W(b, kBar0 + hw::kBar0Niu0 + 0x44, 4, 0); }},
    {"host window register read",
     [](const Setting&, SequenceBuilder* b) { R(b, kBar0 + hw::kTlbRegisters, 4); }},
    {"host window register write of 8",
     [](const Setting&, SequenceBuilder* b) { W(b, kBar0 + hw::kTlbRegisters, 8, 0); }},
    {"host window register misaligned",
     [](const Setting&, SequenceBuilder* b) { W(b, kBar0 + hw::kTlbRegisters + 2, 4, 0); }},
    {"host window register past the last",
     [](const Setting&, SequenceBuilder* b) { W(b, kBar0 + hw::kTlbRegisters + 210 * 12, 4, 0); }},
    {"host window crossed",
     [](const Setting& s, SequenceBuilder* b) {
       ThroughChanged(s, b, 0, 0);
       R(b, kBar0 + 6 * hw::kTlbWindow2MBytes - 2, 4);
     }},
    {"host window NoC 1",
     [](const Setting& s, SequenceBuilder* b) { ThroughChanged(s, b, 2, 1u << 3); }},
    {"host window linked",
     [](const Setting& s, SequenceBuilder* b) { ThroughChanged(s, b, 2, 1u << 8); }},
    {"host window static VC",
     [](const Setting& s, SequenceBuilder* b) { ThroughChanged(s, b, 2, 1u << 9); }},
    {"host window ordering 3",
     [](const Setting& s, SequenceBuilder* b) { ThroughChanged(s, b, 2, 2u << 6); }},
    {"host window with a start",
     [](const Setting& s, SequenceBuilder* b) { ThroughChanged(s, b, 1, 1u << 23); }},
    {"host window with a start above",
     [](const Setting& s, SequenceBuilder* b) { ThroughChanged(s, b, 2, 1u); }},
    {"host multicast read",
     [](const Setting&, SequenceBuilder* b) { R(b, b->PointMulticast({3, 4}, {5, 6}, 0x1000), 4); }},
    {"host multicast backwards",
     [](const Setting&, SequenceBuilder* b) {
       W(b, b->PointMulticast({5, 6}, {3, 4}, 0x1000), 4, 1);
     }},
    {"host multicast from outside",
     [](const Setting& s, SequenceBuilder* b) {
       W(b, b->PointMulticast(s.choose.Percent(50) ? hw::Coordinate{8, 4} : hw::Coordinate{2, 1},
                              {12, 6}, 0x1000),
         4, 1);
     }},
    {"host multicast to DRAM",
     [](const Setting&, SequenceBuilder* b) {
       W(b, b->PointMulticast({17, 12}, {18, 14}, 0x1000), 4, 1);
     }},
    {"host no tile",
     [](const Setting& s, SequenceBuilder* b) {
       static constexpr hw::Coordinate kNowhere[] = {{8, 5},   {0, 12},  {17, 2}, {17, 24}, {19, 23},
                                                     {20, 12}, {32, 25}, {63, 63}, {17, 0}};
       b->ReadWord(s.choose.Pick(kNowhere), 0x1000);
     }},
    {"host Ethernet tile", [](const Setting&, SequenceBuilder* b) { b->ReadWord({20, 25}, 0x1000); }},
    {"host past L1",
     [](const Setting& s, SequenceBuilder* b) { b->Read(s.other, hw::kL1Bytes - 2, 4); }},
    {"host word behind L1",
     [](const Setting& s, SequenceBuilder* b) { b->Read(s.other, hw::kL1Bytes, 4); }},
    {"host bytes behind L1",
     [](const Setting& s, SequenceBuilder* b) { b->Read(s.other, hw::kL1Bytes, 64); }},
    {"host past DRAM",
     [](const Setting&, SequenceBuilder* b) { b->Read(kBank, hw::kDramTileBytes, 4); }},
    {"host DRAM tile's registers",
     [](const Setting& s, SequenceBuilder* b) {
       b->Read(kBank, hw::kDramBankBytes + 4 * s.choose.Below(0x3FFFFF), 4);
     }},
    {"host register of 2", [](const Setting& s, SequenceBuilder* b) { b->Read(s.other, kSize, 2); }},
    {"host register of 8", [](const Setting& s, SequenceBuilder* b) { b->Read(s.other, kSize, 8); }},
    {"host register misaligned",
     [](const Setting& s, SequenceBuilder* b) { b->Read(s.other, kSize + 2, 4); }},
    {"host local RAM",
     [](const Setting& s, SequenceBuilder* b) { b->ReadWord(s.other, hw::kLocalRamAddress); }},
    {"host stream unknown",
     [](const Setting& s, SequenceBuilder* b) { b->ReadWord(s.other, hw::StreamRegister(3, 4)); }},
    {"host NIU unknown",
     [](const Setting& s, SequenceBuilder* b) { b->ReadWord(s.other, hw::kNiuAddress + 0x7F0); }},
    {"host NIU command",
     [](const Setting& s, SequenceBuilder* b) {
       b->WriteWord(s.other, hw::kNiuAddress + 3 * hw::kNiuCommandBufferStride + hw::kNocCommand, 1);
     }},
    {"host cache mask",
     [](const Setting& s, SequenceBuilder* b) {
       b->WriteWord(s.other, hw::kInstructionCacheInvalidate, 1);
     }},
    {"host configuration word 0",
     [](const Setting& s, SequenceBuilder* b) { b->ReadWord(s.other, hw::kTensixConfig); }},
    {"host PC snapshot",
     [](const Setting& s, SequenceBuilder* b) { b->ReadWord(s.other, hw::kPcSnapshot); }},
    {"host soft reset unknown bit",
     [](const Setting& s, SequenceBuilder* b) { b->WriteWord(s.other, hw::kSoftReset0, 0x47801); }},
    {"host memory window 8",
     [](const Setting& s, SequenceBuilder* b) {
       b->ReadWord(hw::kPcieTranslated, uint64_t{s.choose.Between(8, 61)} << 58);
     }},
    {"host PCIe tile's own registers",
     [](const Setting&, SequenceBuilder* b) {
       b->ReadWord(hw::kPcieTranslated, 0xF800000000000078);
     }},
    {"host ARC unknown", [](const Setting&, SequenceBuilder* b) { b->ReadWord(hw::kArc, 0x20000000); }},
    {"host ARC memory",
     [](const Setting&, SequenceBuilder* b) { b->ReadWord(hw::kArc, hw::kArcCsm + 0x40000); }},
    {"host ARC scratch of 2",
     [](const Setting&, SequenceBuilder* b) { b->Read(hw::kArc, hw::kArcScratchRam, 2); }},
    {"host ARC boot status write",
     [](const Setting&, SequenceBuilder* b) {
       b->WriteWord(hw::kArc, hw::kArcScratchRam + 4 * hw::kArcScratchBootStatus, 0);
     }},
    {"host BAR2 of 8", [](const Setting&, SequenceBuilder* b) { R(b, kBar2 + 0x1000, 8); }},
    {"host BAR2 misaligned", [](const Setting&, SequenceBuilder* b) { R(b, kBar2 + 0x1002, 4); }},
    {"host BAR2 unknown", [](const Setting&, SequenceBuilder* b) { R(b, kBar2 + 0x80000, 4); }},
    {"host BAR2 DMA", [](const Setting&, SequenceBuilder* b) { R(b, kBar2 + 0x100, 4); }},
    {"host iATU unknown", [](const Setting&, SequenceBuilder* b) { R(b, Iatu(0, 0x24), 4); }},
    {"host iATU past the last", [](const Setting&, SequenceBuilder* b) { R(b, Iatu(16, 0), 4); }},
    {"host iATU inbound read", [](const Setting&, SequenceBuilder* b) { R(b, Iatu(0, 0x100), 4); }},
    {"host iATU inbound", [](const Setting&, SequenceBuilder* b) { W(b, Iatu(0, 0x100), 4, 0); }},
    {"host iATU control 1", [](const Setting&, SequenceBuilder* b) { W(b, Iatu(0, 0), 4, 1); }},
    {"host iATU control 2", [](const Setting&, SequenceBuilder* b) { W(b, Iatu(0, 4), 4, 1); }},
    {"host iATU control 3", [](const Setting&, SequenceBuilder* b) { W(b, Iatu(0, 0x1C), 4, 1); }},
    {"host iATU base above limit",
     [](const Setting&, SequenceBuilder* b) { Region(b, 0, 0x40001000, 0x40000000); }},
    {"host iATU past the window",
     [](const Setting&, SequenceBuilder* b) {
       Region(b, 0, (uint64_t{1} << 58) - 0x1000, (uint64_t{1} << 58) + 0xFFF);
     }},
    {"host iATU larger than 4 GiB",
     [](const Setting&, SequenceBuilder* b) { Region(b, 0, 0, uint64_t{1} << 33); }},
    {"host iATU overlap",
     [](const Setting&, SequenceBuilder* b) {
       Region(b, 14, 0x60000000, 0x60001FFF);
       Region(b, 15, 0x60001000, 0x60002FFF);
     }},
    {"host iATU overlap used",
     [](const Setting&, SequenceBuilder* b) {
       Region(b, 14, 0x60000000, 0x60001FFF);
       Region(b, 15, 0x60001000, 0x60002FFF);
       b->ReadWord(hw::kPcieTranslated, hw::kHostMemoryNocBase | 0x60001100);
     }},
    {"host iATU region crossed",
     [](const Setting&, SequenceBuilder* b) {
       Region(b, 14, 0x60000000, 0x60001FFF);
       b->Read(hw::kPcieTranslated, hw::kHostMemoryNocBase | 0x60001FFE, 4);
     }},
    {"host BAR4 overrun",
     [](const Setting&, SequenceBuilder* b) { R(b, kBar4 + hw::kBar4Bytes - 2, 4); }},
    {"host BAR4 window crossed",
     [](const Setting& s, SequenceBuilder* b) {
       ThroughChanged4G(s, b, 0, 0);
       R(b, kBar4 + 6 * hw::kTlbWindow4GBytes - 2, 4);
     }},
    {"host BAR4 start", [](const Setting& s, SequenceBuilder* b) { ThroughChanged4G(s, b, 1, 1u << 12); }},
    {"host BAR4 NoC 1", [](const Setting& s, SequenceBuilder* b) { ThroughChanged4G(s, b, 1, 1u << 24); }},
    {"host BAR4 multicast",
     [](const Setting& s, SequenceBuilder* b) { ThroughChanged4G(s, b, 1, 1u << 26); }},
    {"host BAR4 ordering 3",
     [](const Setting& s, SequenceBuilder* b) { ThroughChanged4G(s, b, 1, 3u << 27); }},
    {"host BAR4 linked", [](const Setting& s, SequenceBuilder* b) { ThroughChanged4G(s, b, 1, 1u << 29); }},
    {"host BAR4 third word", [](const Setting& s, SequenceBuilder* b) { ThroughChanged4G(s, b, 2, 1); }},
};

}  // namespace

std::span<const RefusedAccess> RefusedAccesses() { return kAccesses; }

}  // namespace ttfd
