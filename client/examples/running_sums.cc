// Example: running sums over blocks of numbers, uploads of the next block beside the kernels of
// this one.
//
//   running_sums KERNEL.elf [BLOCKS]
//
// Two launches, total += block and weighted += total, are recorded once and replayed for each
// block; only the block's address changes between replays. Blocks go to the card on a transfer queue
// of their own. The sums are compared with the host's.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>

#include "check.h"
#include "stopwatch.h"
#include "ttfd/session.h"

namespace {

using ttfd::client::Buffer;
using ttfd::client::LaunchRequest;
using ttfd::client::Position;
using ttfd::client::Queue;
using ttfd::client::ReplayRequest;
using ttfd::client::Trace;

constexpr uint32_t kPageBytes = 2048;
constexpr uint32_t kPages = 130;  // of a block
constexpr uint32_t kBlockBytes = kPages * kPageBytes;
constexpr uint32_t kScratchPages = 4;  // what kernel vector_add.cc needs
constexpr uint32_t kSlots = 2;  // blocks on the card: one is computed with while the next arrives

using Block = std::vector<uint32_t>;

std::vector<Block> RandomBlocks(uint32_t count) {
  std::minstd_rand random(1);
  std::vector<Block> blocks(count, Block(kBlockBytes / sizeof(uint32_t)));
  for (Block& block : blocks) {
    for (uint32_t& word : block) {
      word = static_cast<uint32_t>(random());
    }
  }
  return blocks;
}

// First page and number of pages of each tile.
std::vector<uint32_t> Shares(uint32_t tiles) {
  std::vector<uint32_t> shares;
  for (uint32_t tile = 0, first = 0; tile < tiles; ++tile) {
    const uint32_t count = kPages / tiles + (tile < kPages % tiles ? 1 : 0);
    shares.insert(shares.end(), {first, count});
    first += count;
  }
  return shares;
}

uint32_t WrongSums(const std::vector<Block>& blocks, const Block& total, const Block& weighted) {
  uint32_t wrong = 0;
  for (size_t word = 0; word < total.size(); ++word) {
    uint32_t right_total = 0;
    uint32_t right_weighted = 0;
    for (const Block& block : blocks) {
      right_total += block[word];
      right_weighted += right_total;
    }
    wrong += (total[word] != right_total ? 1 : 0) + (weighted[word] != right_weighted ? 1 : 0);
  }
  return wrong;
}

// Uploads block after block and replays `trace` behind each.
void AddUp(const std::vector<Block>& blocks, const std::vector<Buffer>& slots, const Trace& trace,
           LaunchRequest add_block, Queue compute, Queue transfer) {
  std::vector<Position> replayed;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Buffer& slot = slots[i % kSlots];
    if (i >= kSlots) {  // nobody reads the slot's last block any more
      Check(transfer.After(std::span(&replayed[i - kSlots], 1)), "wait for a replay");
    }
    const Position uploaded =
        Check(transfer.EnqueueWrite(slot, 0, std::as_bytes(std::span(blocks[i]))), "upload");
    Check(compute.After(std::span(&uploaded, 1)), "wait for an upload");
    add_block.Address(0, 1, slot);
    replayed.push_back(
        Check(compute.EnqueueReplay(ReplayRequest(trace).Patch(0, add_block)), "replay"));
  }
  Check(compute.Finish(), "finish");
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ttfd::client;
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: running_sums KERNEL.elf [BLOCKS]\n");
    return 2;
  }
  const long count = argc == 3 ? std::strtol(argv[2], nullptr, 10) : 16;
  if (count < 1 || count > 10'000) {
    std::fprintf(stderr, "between 1 and 10000 blocks, not %s\n", argv[2]);
    return 2;
  }
  const std::vector<Block> blocks = RandomBlocks(static_cast<uint32_t>(count));

  Session session = Check(Session::Connect({.client_name = "running_sums"}), "connect");
  const uint32_t tiles = std::min(kPages, session.device().workers());
  const std::vector<CoreRange> cores = FirstCores(session.device().grid_x, tiles);
  std::vector<Buffer> buffers;
  for (uint32_t i = 0; i < 2 + kSlots; ++i) {
    buffers.push_back(
        Check(session.AllocateDram(kBlockBytes, {.page_bytes = kPageBytes}), "allocate"));
  }
  const Buffer total = std::move(buffers[kSlots]);
  const Buffer weighted = std::move(buffers[kSlots + 1]);
  Kernel kernel = Check(session.LoadKernelFile(argv[1]), "load kernel");
  ProgramBuilder builder;
  builder.AddKernel(kernel, Processor::kBrisc, cores);
  builder.AddCircularBuffer(0, kScratchPages, kPageBytes, cores);
  Program program = Check(session.CreateProgram(builder), "create program");

  const auto add = [&](const Buffer& to, const Buffer& summand) {
    LaunchRequest launch(program);
    launch.Common(0, {0, 0, 0, kPageBytes}).PerCore(0, 2, Shares(tiles));
    return launch.Address(0, 0, to).Address(0, 1, summand).Address(0, 2, to);
  };
  const std::vector<LaunchRequest> steps = {add(total, buffers[0]), add(weighted, total)};
  Queue compute = session.queue();
  Queue transfer = Check(session.OpenQueue({.kind = QueueKind::kTransfer}), "open queue");
  const Trace trace = Check(compute.RecordTrace(steps), "record");
  Stopwatch watch;
  AddUp(blocks, buffers, trace, steps[0], compute, transfer);
  const double ms = watch.Lap();
  Block total_read(blocks[0].size());
  Block weighted_read(blocks[0].size());
  Check(compute.Read(total, 0, std::as_writable_bytes(std::span(total_read))), "read");
  Check(compute.Read(weighted, 0, std::as_writable_bytes(std::span(weighted_read))), "read");
  Check(session.Close(), "close");

  std::printf("%ld blocks of %u bytes on %u tiles, uploaded and added in %.1f ms\n", count,
              kBlockBytes, tiles, ms);
  const size_t sums = 2 * total_read.size();
  if (const uint32_t wrong = WrongSums(blocks, total_read, weighted_read); wrong != 0) {
    std::printf("WRONG: %u of %zu sums differ from the host's\n", wrong, sums);
    return 1;
  }
  std::printf("verified: all %zu sums equal the host's\n", sums);
  return 0;
}
