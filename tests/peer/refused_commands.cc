// Commands of the NIU.
#include "runtime/hw/arc.h"
#include "runtime/hw/pcie.h"
#include "runtime/hw/stream.h"
#include "tests/peer/refused_tables.h"

namespace ttfd {
namespace {

NocFields WithControl(NocFields fields, uint32_t set, uint32_t clear = 0) {
  fields.control = (fields.control | set) & ~clear;
  return fields;
}
NocFields GoodRead(const Setting& s) { return NocRead(s.self, s.other, kThere, kHere, 64); }
NocFields GoodWrite(const Setting& s) { return NocWrite(s.self, kHere, s.other, kThere, 64); }
NocFields GoodIncrement(const Setting& s) {
  return NocIncrement(s.self, s.other, kThere, 1, kHere);
}
NocFields GoodInline(const Setting& s) {
  return NocInline(s.self, s.other, hw::StreamRegister(3, hw::kStreamBufferSize), 1);
}
NocFields GoodMulticast(const Setting& s) {
  return NocMulticast(s.self, kHere, {3, 4}, {5, 6}, kThere, 64);
}
template <typename Change>
NocFields With(NocFields fields, Change change) {
  change(fields);
  return fields;
}

const RefusedCommand kCommands[] = {
    {"noc read of no bytes",
     [](const Setting& s) { return With(GoodRead(s), [](NocFields& f) { f.length = 0; }); }},
    {"noc write of no bytes",
     [](const Setting& s) { return With(GoodWrite(s), [](NocFields& f) { f.length = 0; }); }},
    {"noc packet too long",
     [](const Setting& s) {
       return With(s.choose.Percent(50) ? GoodRead(s) : GoodWrite(s),
                   [&](NocFields& f) { f.length = 16384 + s.choose.Between(1, 64); });
     }},
    {"noc multicast too long",
     [](const Setting& s) {
       return With(GoodMulticast(s), [](NocFields& f) { f.length = 16385; });
     }},
    {"noc read alignment L1",
     [](const Setting& s) {
       return With(GoodRead(s), [&](NocFields& f) { f.target += s.choose.Between(1, 15); });
     }},
    {"noc write alignment L1",
     [](const Setting& s) {
       return With(GoodWrite(s), [&](NocFields& f) { f.ret += s.choose.Between(1, 15); });
     }},
    {"noc read alignment DRAM",
     [](const Setting& s) {
       return NocRead(s.self, kBank, 0x1000 + s.choose.Between(1, 63), kHere, 32);
     }},
    {"noc write alignment DRAM",
     [](const Setting& s) {
       return NocWrite(s.self, kHere, kBank, 0x1000 + s.choose.Between(1, 15), 32);
     }},
    {"noc read alignment host",
     [](const Setting& s) {
       return NocRead(s.self, hw::kPcieTranslated,
                      hw::kHostMemoryNocBase | (0x1000 + s.choose.Between(1, 63)), kHere, 32);
     }},
    {"noc write alignment host",
     [](const Setting& s) {
       return NocWrite(s.self, kHere, hw::kPcieTranslated,
                       hw::kHostMemoryNocBase | (0x1000 + s.choose.Between(1, 15)), 32);
     }},
    {"noc multicast alignment",
     [](const Setting& s) {
       return With(GoodMulticast(s), [&](NocFields& f) { f.ret += s.choose.Between(1, 15); });
     }},
    {"noc byte enables",
     [](const Setting& s) { return WithControl(GoodWrite(s), hw::kNocByteEnable); }},
    {"noc drop read ack",
     [](const Setting& s) { return WithControl(GoodRead(s), hw::kNocDropReadAck); }},
    {"noc control bits 12 to 10",
     [](const Setting& s) { return WithControl(GoodWrite(s), 1u << s.choose.Between(10, 12)); }},
    {"noc axis", [](const Setting& s) { return WithControl(GoodWrite(s), hw::kNocMajorAxis); }},
    {"noc control bits 26 to 18",
     [](const Setting& s) { return WithControl(GoodWrite(s), 1u << s.choose.Between(18, 26)); }},
    {"noc priority",
     [](const Setting& s) { return WithControl(GoodWrite(s), 1u << s.choose.Between(27, 30)); }},
    {"noc virtual channel of the other class",
     [](const Setting& s) {
       return s.choose.Percent(50)
                  ? WithControl(GoodWrite(s), hw::kNocStaticVc | 4u << hw::kNocVcShift)
                  : WithControl(GoodMulticast(s), hw::kNocStaticVc, 4u << hw::kNocVcShift);
     }},
    {"noc accumulate",
     [](const Setting& s) { return WithControl(GoodWrite(s), hw::kNocAccumulate); }},
    {"noc multicast without path",
     [](const Setting& s) { return WithControl(GoodMulticast(s), 0, hw::kNocPathReserve); }},
    {"noc unicast with path",
     [](const Setting& s) { return WithControl(GoodWrite(s), hw::kNocPathReserve); }},
    {"noc unicast with source",
     [](const Setting& s) { return WithControl(GoodWrite(s), hw::kNocIncludeSource); }},
    {"noc multicast increment",
     [](const Setting& s) {
       return WithControl(GoodIncrement(s), hw::kNocMulticast | hw::kNocPathReserve);
     }},
    {"noc multicast read",
     [](const Setting& s) { return WithControl(GoodMulticast(s), 0, hw::kNocWrite); }},
    {"noc multicast inline",
     [](const Setting& s) { return WithControl(GoodMulticast(s), hw::kNocInline); }},
    {"noc posted read",
     [](const Setting& s) { return WithControl(GoodRead(s), 0, hw::kNocResponse); }},
    {"noc inline read", [](const Setting& s) { return WithControl(GoodRead(s), hw::kNocInline); }},
    {"noc increment as write",
     [](const Setting& s) { return WithControl(GoodIncrement(s), hw::kNocWrite); }},
    {"noc posted increment",
     [](const Setting& s) { return WithControl(GoodIncrement(s), 0, hw::kNocResponse); }},
    {"noc other atomic",
     [](const Setting& s) {
       return With(GoodIncrement(s), [&](NocFields& f) { f.length ^= 1u << s.choose.Below(16); });
     }},
    {"noc increment misaligned",
     [](const Setting& s) {
       return With(GoodIncrement(s), [&](NocFields& f) { f.target += s.choose.Between(1, 15); });
     }},
    {"noc increment old value misaligned",
     [](const Setting& s) {
       return With(GoodIncrement(s), [&](NocFields& f) { f.ret += s.choose.Between(1, 3); });
     }},
    {"noc increment in DRAM",
     [](const Setting& s) { return NocIncrement(s.self, kBank, 0x1000, 1, kHere); }},
    {"noc increment in host memory",
     [](const Setting& s) {
       return NocIncrement(s.self, hw::kPcieTranslated, hw::kHostMemoryNocBase, 1, kHere);
     }},
    {"noc increment of register",
     [](const Setting& s) {
       return NocIncrement(s.self, s.other, hw::StreamRegister(3, hw::kStreamBufferStart), 1,
                           kHere);
     }},
    {"noc read into another tile",
     [](const Setting& s) {
       return With(GoodRead(s), [&](NocFields& f) { f.return_xy = Xy(s.other); });
     }},
    {"noc write from another tile",
     [](const Setting& s) {
       return With(GoodWrite(s), [&](NocFields& f) { f.target_xy = Xy(s.other); });
     }},
    {"noc increment answered elsewhere",
     [](const Setting& s) {
       return With(GoodIncrement(s), [&](NocFields& f) { f.return_xy = Xy(s.other); });
     }},
    {"noc inline answered elsewhere",
     [](const Setting& s) {
       return With(GoodInline(s), [&](NocFields& f) { f.return_xy = Xy(s.other); });
     }},
    {"noc local side past L1",
     [](const Setting& s) {
       return With(GoodRead(s), [](NocFields& f) { f.ret = hw::kL1Bytes - 32; });
     }},
    {"noc local side is a register",
     [](const Setting& s) {
       return With(GoodRead(s), [](NocFields& f) {
         f.ret = hw::StreamRegister(3, hw::kStreamBufferSize);
         f.length = 4;
       });
     }},
    {"noc read past L1",
     [](const Setting& s) {
       return With(GoodRead(s), [](NocFields& f) { f.target = hw::kL1Bytes - 32; });
     }},
    {"noc write past L1",
     [](const Setting& s) {
       return With(GoodWrite(s), [](NocFields& f) { f.ret = hw::kL1Bytes - 32; });
     }},
    {"noc read between L1 and registers",
     [](const Setting& s) {
       return With(GoodRead(s), [](NocFields& f) { f.target = hw::kL1Bytes; });
     }},
    {"noc write between L1 and registers",
     [](const Setting& s) { return With(GoodWrite(s), [](NocFields& f) { f.ret = 0x1000000; }); }},
    {"noc read past 32 bits",
     [](const Setting& s) {
       return With(GoodRead(s), [](NocFields& f) { f.target |= uint64_t{1} << 40; });
     }},
    {"noc read past DRAM",
     [](const Setting& s) { return NocRead(s.self, kBank, hw::kDramTileBytes - 64, kHere, 128); }},
    {"noc write past DRAM",
     [](const Setting& s) { return NocWrite(s.self, kHere, kBank, hw::kDramTileBytes - 64, 128); }},
    {"noc host window 8",
     [](const Setting& s) {
       return NocRead(s.self, hw::kPcieTranslated, uint64_t{s.choose.Between(8, 61)} << 58, kHere,
                      64);
     }},
    {"noc host window crossed",
     [](const Setting& s) {
       return NocRead(s.self, hw::kPcieTranslated, (uint64_t{1} << 58) - 64, kHere, 128);
     }},
    {"noc no tile",
     [](const Setting& s) {
       static constexpr hw::Coordinate kNowhere[] = {
           {8, 5}, {0, 12}, {17, 2}, {17, 24}, {19, 23}, {20, 12}, {32, 25}, {63, 63}, {17, 0}};
       return NocRead(s.self, s.choose.Pick(kNowhere), 0x1000, kHere, 64);
     }},
    {"noc coordinate past 12 bits",
     [](const Setting& s) {
       return With(GoodRead(s), [](NocFields& f) { f.target_xy |= 1u << 12; });
     }},
    {"noc inline to L1", [](const Setting& s) { return NocInline(s.self, s.other, kThere, 1); }},
    {"noc inline to DRAM", [](const Setting& s) { return NocInline(s.self, kBank, 0x1000, 1); }},
    {"noc inline to host",
     [](const Setting& s) {
       return NocInline(s.self, hw::kPcieTranslated, hw::kHostMemoryNocBase, 1);
     }},
    {"noc inline to ARC",
     [](const Setting& s) { return NocInline(s.self, hw::kArc, hw::kArcScratchRam + 4 * 15, 1); }},
    {"noc inline misaligned",
     [](const Setting& s) {
       return With(GoodInline(s), [&](NocFields& f) { f.target += s.choose.Between(1, 3); });
     }},
    {"noc register read of 8",
     [](const Setting& s) {
       return NocRead(s.self, s.other, hw::StreamRegister(3, hw::kStreamBufferSize), kHere + 8, 8);
     }},
    {"noc register read of 2",
     [](const Setting& s) {
       return NocRead(s.self, s.other, hw::StreamRegister(3, hw::kStreamBufferSize), kHere + 8, 2);
     }},
    {"noc register read to elsewhere modulo 4",
     [](const Setting& s) {
       return NocRead(s.self, s.other, hw::StreamRegister(3, hw::kStreamBufferSize),
                      kHere + s.choose.Between(1, 3), 4);
     }},
    {"noc register read to elsewhere modulo 16",
     [](const Setting& s) {
       return NocRead(s.self, s.other, hw::StreamRegister(3, hw::kStreamBufferSize), kHere + 4, 4);
     }},
    {"noc register write of 8",
     [](const Setting& s) {
       return NocWrite(s.self, kHere + 8, s.other, hw::StreamRegister(3, hw::kStreamBufferSize), 8);
     }},
    {"noc register write from elsewhere modulo 16",
     [](const Setting& s) {
       return NocWrite(s.self, kHere + 4, s.other, hw::StreamRegister(3, hw::kStreamBufferSize), 4);
     }},
    {"noc unknown register",
     [](const Setting& s) { return NocRead(s.self, s.other, hw::kNiuAddress + 0x7F0, kHere, 4); }},
    {"noc register multicast of 8",
     [](const Setting& s) {
       return NocMulticast(s.self, kHere + 8, {3, 4}, {5, 6},
                           hw::StreamRegister(3, hw::kStreamBufferSize), 8);
     }},
    {"noc multicast past L1",
     [](const Setting& s) {
       return NocMulticast(s.self, kHere, {3, 4}, {5, 6}, hw::kL1Bytes - 32, 64);
     }},
    {"noc multicast backwards",
     [](const Setting& s) {
       return s.choose.Percent(50) ? NocMulticast(s.self, kHere, {5, 6}, {3, 4}, kThere, 64)
                                   : NocMulticast(s.self, kHere, {3, 6}, {5, 4}, kThere, 64);
     }},
    {"noc multicast to nobody",
     [](const Setting& s) { return NocMulticast(s.self, kHere, s.self, s.self, kThere, 64); }},
    {"noc multicast to excluded tiles",
     [](const Setting& s) {
       return NocMulticast(s.self, kHere, {8, 1}, {9, 11}, kThere, 64);
     }},
    {"noc multicast from row 0",
     [](const Setting& s) {
       return NocMulticast(s.self, kHere, {2, 0}, {3, 4}, kThere, 64);
     }},
    {"noc multicast to DRAM",
     [](const Setting& s) {
       return NocMulticast(s.self, kHere, {17, 12}, {18, 14}, 0x1000, 64);
     }},
    {"noc link broken by another destination",
     [](const Setting& s) { return WithControl(GoodWrite(s), hw::kNocLinked); }},
    {"noc linked read", [](const Setting& s) { return WithControl(GoodRead(s), hw::kNocLinked); }},
};

}  // namespace

std::span<const RefusedCommand> RefusedCommands() { return kCommands; }

}  // namespace ttfd
