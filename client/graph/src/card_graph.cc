// A graph as a program and its launch.
#include "client/graph/src/card_graph.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "client/graph/src/error.h"
#include "firmware/graph/elfs.h"
#include "firmware/graph/layout.h"

namespace ttfd::graph {
namespace {

// In the order of the launch's arguments. Followers come next.
enum KernelIndex : uint32_t { kScheduler, kStreamer, kWorker };

// By hart, the worker's followers behind it.
constexpr const char* kOwnNames[] = {
    "scheduler",       "streamer",        "worker",          "follower_ncrisc",
    "follower_trisc0", "follower_trisc1", "follower_trisc2", "none"};
constexpr client::Processor kProcessors[] = {client::Processor::kBrisc, client::Processor::kNcrisc,
                                             client::Processor::kTrisc0, client::Processor::kTrisc1,
                                             client::Processor::kTrisc2};
static_assert(std::size(kProcessors) == Description::kHarts);
constexpr uint32_t kNone = kWorker + Description::kHarts;  // index of its name
static_assert(std::size(kOwnNames) == kNone + 1);

// A structure of words, and the list that follows it, as the words of a launch.
template <typename Words>
std::vector<uint32_t> WordsOf(const Words& words) {
  std::vector<uint32_t> all(sizeof(Words) / 4);
  std::memcpy(all.data(), &words, sizeof(Words));
  return all;
}
template <typename Words, typename Element>
std::vector<uint32_t> WordsOf(const Words& words, const std::vector<Element>& list) {
  std::vector<uint32_t> all = WordsOf(words);
  const size_t bytes = list.size() * sizeof(Element);
  all.resize(all.size() + bytes / 4);
  std::memcpy(all.data() + sizeof(Words) / 4, list.data(), bytes);
  return all;
}

// Bytes for the circular buffers of any configuration. 0: there is none.
uint32_t ArenaBytes(const Description& graph) {
  if (graph.configurations().size() == 0) return 0;
  return std::max(graph.configurations().arena_bytes(), layout::kConfigurationAlignment);
}

}  // namespace

uint32_t CardGraph::WindowBlocks() const {
  const uint32_t left =
      session_.device().circular_buffer_bytes - layout::kMailboxPages * layout::kSentBytes;
  return std::min(left / layout::kBlockBytes - 1, layout::kMostWindowBlocks);
}

Status CardGraph::LoadOwnKernels() {
  std::vector<client::Kernel> kernels;
  for (const char* const name : kOwnNames) {
    Result<client::Kernel> kernel =
        session_.LoadKernel(GraphElf(name), std::string("graph ") + name);
    if (!kernel.ok()) return kernel.status();
    kernels.push_back(std::move(*kernel));
  }
  if (Status status = control_.Allocate(placement_.scheduler()); !status.ok()) return status;
  own_ = std::move(kernels);
  return {};
}

void CardGraph::AddFunctions(const Description& graph, client::ProgramBuilder* builder) {
  const std::vector<client::CoreRange>& workers = placement_.cores();
  const std::vector<Description::FunctionEntry>& functions = graph.functions();
  followers_.clear();
  for (uint32_t hart = 0; hart < Description::kHarts; ++hart) {
    Follower follower;
    bool has_parts = false;
    // Kernels for BRISC come first: the worker has them by the functions' numbers.
    for (size_t i = 0; i < functions.size(); ++i) {
      uint64_t handle = functions[i].kernels[hart];
      if (handle == 0 && hart != 0) continue;
      if (handle == 0) handle = own_[kNone].handle();
      follower.words.callable[i] = static_cast<uint8_t>(builder->AddCallable(
          client::Kernel(nullptr, handle), kProcessors[hart], workers, functions[i].configured));
      has_parts = hart != 0;
    }
    if (!has_parts) continue;
    follower.kernel = builder->AddKernel(own_[kWorker + hart], kProcessors[hart], workers);
    followers_.push_back(follower);
  }
}

Status CardGraph::MakeProgram(const Description& graph, uint32_t window) {
  const std::vector<client::CoreRange> scheduler = {
      client::CoreRange::Single(placement_.scheduler())};
  const std::vector<client::CoreRange>& workers = placement_.cores();
  std::vector<client::CoreRange> all = workers;
  all.push_back(scheduler[0]);
  client::ProgramBuilder builder;
  builder.AddKernel(own_[kScheduler], client::Processor::kBrisc, scheduler);
  builder.AddKernel(own_[kStreamer], client::Processor::kNcrisc, scheduler);
  builder.AddKernel(own_[kWorker], client::Processor::kBrisc, workers);
  AddFunctions(graph, &builder);
  // The first one: it has one address on all tiles.
  builder.AddCircularBuffer(layout::kMailbox, layout::kMailboxPages, layout::kSentBytes, all);
  builder.AddCircularBuffer(layout::kWindow, window + 1, layout::kBlockBytes, scheduler);
  arena_ = ArenaBytes(graph);
  if (arena_ != 0) {
    builder.AddCircularBuffer(layout::kConfiguration, 1, layout::kConfigurationSpace, workers);
    builder.AddCircularBuffer(layout::kArena, 1, arena_, workers);
  }
  for (const ScratchOptions& one : options_.scratch) {
    builder.AddCircularBuffer(one.index, one.pages, one.page_bytes, workers, one.format);
  }
  for (uint32_t i = 0; i < layout::kSemaphores; ++i) builder.AddSemaphore(i, 0, all);
  Result<client::Program> program = session_.CreateProgram(builder);
  if (!program.ok()) return program.status();
  program_ = std::move(*program);
  functions_ = graph.functions().size();
  window_ = window;
  return {};
}

void CardGraph::MakeLaunch(const Description& graph, const PackedGraph& packed) {
  const client::Core tile = placement_.scheduler();
  layout::ScheduleWords schedule{};
  schedule.blocks = packed.blocks;
  schedule.window = packed.window;
  schedule.reach = packed.reach;
  schedule.words = placement_.words();
  schedule.parts = graph.parts();
  std::copy(placement_.lists().begin(), placement_.lists().end(), schedule.list);
  layout::WorkerWords worker{};
  worker.blocks = packed.blocks;
  worker.scheduler = layout::PackTile(tile.x, tile.y);
  worker.columns = static_cast<uint16_t>(placement_.columns());
  worker.map_words = static_cast<uint16_t>(placement_.numbers().size() / 4);
  std::vector<uint32_t> words = WordsOf(worker, placement_.numbers());
  first_buffer_ = static_cast<uint32_t>(words.size());
  words.resize(first_buffer_ + graph.buffers().size());
  launch_ = client::LaunchRequest(program_);
  if (options_.timeout) launch_.Timeout(*options_.timeout);
  schedule_ = WordsOf(schedule, placement_.tiles());
  LaunchAs(0);
  for (const KernelIndex kernel : {kScheduler, kStreamer}) {
    launch_.Address(kernel, offsetof(layout::ScheduleWords, records) / 4, records_);
    launch_.Address(kernel, offsetof(layout::ScheduleWords, control) / 4, control_.buffer());
  }
  launch_.Common(kWorker, std::move(words));
  launch_.Address(kWorker, offsetof(layout::WorkerWords, records) / 4, records_);
  if (graph.configurations().size() != 0) {
    launch_.Address(kWorker, offsetof(layout::WorkerWords, configurations) / 4, configurations_);
  }
  for (uint32_t i = 0; i < graph.buffers().size(); ++i) SetBuffer(i, graph.buffers()[i]);
  for (const Follower& one : followers_) {
    launch_.Common(one.kernel, WordsOf(one.words));
  }
}

const client::LaunchRequest& CardGraph::LaunchAs(uint32_t run) {
  schedule_[offsetof(layout::ScheduleWords, run) / 4] = run;
  for (const KernelIndex kernel : {kScheduler, kStreamer}) launch_.Common(kernel, schedule_);
  return launch_;
}

client::LaunchRequest CardGraph::TimedLaunchAs(uint32_t run, const client::Buffer& log) {
  client::LaunchRequest launch = LaunchAs(run);
  std::vector<uint32_t> schedule = schedule_;
  schedule[offsetof(layout::ScheduleWords, timed) / 4] = 1;
  launch.Common(kScheduler, std::move(schedule));
  launch.Address(kWorker, offsetof(layout::WorkerWords, timeline) / 4, log);
  return launch;
}

void CardGraph::SetBuffer(uint32_t index, uint64_t handle) {
  launch_.Address(kWorker, first_buffer_ + index, client::Buffer(nullptr, handle, 0, 0));
}

Status CardGraph::LoadConfigurations(const Description& graph, client::Queue& queue) {
  const std::span<const std::byte> pages = graph.configurations().pages();
  if (pages.empty()) return {};
  Result<client::Buffer> buffer =
      session_.AllocateDram(pages.size(), {.page_bytes = layout::kBlockBytes});
  if (!buffer.ok()) return buffer.status();
  configurations_ = std::move(*buffer);
  return queue.Write(configurations_, 0, pages);
}

Status CardGraph::Load(const Description& graph, const PackedGraph& packed, client::Queue& queue) {
  const uint32_t most = layout::MaxBuffers(static_cast<uint32_t>(placement_.numbers().size() / 4));
  if (graph.buffers().size() > most) {
    return Invalid("arguments", "the tasks name " + std::to_string(graph.buffers().size()) +
                                    " buffers; at most " + std::to_string(most) + " are allowed");
  }
  if (own_.empty()) {
    if (Status status = LoadOwnKernels(); !status.ok()) return status;
  }
  const uint32_t window = std::min(packed.blocks, packed.window);
  if (functions_ != graph.functions().size() || window_ != window || arena_ < ArenaBytes(graph)) {
    if (Status status = MakeProgram(graph, window); !status.ok()) return status;
  }
  // A buffer of its own: runs of the graph as it was may still be on a queue, and keep theirs.
  Result<client::Buffer> records =
      session_.AllocateDram(packed.bytes.size(), {.page_bytes = layout::kBlockBytes});
  if (!records.ok()) return records.status();
  records_ = std::move(*records);
  if (Status status = queue.Write(records_, 0, packed.bytes); !status.ok()) return status;
  if (Status status = LoadConfigurations(graph, queue); !status.ok()) return status;
  MakeLaunch(graph, packed);
  return {};
}

}  // namespace ttfd::graph
