// A library with the simulator's interface that misbehaves as it is told, for tests of who supervises it. Its BAR0 is
// plain memory; a word written to BAR2 tells what goes wrong: at offset 0 at once, at offset 4 in the next clock.
#include "tests/support/fake_simulator.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace {

using ttfd::Mishap;

constexpr uint64_t kBar0 = 0x1'0000'0000;
constexpr uint64_t kBar2 = 0x1'2000'0000;

std::vector<uint8_t> memory(4 << 20);
uint64_t now = 0;
Mishap next = Mishap::kNone;
void (*host_read)(uint64_t, void*, uint32_t) = nullptr;
void (*host_write)(uint64_t, const void*, uint32_t) = nullptr;

[[noreturn]] void Refuse(const char* category) {
  std::printf("[%llu] ERROR: %s: fake: text=0x1f\n", static_cast<unsigned long long>(now),
              category);
  std::fflush(stdout);
  std::_Exit(1);
}

void Do(Mishap mishap) {
  switch (mishap) {
    case Mishap::kNone:
      return;
    case Mishap::kRefusal:
      Refuse("UnimplementedFunctionality");
    case Mishap::kSystemError:
      Refuse("SystemError");
    case Mishap::kAbort:
      std::abort();
    case Mishap::kHang:
      for (uint64_t turns = 0;; ++turns) asm volatile("" : "+r"(turns));
    case Mishap::kTalk:
      for (int i = 0; i < 20000; ++i) std::printf("%d: a line of no interest whatsoever\n", i);
      return;
    case Mishap::kHostWrite: {
      const uint32_t word = 0xFEED;
      host_write(ttfd::kFakeBusAddress, &word, sizeof(word));
      return;
    }
    case Mishap::kHostRead: {
      uint32_t word = 0;
      host_read(ttfd::kFakeBusAddress, &word, sizeof(word));
      std::memcpy(memory.data(), &word, sizeof(word));
      return;
    }
  }
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void libttsim_set_pci_dma_mem_callbacks(
    void (*read)(uint64_t, void*, uint32_t), void (*write)(uint64_t, const void*, uint32_t)) {
  host_read = read;
  host_write = write;
}

__attribute__((visibility("default"))) void libttsim_init() {
  if (host_read == nullptr) Refuse("ConfigurationError");
}

__attribute__((visibility("default"))) uint32_t libttsim_pci_config_rd32(uint32_t device,
                                                                         uint32_t offset) {
  if (device >> 3 >= ttfd::kFakeChips) return ~0u;
  const uint64_t bar = offset < 0x18 ? kBar0 : kBar2;
  return offset % 8 == 0 ? static_cast<uint32_t>(bar) | 4 : static_cast<uint32_t>(bar >> 32);
}

__attribute__((visibility("default"))) void libttsim_pci_mem_rd_bytes(uint64_t address, void* to,
                                                                      uint32_t size) {
  std::memcpy(to, memory.data() + (address - kBar0), size);
}

__attribute__((visibility("default"))) void libttsim_pci_mem_wr_bytes(uint64_t address,
                                                                      const void* from,
                                                                      uint32_t size) {
  if (address < kBar2) {
    std::memcpy(memory.data() + (address - kBar0), from, size);
    return;
  }
  Mishap mishap = Mishap::kNone;
  std::memcpy(&mishap, from, sizeof(mishap));
  if (address == kBar2) Do(mishap);
  if (address == kBar2 + 4) next = mishap;
}

// What goes wrong does so in the hundredth clock of a call or later ones.
__attribute__((visibility("default"))) void libttsim_clock(uint32_t clocks) {
  for (uint32_t i = 0; i < clocks; ++i) {
    if (++now % 100 == 0) Do(std::exchange(next, Mishap::kNone));
  }
}

}  // extern "C"
