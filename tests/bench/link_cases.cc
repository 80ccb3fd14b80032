// Links between chips of the model: bytes a clock, clocks, and instructions of their kernels. Nothing here depends on
// the host's speed.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/abi/l1_map.h"
#include "tests/bench/bench_case.h"
#include "tests/support/linked_cards.h"

namespace ttfd::bench {
namespace {

// In L1 of the circular buffers, of which the kernels have none, and of buffers behind it: 1.2 MiB.
constexpr uint32_t kReport = abi::kCircularBufferAddress;
constexpr uint32_t kTaken = kReport + 16;
constexpr uint32_t kData = kReport + 0x1000;

// Two chips whose first workers have a link.
class Pair {
 public:
  static StatusOr<std::unique_ptr<Pair>> Open(uint32_t latency) {
    auto pair = std::make_unique<Pair>();
    ASSIGN_OR_RETURN(pair->cards_, LinkedCards::Open(fmt::format(
                                       "sim:cluster=1x2,links=1,link_latency={}", latency)));
    RETURN_IF_ERROR(pair->cards_->Connect(pair->cards_->links()[0], 0, 0));
    return pair;
  }

  struct Stream {
    double clocks = 0;               // from the first segment to the last, at the receiver
    double first_clocks = 0;         // from the sender's begin until the first was taken
    double sender_instructions = 0;  // a segment
    double receiver_instructions = 0;
  };
  // On NCRISC at both ends.
  StatusOr<Stream> Run(uint32_t segments, uint32_t bytes) {
    std::vector<LinkedCards::Launch> launches;
    uint64_t retired[2];
    for (uint32_t chip = 0; chip < 2; ++chip) {
      retired[chip] = cards_->Retired(chip, hw::kNcrisc);
      const KernelOfALink kernel = {
          "link_stream_ncrisc", hw::kNcrisc, {0, segments, bytes, kData, 16, 1 - chip, kReport}};
      ASSIGN_OR_RETURN(LaunchCommand command,
                       LaunchOf({kernel}, cards_->card(chip).description().grid));
      launches.push_back({chip, std::move(command)});
    }
    RETURN_IF_ERROR(cards_->Run(launches));
    ASSIGN_OR_RETURN(const std::vector<uint32_t> sender, cards_->ReadWords(0, kReport, 2));
    ASSIGN_OR_RETURN(const std::vector<uint32_t> receiver, cards_->ReadWords(1, kReport, 2));
    const auto each = [&](uint32_t chip) {
      return static_cast<double>(cards_->Retired(chip, hw::kNcrisc) - retired[chip]) / segments;
    };
    return Stream{static_cast<double>(receiver[1] - receiver[0]),
                  static_cast<double>(receiver[0] - sender[0]), each(0), each(1)};
  }

 private:
  std::unique_ptr<LinkedCards> cards_;
};

// A case of a Pair: what `figure` makes of a stream.
BenchCase StreamCase(std::string name, std::string unit, uint32_t latency, uint32_t segments,
                     uint32_t bytes, std::function<double(const Pair::Stream&)> figure) {
  auto pair = std::make_shared<std::unique_ptr<Pair>>();
  const auto run = [=](std::chrono::nanoseconds) -> StatusOr<double> {
    if (*pair == nullptr) {
      ASSIGN_OR_RETURN(*pair, Pair::Open(latency));
    }
    ASSIGN_OR_RETURN(const Pair::Stream stream, (*pair)->Run(segments, bytes));
    return figure(stream);
  };
  return {std::move(name), std::move(unit), run};
}

BenchCase RateCase(std::string name, uint32_t latency, uint32_t bytes) {
  constexpr uint32_t kSegments = 200;
  return StreamCase(std::move(name), "B/clock", latency, kSegments, bytes,
                    [bytes](const Pair::Stream& stream) {
                      return 1.0 * bytes * (kSegments - 1) / stream.clocks;
                    });
}

// Chips in a ring of one link between neighbours.
class Ring {
 public:
  static StatusOr<std::unique_ptr<Ring>> Open(uint32_t chips, uint32_t latency) {
    auto ring = std::make_unique<Ring>();
    ASSIGN_OR_RETURN(
        ring->cards_,
        LinkedCards::Open(fmt::format("sim:cluster=1x{},links=1,link_latency={}", chips, latency)));
    for (const sim::ChipLink& link : ring->cards_->links()) {
      RETURN_IF_ERROR(ring->cards_->Connect(link, 0, 1));
    }
    return ring;
  }

