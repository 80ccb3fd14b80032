// Fuzz target: any bytes as what a debugger sends, on a chip where a hart runs. Whatever they ask for, the
// conversation and the chip go on.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/debug/gdb_session.h"
#include "runtime/debug/rsp_packet.h"
#include "runtime/device/sim/sim_device.h"
#include "runtime/hw/tensix.h"
#include "tests/support/rv32_asm.h"

namespace {

// More would make inputs slow that set many steps.
constexpr uint64_t kClocks = 200;

struct Target {
  Target() {
    auto options = ttfd::ParseSimOptions("sim:board=p100a,columns=1+2+3+4+5+6+7+10+11+12+13+14");
    if (!options.ok()) std::abort();
    auto opened = ttfd::OpenSimDevice(*options, &chip);
    if (!opened.ok()) std::abort();
    device = *std::move(opened);
  }
  // One hart counts in L1, for ever.
  void Restart() {
    ttfd::Rv32Asm a;
    a.Li(ttfd::kS0, 0x10000);
    const ttfd::Rv32Asm::Label loop = a.Here();
    a.Lw(ttfd::kT0, ttfd::kS0, 0);
    a.Addi(ttfd::kT0, ttfd::kT0, 1);
    a.Sw(ttfd::kT0, ttfd::kS0, 0);
    a.Fence();
    a.Jump(loop);
    auto window = device->OpenWindow(ttfd::UnicastTarget(chip->TensixCoordinate(0)));
    const uint32_t held = ttfd::hw::kSoftResetAllHarts & ~ttfd::hw::kSoftResetBrisc;
    if (!device->Reset().ok() || !window.ok() || !(*window)->Write(0, a.bytes()).ok() ||
        !ttfd::WriteWord(**window, ttfd::hw::kSoftReset0, held).ok()) {
      std::abort();
    }
  }
  ttfd::sim::Chip* chip = nullptr;
  std::unique_ptr<ttfd::Device> device;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Target target;
  target.Restart();
  ttfd::debug::DebugTarget debugged(*target.chip);
  ttfd::debug::PacketReader replies;
  ttfd::debug::GdbSession session(
      debugged,
      [&replies](std::string_view reply) {
        // Every reply fits a packet and comes through as it is.
        bool same = false;
        replies.Put(
            ttfd::debug::FramePacket(reply),
            [&](const ttfd::debug::PacketReader::Item& item) { same = item.data == reply; });
        if (!same) std::abort();
      },
      [](std::string_view words) { return std::string(words); });
  const auto handle = [&](const ttfd::debug::PacketReader::Item& item) {
    using Kind = ttfd::debug::PacketReader::Kind;
    if (session.ended()) return;
    if (item.kind == Kind::kInterrupt) session.Interrupt();
    if (item.kind == Kind::kPacket) session.Handle(item.data);
    if (debugged.Advance(kClocks).ok()) session.TellStop();
    if (debugged.running()) session.Interrupt();
  };
  // As they come; and each line as a packet, which needs no checksum to be found.
  std::string_view text(reinterpret_cast<const char*>(data), size);
  ttfd::debug::PacketReader reader;
  reader.Put(text, handle);
  while (!text.empty()) {
    handle({ttfd::debug::PacketReader::Kind::kPacket,
            std::string(ttfd::debug::TakeUntil(&text, '\n'))});
  }
  debugged.Disconnect();
  return 0;
}
