// The daemon's core alone, no gRPC: what a batch of barriers costs session and timeline, and what a
// launch costs from Submit to progress with the device thread in between. The card is a fake that
// completes at once.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "daemon/core/daemon.h"
#include "tests/support/fake_card.h"
#include "tests/support/one_card.h"
#include "tests/support/threaded_client.h"

namespace ttfd {
namespace {

constexpr size_t kBatch = 64;

struct RunningCore {
  RunningCore() {
    auto fake = std::make_unique<FakeCard>(FakeCard::Behaviour());
    fake->keep_log = false;
    DaemonOptions options;
    options.load_kernel = [](ByteSpan, const std::string&) {
      auto image = std::make_shared<KernelImage>();
      image->bytes.resize(128);
      return std::shared_ptr<const KernelImage>(std::move(image));
    };
    core = *Daemon::Create(OneCard(std::move(fake)), SteadyClock(), options);
    if (!core->Start().ok()) std::abort();
  }
  ~RunningCore() { core->Stop(SteadyClock().Now() + std::chrono::seconds(10)).IgnoreError(); }

  std::unique_ptr<Daemon> core;
};

LoadKernelRequest AKernel() {
  LoadKernelRequest kernel;
  kernel.handle = 1;
  kernel.size = 3;
  kernel.is_inline = true;
  kernel.inline_bytes = "elf";
  return kernel;
}

void PrepareProgram(ThreadedClient& client) {
  CreateProgramRequest program;
  program.handle = 2;
  program.kernels.push_back({1, true, hw::kBrisc, {{0, 0, 0, 0}}});
  client.Send({AKernel(), program});
  client.WaitFor(2);
}

void BarrierBatches(benchmark::State& state) {
  RunningCore running;
  ThreadedClient client(*running.core);
  for (auto _ : state) {
    client.Send(std::vector<Request>(kBatch, BarrierRequest{}));
    benchmark::DoNotOptimize(client.session().TakeOutput(1 << 20));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
}
BENCHMARK(BarrierBatches);

void BlockingLaunch(benchmark::State& state) {
  RunningCore running;
  ThreadedClient client(*running.core);
  PrepareProgram(client);
  LaunchRequest launch;
  launch.program = 2;
  for (auto _ : state) {
    client.Send({launch});
    client.WaitFor(client.sent());
  }
}
BENCHMARK(BlockingLaunch)->UseRealTime();

void PipelinedLaunches(benchmark::State& state) {
  RunningCore running;
  ThreadedClient client(*running.core);
  PrepareProgram(client);
  LaunchRequest launch;
  launch.program = 2;
  uint64_t waited = 2;
  for (auto _ : state) {
    client.Send(std::vector<Request>(kBatch, launch));
    if (client.sent() > waited + 8 * kBatch) client.WaitFor(waited += kBatch);
  }
  client.WaitFor(client.sent());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
}
BENCHMARK(PipelinedLaunches)->UseRealTime();

}  // namespace
}  // namespace ttfd

BENCHMARK_MAIN();
