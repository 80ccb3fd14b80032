// Loads and stores that survive the withdrawal of their mapping.
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "runtime/device/kmd/linux_system.h"

namespace ttfd::kmd {
namespace {

// Mapping that this thread accesses. Read and marked by the handler, which runs on the same thread.
struct Guard {
  std::byte* begin = nullptr;
  size_t size = 0;
  bool withdrawn = false;
};
constinit thread_local Guard guard;

constexpr std::array<int, 2> kSignals = {SIGBUS, SIGSEGV};
std::array<struct sigaction, kSignals.size()> previous_actions;

bool ReplaceMapping(const void* at) {
  const auto address = reinterpret_cast<uintptr_t>(at);
  const auto begin = reinterpret_cast<uintptr_t>(guard.begin);
  if (guard.begin == nullptr || address < begin || address - begin >= guard.size) return false;
  const int saved = errno;
  // The whole mapping: the driver refuses to have a part of one replaced.
  void* const zeros = mmap(guard.begin, guard.size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  errno = saved;
  guard.withdrawn = zeros != MAP_FAILED;
  return guard.withdrawn;
}

void OnBadAccess(int signal, siginfo_t* info, void* /*context*/) {
  const bool by_an_access = info->si_code > 0;
  if (by_an_access && ReplaceMapping(info->si_addr)) return;
  // An access happens again on return, and meets the action that was there before; a signal that was sent is sent
  // anew.
  sigaction(signal, &previous_actions[signal == kSignals[0] ? 0 : 1], nullptr);
  if (!by_an_access) raise(signal);
}

bool InstallHandler() {
  struct sigaction action = {};
  action.sa_sigaction = OnBadAccess;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &action, &previous_actions[i]);
  }
  return true;
}

// One access, or several to the same mapping.
class Access {
 public:
  explicit Access(const Mapping& mapping) {
    guard = {mapping.begin, mapping.size, false};
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  // Ends it. False: the mapping was withdrawn.
  bool End() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    guard.begin = nullptr;
    return !guard.withdrawn;
  }
};

template <typename T>
volatile T* At(const Mapping& mapping, uint64_t offset) {
  return reinterpret_cast<volatile T*>(mapping.begin + offset);
}

}  // namespace

LinuxBus::LinuxBus() { [[maybe_unused]] static const bool installed = InstallHandler(); }

bool LinuxBus::Load(const Mapping& mapping, uint64_t offset, uint32_t* value) {
  Access access(mapping);
  *value = *At<uint32_t>(mapping, offset);
  return access.End();
}

bool LinuxBus::Store(const Mapping& mapping, uint64_t offset, uint32_t value, uint32_t width) {
  Access access(mapping);
  if (width == 4) {
    *At<uint32_t>(mapping, offset) = value;
  } else if (width == 2) {
    *At<uint16_t>(mapping, offset) = static_cast<uint16_t>(value);
  } else {
    *At<uint8_t>(mapping, offset) = static_cast<uint8_t>(value);
  }
  return access.End();
}

bool LinuxBus::StoreBulk(const Mapping& mapping, uint64_t offset, ByteSpan words) {
  Access access(mapping);
  for (size_t i = 0; i + 4 <= words.size(); i += 4) {
    *At<uint32_t>(mapping, offset + i) = LoadAt<uint32_t>(words.data() + i);
  }
  return access.End();
}

// Empties the write-combining buffers.
void LinuxBus::StoreFence() {
#if defined(__x86_64__)
  __asm__ __volatile__("sfence" ::: "memory");
#elif defined(__aarch64__)
  __asm__ __volatile__("dsb st" ::: "memory");
#else
#error "the store fence of this architecture is not known"
#endif
}

}  // namespace ttfd::kmd
