// What firmware costs, in instructions, counted on the model: equal in every run, so a bound is a test
// and no benchmark. The bounds leave about a tenth of room.
#include "tests/support/firmware_launch.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing {
namespace {

struct Cost {
  double prefetch, dispatch, dispatch_s, worker;
  double busiest() const {
    return std::max(std::max(prefetch, dispatch), std::max(dispatch_s, worker));
  }
  double pipeline() const { return prefetch + dispatch + dispatch_s; }
};

class FirmwareCost : public FirmwareTest {
 protected:
  static constexpr uint32_t kRounds = 64;

  Cost Now() const {
    const auto retired = [&](hw::Coordinate at, uint32_t hart) {
      return static_cast<double>(bench_->retired(at, hart));
    };
    return {retired(FirmwareBench::kPrefetchTile, hw::kBrisc),
            retired(FirmwareBench::kDispatchTile, hw::kBrisc),
            retired(FirmwareBench::kDispatchTile, hw::kNcrisc),
            retired(bench_->WorkerTile(0), hw::kBrisc)};
  }

  // Mean over kRounds entries that `add` fills; each entry is sent when the one before is executed.
  template <typename Add>
  Cost Measure(const char* what, Add add) {
    const Cost before = Now();
    for (uint32_t i = 0; i < kRounds; ++i) {
      EntryBuilder entry;
      add(entry);
      const Status status = bench_->SendAndRun(entry);
      EXPECT_TRUE(status.ok()) << status.ToString();
      while (!bench_->TakeCompletionPage()->empty()) {
      }
    }
    const Cost after = Now();
    const Cost cost = {
        (after.prefetch - before.prefetch) / kRounds, (after.dispatch - before.dispatch) / kRounds,
        (after.dispatch_s - before.dispatch_s) / kRounds, (after.worker - before.worker) / kRounds};
    RecordProperty(what, std::to_string(cost.pipeline()));
    std::printf("%s: prefetch %.1f, dispatch %.1f, dispatch_s %.1f, worker %.1f instructions\n",
                what, cost.prefetch, cost.dispatch, cost.dispatch_s, cost.worker);
    return cost;
  }
};

TEST_F(FirmwareCost, OfAnEmptyLaunch) {
  Start({});
  BenchLauncher launcher(*bench_);
  launcher.Load({.kernels = {{.name = "empty"}}});
  const Cost cost = Measure("launch", [&](EntryBuilder& entry) {
    entry.Dispatch(SetWriteOffsetCommand({0, 0, 0, 0}));
    launcher.Append(entry);
  });
  EXPECT_LE(cost.busiest(), 440);
  EXPECT_LE(cost.worker, 110);
}

TEST_F(FirmwareCost, OfAnEvent) {
  Start({});
  uint32_t event = 0;
  const Cost cost =
      Measure("event", [&](EntryBuilder& entry) { entry.Dispatch(EventCommand(++event)); });
  EXPECT_LE(cost.pipeline(), 450);
}

TEST_F(FirmwareCost, OfAPagedWrite) {
  Start({});
  constexpr uint32_t kPages = 6;
  const auto data = Pattern(2048 * kPages, 1);
  const Cost cost = Measure("6 pages of 2 KiB", [&](EntryBuilder& entry) {
    entry.Dispatch(WritePagedCommand(true, 0, 0x1000, 2048, kPages).Append(data));
  });
  EXPECT_LE(cost.pipeline(), 780);
}

}  // namespace
}  // namespace ttfd::testing
