// ttfd-ttsim-child: runs a simulator library in a process of its own and does what the backend says (wire.h).
//
// One thread makes every call of the library. A second one waits for the parent's death, because the
// library may not come back from a call: the death signal of prctl would come with the end of the
// parent's thread that started this process, not with the parent's.
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "runtime/base/unique_fd.h"
#include "runtime/device/ttsim/child_memory.h"
#include "runtime/device/ttsim/refusal.h"
#include "runtime/device/ttsim/simulator_library.h"
#include "runtime/device/ttsim/wire.h"

namespace ttfd::ttsim {
namespace {

constexpr int kFailed = 1;
// Large enough that looking for a completion costs nothing, small enough that it is found soon.
constexpr uint64_t kClocksAtOnce = 32;

// Says why, as the library does, and ends the process.
[[noreturn]] void Refuse(std::string_view category, std::string_view text) {
  fmt::print("{}", FormatRefusal(category, text));
  std::fflush(stdout);
  std::_Exit(kFailed);
}

// Memory that the callbacks, which have no argument for it, access.
ChildMemory* host_memory = nullptr;
bool host_memory_written = false;

std::byte* FindHostMemory(uint64_t address, uint32_t size) {
  std::byte* const memory = host_memory->Find(address, size);
  if (memory == nullptr) {
    Refuse("HostMemory",
           fmt::format("{} bytes at bus address {:#x} are not host memory given to the card", size,
                       address));
  }
  return memory;
}

void ReadHostMemory(uint64_t address, void* to, uint32_t size) {
  std::memcpy(to, FindHostMemory(address, size), size);
}

void WriteHostMemory(uint64_t address, const void* from, uint32_t size) {
  std::memcpy(FindHostMemory(address, size), from, size);
  host_memory_written = true;
}

void EndWithParent() {
  pollfd socket = {kSocketFd, POLLRDHUP, 0};
  while (poll(&socket, 1, -1) < 0 && errno == EINTR) continue;
  std::_Exit(kFailed);
}

class Child {
 public:
  Child(const SimulatorLibrary& library, Mailbox& mailbox) : library_(library), mailbox_(mailbox) {}

  // Until the parent closes its end.
  void Serve() {
    for (;;) {
      Answer answer;
      if (send(kSocketFd, &answer_, sizeof(answer_), MSG_NOSIGNAL) != sizeof(answer_)) return;
      answer_ = answer;
      Doorbell doorbell;
      if (!Receive(&doorbell)) return;
      Do(doorbell.request_bytes);
    }
  }

  ChildMemory& memory() { return memory_; }

 private:
  bool Receive(Doorbell* doorbell) {
    iovec part = {doorbell, sizeof(*doorbell)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    ssize_t received = 0;
    do {
      received = recvmsg(kSocketFd, &header, MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    if (received != sizeof(*doorbell)) return false;
    file_.Reset();
    const cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
      file_.Reset(LoadAt<int>(CMSG_DATA(rights)));
    }
    return true;
  }

  void Do(uint32_t request_bytes) {
    for (size_t at = 0; at + sizeof(Request) <= std::min(request_bytes, kRequestBytes);) {
      const auto request = LoadAt<Request>(mailbox_.requests + at);
      at += sizeof(Request);
      mailbox_.current = request;
      // The library may end the process: what it was at must be in memory by then.
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (request.kind == RequestKind::kWrite) {
        library_.write(request.address, mailbox_.requests + at, request.size);
        at += (request.size + sizeof(Request) - 1) / sizeof(Request) * sizeof(Request);
      } else {
        DoWithoutData(request);
      }
    }
    mailbox_.current = {};
  }

  void DoWithoutData(const Request& request) {
    switch (request.kind) {
      case RequestKind::kConfigRead:
        StoreAt(mailbox_.reply, library_.config_read(static_cast<uint32_t>(request.length) << 3,
                                                     static_cast<uint32_t>(request.address)));
        answer_.reply_bytes = sizeof(uint32_t);
        return;
      case RequestKind::kRead:
        library_.read(request.address, mailbox_.reply, std::min(request.size, kPieceBytes));
        answer_.reply_bytes = request.size;
        return;
      case RequestKind::kMap: {
        const Status mapped = memory_.Map(request.address, request.length, file_.get());
        if (!mapped.ok()) Refuse("SystemError", StatusMessage(mapped));
        return;
      }
      case RequestKind::kUnmap:
        memory_.Unmap(request.address);
        return;
      case RequestKind::kClock:
        Clock(request.length);
        return;
      default:
        Refuse("AssertionFailure", "an unknown request");
    }
  }

  void Clock(uint64_t clocks) {
    host_memory_written = false;
    while (answer_.clocks < clocks && !host_memory_written) {
      const uint64_t step = std::min(clocks - answer_.clocks, kClocksAtOnce);
      library_.clock(static_cast<uint32_t>(step));
      answer_.clocks += step;
    }
  }

  const SimulatorLibrary library_;
  Mailbox& mailbox_;
  ChildMemory memory_;
  UniqueFd file_;  // that came with the doorbell
  Answer answer_;  // to the batch at hand; the first one says that the simulator is ready
};

int Main(const char* path) {
  void* const shared =
      mmap(nullptr, sizeof(Mailbox), PROT_READ | PROT_WRITE, MAP_SHARED, kMailboxFd, 0);
  if (shared == MAP_FAILED) Refuse("SystemError", "the mailbox cannot be mapped");
  Mailbox& mailbox = *static_cast<Mailbox*>(shared);
  mailbox.current = {.kind = RequestKind::kStart};
  std::thread(EndWithParent).detach();
  const StatusOr<SimulatorLibrary> library = SimulatorLibrary::Load(path);
  if (!library.ok()) Refuse("ConfigurationError", StatusMessage(library.status()));
  Child child(*library, mailbox);
  host_memory = &child.memory();
  library->set_host_memory(ReadHostMemory, WriteHostMemory);
  library->init();
  mailbox.current = {};
  child.Serve();
  // Not by way of exit: the library has nothing to save, and its thread-unsafe ends are not ours to run.
  std::_Exit(0);
}

}  // namespace
}  // namespace ttfd::ttsim

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "ttfd starts this program by itself (--device ttsim:LIBRARY)\n");
    return 2;
  }
  return ttfd::ttsim::Main(argv[1]);
}
