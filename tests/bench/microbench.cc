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

// One place that every record is written to, as the issue ring would give it.
class ScratchSink final : public RecordSink {
 public:
  StatusOr<MutableByteSpan> Append(uint32_t bytes) override {
    used_ = bytes;
    return MutableByteSpan(memory_).first(bytes);
  }
  uint32_t max_record_bytes() const override { return kRecordBytes; }
  ByteSpan last() const { return ByteSpan(memory_).first(used_); }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(kRecordBytes);
  uint32_t used_ = 0;
};

// Argument: bytes of the write.
void EncodeWriteOf(benchmark::State& state) {
  const CardGeometry card = P150();
  const std::vector<std::byte> data(static_cast<size_t>(state.range(0)));
  const Region region{MemoryKind::kDram, -1, 0x1000, kPageBytes, 1 << 20};
  ScratchSink sink;
  for (auto _ : state) {
    if (!EncodeWrite({region, 0, data}, card, sink).ok()) state.SkipWithError("not encoded");
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(EncodeWriteOf)->Arg(64)->Arg(4096)->Arg(64 * 1024);

void DecodeEntryOfAWrite(benchmark::State& state) {
  const CardGeometry card = P150();
  const std::vector<std::byte> data(4096);
  ScratchSink sink;
  const Region region{MemoryKind::kDram, -1, 0x1000, kPageBytes, 1 << 20};
  if (!EncodeWrite({region, 0, data}, card, sink).ok()) state.SkipWithError("not encoded");
  for (auto _ : state) {
    auto commands = DecodeEntry(sink.last());
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