  // Clocks of the chip that takes longest for an all_gather in one direction.
  StatusOr<double> Gather(uint32_t segments, uint32_t bytes) {
    std::vector<LinkedCards::Launch> launches;
    for (uint32_t chip = 0; chip < cards_->size(); ++chip) {
      RETURN_IF_ERROR(cards_->Write(chip, kTaken, BytesOf(uint32_t{0})));
      const std::vector<uint32_t> arguments = {0,     1,     cards_->size(), chip,   segments,
                                               bytes, kData, kTaken,         kReport};
      ASSIGN_OR_RETURN(LaunchCommand command,
                       LaunchOf({{"link_gather", hw::kBrisc, arguments},
                                 {"link_gather_ncrisc", hw::kNcrisc, arguments}},
                                cards_->card(chip).description().grid));
      launches.push_back({chip, std::move(command)});
    }
    RETURN_IF_ERROR(cards_->Run(launches));
    uint32_t begin = ~0u;
    uint32_t end = 0;
    for (uint32_t chip = 0; chip < cards_->size(); ++chip) {
      ASSIGN_OR_RETURN(const std::vector<uint32_t> clocks, cards_->ReadWords(chip, kReport, 2));
      begin = std::min(begin, clocks[0]);
      end = std::max(end, clocks[1]);
    }
    return static_cast<double>(end - begin);
  }

 private:
  std::unique_ptr<LinkedCards> cards_;
};

BenchCase RingCase(std::string name, std::string unit, uint32_t chips, uint32_t latency,
                   uint32_t segments, uint32_t bytes, std::function<double(double)> figure) {
  auto ring = std::make_shared<std::unique_ptr<Ring>>();
  const auto run = [=](std::chrono::nanoseconds) -> StatusOr<double> {
    if (*ring == nullptr) {
      ASSIGN_OR_RETURN(*ring, Ring::Open(chips, latency));
    }
    ASSIGN_OR_RETURN(const double clocks, (*ring)->Gather(segments, bytes));
    return figure(clocks);
  };
  return {std::move(name), std::move(unit), run};
}

BenchCase GatherCase(std::string name, uint32_t chips, uint32_t latency, uint32_t segments,
                     uint32_t bytes) {
  const double moved = 1.0 * bytes * segments * (chips - 1);
  return RingCase(std::move(name), "B/clock", chips, latency, segments, bytes,
                  [moved](double clocks) { return moved / clocks; });
}

}  // namespace

std::vector<BenchCase> LinkCases() {
  constexpr uint32_t kShort = 500;  // latencies
  constexpr uint32_t kUsual = 800;
  constexpr uint32_t kSmall =
      512;  // bytes of segments whose sender waits for credits and not for the wire
  return {
      RateCase("link.stream_16k_b_per_clock", kShort, 16 << 10),
      RateCase("link.stream_32k_b_per_clock", kUsual, 32 << 10),
      StreamCase("link.sender_instructions", "instr", kUsual, 200, kSmall,
                 [](const Pair::Stream& stream) { return stream.sender_instructions; }),
      StreamCase("link.receiver_instructions", "instr", kUsual, 200, kSmall,
                 [](const Pair::Stream& stream) { return stream.receiver_instructions; }),
      StreamCase("link.first_segment_clocks", "clocks", kUsual, 1, 16,
                 [](const Pair::Stream& stream) { return stream.first_clocks; }),
      RingCase("link.ring_step_clocks", "clocks", 4, kUsual, 1, 16,
               [](double clocks) { return clocks / 3; }),
      GatherCase("link.gather_4x256k_b_per_clock", 4, kUsual, 8, 32 << 10),
      GatherCase("link.gather_32x32k_b_per_clock", 32, kShort, 2, 16 << 10),
  };
}

}  // namespace ttfd::bench
