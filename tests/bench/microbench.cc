// ttfd_microbench: the pieces of the data path that run once a command or once a page, with Google Benchmark.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/command/decoder.h"
#include "runtime/command/transfer_encoder.h"
#include "runtime/hw/noc.h"
#include "runtime/memory/bank_allocator.h"
#include "runtime/queue/issue_ring.h"
#include "tests/support/test_batch.h"

namespace ttfd {
namespace {

constexpr uint32_t kPageBytes = 2048;
constexpr uint32_t kRecordBytes = 128 * 1024;

CardGeometry P150() {
  return CardGeometry({1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15},
                      {hw::NocXy(17, 12), hw::NocXy(17, 15), hw::NocXy(17, 18), hw::NocXy(17, 21),
                       hw::NocXy(18, 12), hw::NocXy(18, 15), hw::NocXy(18, 18), hw::NocXy(18, 21)},
                      {{{16, 3}, {16, 5}}});
}

// Argument: bytes of the write.
void EncodeWriteOf(benchmark::State& state) {
  const CardGeometry card = P150();
  const std::vector<std::byte> data(static_cast<size_t>(state.range(0)));
  const Region region{MemoryKind::kDram, -1, 0x1000, kPageBytes, 1 << 20};
  RecordBatch batch(kRecordBytes);
  for (auto _ : state) {
    batch.Clear();
    EncodeWrite({region, 0, data}, card, batch);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(EncodeWriteOf)->Arg(64)->Arg(4096)->Arg(64 * 1024);

void DecodeEntryOfAWrite(benchmark::State& state) {
  const CardGeometry card = P150();
  const std::vector<std::byte> data(4096);
  TestBatch batch(kRecordBytes);
  const Region region{MemoryKind::kDram, -1, 0x1000, kPageBytes, 1 << 20};
  EncodeWrite({region, 0, data}, card, batch);
  const std::vector<std::byte> entry = batch.Bytes()[0];
  for (auto _ : state) {
    auto commands = DecodeEntry(entry);
    benchmark::DoNotOptimize(commands);
  }
}
BENCHMARK(DecodeEntryOfAWrite);

// An entry of 192 bytes opened, closed and freed: what an event costs the ring.
void IssueRingEntry(benchmark::State& state) {
  std::vector<std::byte> memory(1 << 20);
  IssueRing ring(memory, 1534, kRecordBytes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ring.Append(192).data());
    ring.FreeBelow(ring.Close().number + 1);
  }
}
BENCHMARK(IssueRingEntry);

// Allocate and free between `range` other buffers, every second of which has been freed.
void AllocateAndFree(benchmark::State& state) {
  BankAllocator allocator({"DRAM", 8, 0, uint64_t{1} << 30});
  std::vector<BankAllocation> others;
  for (int64_t i = 0; i < state.range(0); ++i) {
    auto one = allocator.Allocate(8 * 1024);
    if (!one.ok()) return state.SkipWithError("no room");
    others.push_back(*one);
  }
  for (size_t i = 0; i < others.size(); i += 2) allocator.Free(others[i]);
  for (auto _ : state) {
    auto one = allocator.Allocate(16 * 1024);
    if (!one.ok()) return state.SkipWithError("no room");
    allocator.Free(*one);
  }
}
BENCHMARK(AllocateAndFree)->Arg(0)->Arg(1000);

}  // namespace
}  // namespace ttfd

BENCHMARK_MAIN();
