// What the runtime and the firmware reach on a device, without daemon and RPC.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "firmware/kernel_elfs.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/card/firmware_card.h"
#include "runtime/device/sim/sim_device.h"
#include "tests/bench/bench_case.h"

namespace ttfd::bench {
namespace {

using Now = std::chrono::steady_clock;

double Seconds(Now::duration duration) { return std::chrono::duration<double>(duration).count(); }

// A booted p150 that all cases of the suite share.
class Card {
 public:
  static StatusOr<std::shared_ptr<Card>> Boot(const DeviceOpener& open) {
    auto card = std::make_shared<Card>();
    ASSIGN_OR_RETURN(card->device_, open());
    ASSIGN_OR_RETURN(card->card_,
                     FirmwareCard::Create(*card->device_, SteadyClock(), CardOptions()));
    RETURN_IF_ERROR(card->card_->Boot());
    return card;
  }

  Status Submit(const Command& command) { return Submit(Route(), command); }
  Status Submit(const Route& route, const Command& command) {
    for (bool told = false;; told = true) {
      ASSIGN_OR_RETURN(const std::optional<uint64_t> ticket, card_->TrySubmit(route, command));
      if (ticket.has_value()) return OkStatus();
      if (!told) RETURN_IF_ERROR(Event(route.hardware_queue));
      RETURN_IF_ERROR(card_->Poll());
    }
  }
  // There is space for one behind every command.
  Status Event(uint32_t queue = 0) {
    return card_->RequestEvent({queue, card_->submitted(queue)}).status();
  }
  Status Finish() {
    RETURN_IF_ERROR(Event());
    while (!card_->idle()) RETURN_IF_ERROR(card_->Poll());
    return OkStatus();
  }
  FirmwareCard& card() { return *card_; }
  const FirmwareCard& card() const { return *card_; }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<FirmwareCard> card_;
};

// Repeats `round`, which does `amount` of something, until `budget` is over; amount a second.
template <typename Round>
StatusOr<double> Rate(std::chrono::nanoseconds budget, double amount, const Round& round) {
  const auto start = Now::now();
  double done = 0;
  do {
    RETURN_IF_ERROR(round());
    done += amount;
  } while (Now::now() - start < budget);
  return done / Seconds(Now::now() - start);
}

constexpr uint64_t kBufferBytes = 16 << 20;
constexpr uint32_t kPageBytes = 2048;
const Region kBuffer = {MemoryKind::kDram, -1, 0x100000, kPageBytes, kBufferBytes};

StatusOr<double> Upload(Card& card, std::chrono::nanoseconds budget) {
  static const std::vector<std::byte> data(kBufferBytes, std::byte{0x5A});
  return Rate(budget, double{kBufferBytes} / 1e6, [&card]() -> Status {
    for (uint64_t at = 0; at < kBufferBytes; at += kMaxTransferBytes) {
      const ByteSpan part = ByteSpan(data).subspan(at, kMaxTransferBytes);
      RETURN_IF_ERROR(card.Submit(WriteCommand{kBuffer, at, part}));
    }
    return card.Finish();
  });
}

StatusOr<double> Download(Card& card, std::chrono::nanoseconds budget) {
  static std::vector<std::byte> data(kBufferBytes);
  return Rate(budget, double{kBufferBytes} / 1e6, [&card]() -> Status {
    for (uint64_t at = 0; at < kBufferBytes; at += kMaxTransferBytes) {
      ReadCommand read{kBuffer, at, kMaxTransferBytes, {}};
      read.sink = [at](uint64_t offset, ByteSpan bytes) {
        std::memcpy(data.data() + at + offset, bytes.data(), bytes.size());
      };
      RETURN_IF_ERROR(card.Submit(read));
    }
    return card.Finish();
  });
}

StatusOr<double> EventRoundTrip(Card& card, std::chrono::nanoseconds budget) {
  constexpr int kRounds = 16;
  ASSIGN_OR_RETURN(const double rate, Rate(budget, kRounds, [&card]() -> Status {
                     for (int i = 0; i < kRounds; ++i) RETURN_IF_ERROR(card.Finish());
                     return OkStatus();
                   }));
  return 1e6 / rate;
}

constexpr CoreRange kTiles120 = {0, 0, 11, 9};

StatusOr<LaunchCommand> EmptyLaunch(const Card& card) {
  ASSIGN_OR_RETURN(const auto image, LoadKernel(KernelElf("empty"), "empty"));
  ProgramSpec spec;
  spec.kernels.push_back({image, hw::kBrisc, {kTiles120}});
  ASSIGN_OR_RETURN(const auto program, BuildProgram(1, spec, card.card().description().grid));
  return LaunchCommand{program, {KernelArguments{}}};
}

// Empty launches on 12x10 tiles, an event every 64, the next batch submitted while the last runs.
StatusOr<double> LaunchRate(Card& card, std::chrono::nanoseconds budget) {
  ASSIGN_OR_RETURN(const LaunchCommand launch, EmptyLaunch(card));
  constexpr int kBatch = 64;
  return Rate(budget, kBatch * 4, [&]() -> Status {
    for (int batch = 0; batch < 4; ++batch) {
      for (int i = 0; i < kBatch; ++i) RETURN_IF_ERROR(card.Submit(launch));
      RETURN_IF_ERROR(card.Event());
    }
    while (!card.card().idle()) RETURN_IF_ERROR(card.card().Poll());
    return OkStatus();
  });
}

// The same 256 at a time from a trace in segments, each with an event; the 120 tiles are a sub-device, so the others
// sleep on.
StatusOr<double> TracedLaunchRate(Card& card, std::chrono::nanoseconds budget) {
  constexpr uint32_t kLaunches = 256;
  constexpr uint32_t kSegmentLaunches = 32;  // half a quantum of the daemon's
  ASSIGN_OR_RETURN(const LaunchCommand launch, EmptyLaunch(card));
  const Route route{0, TilesOf(kTiles120, card.card().description().grid)};
  ASSIGN_OR_RETURN(
      const std::shared_ptr<Trace> trace,
      BuildTrace(card.card().geometry(), route, std::vector<LaunchCommand>(kLaunches, launch),
                 {Duration(kSegmentLaunches), std::vector<Duration>(kLaunches, Duration(1))}));
  const Region region{MemoryKind::kDram, -1, 0x8000000, TracePageBytes(*trace), TraceBytes(*trace)};
  const uint32_t segments = TraceSegments(*trace);
  for (uint32_t segment = 0; segment < segments; ++segment) {
    RETURN_IF_ERROR(card.Submit(route, RecordTraceCommand{trace, region, segment}));
  }
  RETURN_IF_ERROR(card.Finish());
  constexpr int kReplays = 4;
  return Rate(budget, kLaunches * kReplays, [&]() -> Status {
    for (uint32_t i = 0; i < kReplays * segments; ++i) {
      RETURN_IF_ERROR(card.Submit(route, ReplayTraceCommand{trace, {}, i % segments}));
      RETURN_IF_ERROR(card.Event());
    }
    return card.Finish();
  });
}

}  // namespace

std::vector<BenchCase> DeviceCases() {
  std::vector<BenchCase> cases = DeviceCases("device.", [] {
    return OpenSimDevice({sim::DefaultOptions(sim::Board::kP150), {}});
  });
  // The first of them once more, under the name that says which pages.
  BenchCase pages = cases.front();
  pages.name = "device.upload_2k_pages_mb_s";
  cases.insert(cases.begin() + 1, std::move(pages));
  return cases;
}

std::vector<BenchCase> DeviceCases(const std::string& prefix, const DeviceOpener& open) {
  // Booted by the first case that runs.
  auto shared = std::make_shared<std::shared_ptr<Card>>();
  const auto with_card = [shared, open](auto measure) {
    return [shared, open, measure](std::chrono::nanoseconds budget) -> StatusOr<double> {
      if (*shared == nullptr) {
        ASSIGN_OR_RETURN(*shared, Card::Boot(open));
      }
      return measure(**shared, budget);
    };
  };
  return {
      {prefix + "upload_mb_s", "MB/s", with_card(Upload)},
      {prefix + "download_mb_s", "MB/s", with_card(Download)},
      {prefix + "event_us", "us", with_card(EventRoundTrip)},
      {prefix + "launch_per_s_120", "1/s", with_card(LaunchRate)},
      {prefix + "traced_launch_per_s_120", "1/s", with_card(TracedLaunchRate)},
  };
}

}  // namespace ttfd::bench
