// Senders of the floods of input.
#include "tests/bench/input_flood.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <utility>

#include "firmware/kernel_elfs.h"
#include "tests/bench/client_child.h"

namespace ttfd::bench {
namespace {

using SendOne = std::function<Status()>;

// Threads of a client whose calls wait for the daemon.
constexpr size_t kWaitingThreads = 4;
constexpr size_t kArgumentBuffers = 16;
constexpr size_t kTraceLaunches = 4000;
// Buffers that a thread keeps, so that memory has holes.
constexpr size_t kKeptBuffers = 64;
constexpr uint32_t kBufferPageBytes = 1024;
// Pages from the size of a buffer to that of the next, coprime to the number of sizes.
constexpr uint64_t kSizeStep = 7;
constexpr uint64_t kSizes = 32;
// The largest kernel for BRISC that travels inside its command.
constexpr char kFloodKernel[] = "sha256_chunks";

// A program of the empty kernel on one tile, with the kernel.
struct SmallProgram {
  client::Kernel kernel;
  client::Program program;
};

StatusOr<SmallProgram> MakeSmallProgram(client::Session& session) {
  client::Result<client::Kernel> kernel = session.LoadKernel(KernelElf("empty"), "empty");
  RETURN_IF_ERROR(ToStatus(kernel.status()));
  client::ProgramBuilder builder;
  builder.AddKernel(*kernel, client::Processor::kBrisc, {client::CoreRange{0, 0, 0, 0}});
  client::Result<client::Program> program = session.CreateProgram(builder);
  RETURN_IF_ERROR(ToStatus(program.status()));
  return SmallProgram{*std::move(kernel), *std::move(program)};
}

// Enqueues launches whose arguments are all addresses of buffers. The queue keeps their errors.
StatusOr<SendOne> Arguments(client::Session& session) {
  struct State {
    SmallProgram small;
    std::array<client::Buffer, kArgumentBuffers> buffers;
    client::LaunchRequest launch;
    client::Queue queue;
  };
  const auto state = std::make_shared<State>();
  ASSIGN_OR_RETURN(state->small, MakeSmallProgram(session));
  for (client::Buffer& buffer : state->buffers) {
    client::Result<client::Buffer> allocated = session.AllocateDram(kBufferPageBytes);
    RETURN_IF_ERROR(ToStatus(allocated.status()));
    buffer = *std::move(allocated);
  }
  const uint32_t words = session.device().argument_words;
  state->launch = client::LaunchRequest(state->small.program);
  state->launch.Common(0, std::vector<uint32_t>(words));
  for (uint32_t word = 0; word < words; ++word) {
    state->launch.Address(0, word, state->buffers[word % kArgumentBuffers]);
  }
  state->queue = session.queue();
  return [state] { return ToStatus(state->queue.EnqueueLaunch(state->launch).status()); };
}

// Records a trace and releases it.
StatusOr<SendOne> Traces(client::Session& session) {
  struct State {
    SmallProgram small;
    std::vector<client::LaunchRequest> launches;
    client::Queue queue;
  };
  const auto state = std::make_shared<State>();
  ASSIGN_OR_RETURN(state->small, MakeSmallProgram(session));
  state->launches.assign(kTraceLaunches, client::LaunchRequest(state->small.program));
  state->queue = session.queue();
  return [state] { return ToStatus(state->queue.RecordTrace(state->launches).status()); };
}

// Marks each file behind its last section with what no other file has: the session and a number.
SendOne Kernels(client::Session& session) {
  static std::atomic<uint64_t> number{0};
  using Mark = std::array<uint64_t, 2>;
  const ByteSpan elf = KernelElf(kFloodKernel);
  std::vector<std::byte> bytes(elf.begin(), elf.end());
  bytes.resize(elf.size() + sizeof(Mark));
  return [&session, bytes = std::move(bytes)]() mutable {
    const Mark mark = {session.id(), ++number};
    std::memcpy(bytes.data() + bytes.size() - sizeof(mark), mark.data(), sizeof(mark));
    return ToStatus(session.LoadKernel(bytes, kFloodKernel).status());
  };
}

// Creates a program of as many parts as there may be, each of which lists its tiles one by one, and releases it.
StatusOr<SendOne> Programs(client::Session& session) {
  const auto kernel = std::make_shared<client::Kernel>();
  client::Result<client::Kernel> loaded = session.LoadKernel(KernelElf("empty"), "empty");
  RETURN_IF_ERROR(ToStatus(loaded.status()));
  *kernel = *std::move(loaded);
  const client::DeviceInfo& device = session.device();
  std::vector<client::CoreRange> tiles;
  for (uint32_t y = 0; y < device.grid_y; ++y) {
    for (uint32_t x = 0; x < device.grid_x; ++x) tiles.push_back({x, y, x, y});
  }
  client::ProgramBuilder builder;
  builder.AddKernel(*kernel, client::Processor::kBrisc, tiles);
  for (uint32_t index = 0; index < device.circular_buffers; ++index) {
    builder.AddCircularBuffer(index, 1, 16, tiles);
  }
  for (uint32_t index = 0; index < device.semaphores; ++index) {
    builder.AddSemaphore(index, 0, tiles);
  }
  return [&session, kernel, builder = std::move(builder)] {
    return ToStatus(session.CreateProgram(builder).status());
  };
}

// Allocates a buffer of another size in place of the oldest one.
SendOne Buffers(client::Session& session) {
  const auto kept = std::make_shared<std::array<client::Buffer, kKeptBuffers>>();
  return [&session, kept, count = uint64_t{0}]() mutable -> Status {
    const uint64_t pages = 1 + count * kSizeStep % kSizes;
    client::Buffer& place = (*kept)[count++ % kKeptBuffers];
    place = client::Buffer();
    client::Result<client::Buffer> buffer =
        session.AllocateDram(pages * kBufferPageBytes, {.page_bytes = kBufferPageBytes});
    RETURN_IF_ERROR(ToStatus(buffer.status()));
    place = *std::move(buffer);
    return OkStatus();
  };
}

StatusOr<SendOne> MakeSender(const std::string& what, client::Session& session) {
  if (what == "arguments") return Arguments(session);
  if (what == "traces") return Traces(session);
  if (what == "kernels") return Kernels(session);
  if (what == "programs") return Programs(session);
  if (what == "buffers") return Buffers(session);
  return Internal("no flood of input is named {}", what);
}

}  // namespace

const std::vector<std::string>& InputFloods() {
  static const auto* const floods =
      new std::vector<std::string>{"arguments", "traces", "kernels", "programs", "buffers"};
  return *floods;
}

StatusOr<std::unique_ptr<InputFlood>> InputFlood::Prepare(const std::string& what,
                                                          client::Session& session) {
  // Launches are not waited for. A kernel that the daemon lacks is an error, which would abort what other threads of
  // the session create meanwhile.
  const size_t threads = what == "arguments" || what == "kernels" ? 1 : kWaitingThreads;
  std::vector<Sender> senders;
  for (size_t thread = 0; thread < threads; ++thread) {
    ASSIGN_OR_RETURN(Sender sender, MakeSender(what, session));
    senders.push_back(std::move(sender));
  }
  return std::unique_ptr<InputFlood>(new InputFlood(std::move(senders)));
}

StatusOr<uint64_t> InputFlood::Run(const std::atomic<bool>& stop) const {
  std::vector<Status> outcomes(senders_.size());
  std::vector<std::thread> threads;
  std::atomic<uint64_t> commands{0};
  for (size_t i = 0; i < senders_.size(); ++i) {
    threads.emplace_back([&, i] {
      do {  // once at least: the thread may begin after the stop
        outcomes[i] = senders_[i]();
        ++commands;
      } while (outcomes[i].ok() && !stop.load(std::memory_order_relaxed));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& outcome : outcomes) RETURN_IF_ERROR(outcome);
  return commands.load();
}

}  // namespace ttfd::bench
