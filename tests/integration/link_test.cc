// Links between workers of neighbouring chips, with kernels of the SDK on booted cards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/abi/l1_map.h"
#include "tests/support/booted_card.h"
#include "tests/support/linked_cards.h"
#include "tests/support/test_device_text.h"

namespace ttfd::link_test {
namespace {

using testing::HasSubstr;

constexpr uint32_t kReport = abi::kBufferAddress;
constexpr uint32_t kTaken = kReport + 16;
constexpr uint32_t kData = abi::kBufferAddress + 0x1000;

std::unique_ptr<LinkedCards> Open(const std::string& text) {
  auto cards = LinkedCards::Open(TestDeviceText(text));
  EXPECT_TRUE(cards.ok()) << cards.status().ToString();
  return *std::move(cards);
}

// One hart of the SDK's that talks to a link, and its kernel.
struct StreamHart {
  const char* kernel;
  uint32_t hart;
};
constexpr StreamHart kBrisc{"link_stream", hw::kBrisc};
constexpr StreamHart kNcrisc{"link_stream_ncrisc", hw::kNcrisc};

struct Stream {
  uint32_t segments;
  uint32_t bytes;
  uint32_t places = 8;  // of segments in L1
};

LinkedCards::Launch LaunchStream(LinkedCards& cards, uint32_t chip, const StreamHart& hart,
                                 const Stream& stream, bool sends) {
  const KernelOfALink kernel = {
      hart.kernel,
      hart.hart,
      {0, stream.segments, stream.bytes, kData, stream.places, sends ? 1u : 0u, kReport}};
  return {chip, LaunchOf({kernel}, cards.card(chip).description().grid).value()};
}

// Fills the sender's places and empties the receiver's.
void FillPlaces(LinkedCards& cards, uint32_t sender, uint32_t receiver, const Stream& stream,
                uint32_t seed) {
  for (uint32_t place = 0; place < stream.places; ++place) {
    const uint32_t at = kData + place * abi::kLinkSlotBytes;
    ASSERT_TRUE(cards.Write(sender, at, Pattern(stream.bytes, seed + place)).ok());
    const std::vector<std::byte> nothing(stream.bytes + 16, std::byte{0xEE});
    ASSERT_TRUE(cards.Write(receiver, at, nothing).ok());
  }
}

void ExpectPlaces(LinkedCards& cards, uint32_t receiver, const Stream& stream, uint32_t seed) {
  for (uint32_t place = 0; place < std::min(stream.places, stream.segments); ++place) {
    std::vector<std::byte> sent = Pattern(stream.bytes, seed + place);
    const uint32_t last = (stream.segments - 1 - place) / stream.places * stream.places + place;
    StoreAt(sent.data(), last);  // the number of the segment
    const uint32_t at = kData + place * abi::kLinkSlotBytes;
    const std::vector<uint32_t> words =
        cards.ReadWords(receiver, at, (stream.bytes + 16) / 4).value();
    const ByteSpan found = std::as_bytes(std::span(words));
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), found.begin())) << place;
    if (stream.bytes == abi::kLinkSlotBytes) continue;  // the next place is behind it
    EXPECT_EQ(words[stream.bytes / 4], 0xEEEEEEEEu) << place;
  }
}

TEST(Link, CarriesSegmentsOfAnySizeFromAnyHartToAnyHart) {
  const auto cards = Open("sim:cluster=1x2,links=1");
  ASSERT_EQ(cards->Connect(cards->links()[0], 0, 0), OkStatus());
  const std::pair<StreamHart, StreamHart> harts[] = {
      {kNcrisc, kNcrisc}, {kBrisc, kBrisc}, {kBrisc, kNcrisc}, {kNcrisc, kBrisc}};
  uint32_t seed = 1;
  for (const auto& [sender, receiver] : harts) {
    for (const uint32_t bytes : {16u, 20u, 4096u, 16384u, 16400u, abi::kLinkSlotBytes}) {
      const Stream stream = {.segments = 19, .bytes = bytes};
      // The direction changes, and the counters go round the ring at another place each time.
      const uint32_t from = seed % 2;
      FillPlaces(*cards, from, 1 - from, stream, seed);
      const Status status = cards->Run({LaunchStream(*cards, from, sender, stream, true),
                                        LaunchStream(*cards, 1 - from, receiver, stream, false)});
      ASSERT_TRUE(status.ok()) << status.ToString();
      ExpectPlaces(*cards, 1 - from, stream, seed);
      seed += 101;
    }
  }
}

TEST(Link, HasBothDirectionsOnOneHartAndOnTwo) {
  const auto cards = Open("sim:cluster=1x2,links=1");
  ASSERT_EQ(cards->Connect(cards->links()[0], 0, 0), OkStatus());
  constexpr Stream kStream = {.segments = 40, .bytes = 4096, .places = 4};
  constexpr uint32_t kBack = kData + kStream.places * abi::kLinkSlotBytes;
  const auto arguments = [&](uint32_t to, uint32_t mode, uint32_t report) {
    return std::vector<uint32_t>{0,     kStream.segments, kStream.bytes, to, kStream.places, mode,
                                 report};
  };
  for (const StreamHart& echo : {kNcrisc, kBrisc}) {
    FillPlaces(*cards, 0, 1, kStream, echo.hart);
    const GridSize grid = cards->card(0).description().grid;
    const LaunchCommand both =
        LaunchOf({{kBrisc.kernel, kBrisc.hart, arguments(kData, 1, kReport)},
                  {kNcrisc.kernel, kNcrisc.hart, arguments(kBack, 0, kReport + 64)}},
                 grid)
            .value();
    const LaunchCommand back =
        LaunchOf({{echo.kernel, echo.hart, arguments(kData, 2, kReport)}}, grid).value();
    ASSERT_EQ(cards->Run({{0, both}, {1, back}}), OkStatus());
    for (uint32_t place = 0; place < kStream.places; ++place) {
      const uint32_t at = place * abi::kLinkSlotBytes;
      EXPECT_EQ(cards->ReadWords(0, kBack + at, kStream.bytes / 4).value(),
                cards->ReadWords(0, kData + at, kStream.bytes / 4).value());
    }
  }
}

TEST(Link, KeepsWhatALaunchHasSentForTheNext) {
  const auto cards = Open("sim:cluster=1x2,links=1");
  ASSERT_EQ(cards->Connect(cards->links()[0], 0, 0), OkStatus());
  for (uint32_t round = 0; round < 3; ++round) {
    const Stream stream = {.segments = 4, .bytes = 512};
    FillPlaces(*cards, 0, 1, stream, 7 * round);
    ASSERT_TRUE(cards->Run({LaunchStream(*cards, 0, kNcrisc, stream, true)}).ok());
    ASSERT_TRUE(cards->Run({LaunchStream(*cards, 1, kNcrisc, stream, false)}).ok());
    ExpectPlaces(*cards, 1, stream, 7 * round);
  }
}

TEST(Link, ThatIsConnectedAgainStartsAnew) {
  for (const char* const latency : {"500", "5000", "20000"}) {
    const auto cards = Open(std::string("sim:cluster=1x2,links=1,link_latency=") + latency);
    for (uint32_t segments = 1; segments <= abi::kLinkSlots; ++segments) {
      ASSERT_EQ(cards->Connect(cards->links()[0], 0, 0), OkStatus());
      const Stream stream = {.segments = segments, .bytes = 64};
      FillPlaces(*cards, 1, 0, stream, segments);
      // Credits may be on their way when both have ended.
      ASSERT_EQ(cards->Run({LaunchStream(*cards, 1, kNcrisc, stream, true),
                            LaunchStream(*cards, 0, kBrisc, stream, false)}),
                OkStatus());
      ExpectPlaces(*cards, 0, stream, segments);
      ASSERT_EQ(cards->Connect(cards->links()[0], 0, 0), OkStatus());
      for (const uint32_t chip : {0u, 1u}) {
        const auto end = cards->ReadWords(chip, abi::LinkEndAddress(0), 16).value();
        EXPECT_THAT((std::vector{end[0], end[4], end[8], end[9]}), testing::Each(0u)) << segments;
      }
    }
  }
}

TEST(Link, ASenderWithoutSpaceWaitsForItsReceiver) {
  const auto cards = Open("sim:cluster=1x2,links=1");
  ASSERT_EQ(cards->Connect(cards->links()[0], 0, 0), OkStatus());
  const Stream stream = {.segments = abi::kLinkSlots + 1, .bytes = 64};
  const Status status = cards->Run({LaunchStream(*cards, 0, kNcrisc, stream, true)});
  EXPECT_THAT(status.ToString(), HasSubstr("(0,0) NCRISC at KLCW"));
}

TEST(Link, AKernelThatOpensAnEndWithoutALinkStopsWithAFault) {
  const auto cards = Open("sim:cluster=1x2,links=1");
  const Stream stream = {.segments = 1, .bytes = 64};
  const Status status = cards->Run({LaunchStream(*cards, 0, kBrisc, stream, true)});
  EXPECT_THAT(status.ToString(), HasSubstr("link end 0, which is not connected"));
}

TEST(Link, ThatCannotBeConnectedIsAnErrorThatNamesTheEnd) {
  const auto cards = Open("sim:cluster=1x3,wrap=none,links=1");  // 0.0-1.0 and 1.1-2.0
  const struct {
    sim::LinkEnd a, b;
    uint32_t end;
    StatusCode code;
    const char* reason;
  } kRows[] = {
      {{0, 13}, {1, 0}, 0, StatusCode::kInvalidArgument, "0.13: the chip has no Ethernet channel"},
      {{0, 0},
       {1, 0},
       4,
       StatusCode::kInvalidArgument,
       "0.0: link end 4; a worker has ends 0 to 3"},
      {{0, 1}, {1, 0}, 0, StatusCode::kFailedPrecondition, "0.1: the channel is not up"},
      {{0, 0}, {1, 1}, 0, StatusCode::kFailedPrecondition, "0.0 is not connected to 1.1"},
      {{0, 0}, {2, 0}, 0, StatusCode::kFailedPrecondition, "0.0 is not connected to 2.0"},
  };
  for (const auto& row : kRows) {
    const Status status = cards->Connect({row.a, row.b}, row.end, 0);
    EXPECT_EQ(status.code(), row.code) << row.reason;
    EXPECT_THAT(status.ToString(), HasSubstr(row.reason));
  }
  for (const sim::ChipLink& link : cards->links()) EXPECT_TRUE(cards->Connect(link, 0, 1).ok());
}

struct Ring {
  const char* name;
  const char* device;
  uint32_t segments;
  uint32_t bytes;
};

class LinkRing : public testing::TestWithParam<Ring> {};

TEST_P(LinkRing, GathersTheChunksOfAllChips) {
  const auto cards = Open(GetParam().device);
  const uint32_t chips = cards->size();
  const uint32_t chunk = GetParam().segments * GetParam().bytes;
  std::vector<std::byte> all;
  std::vector<LinkedCards::Launch> launches;
  for (const sim::ChipLink& link : cards->links()) {
    ASSERT_TRUE(cards->Connect(link, 0, 1).ok());
  }
  for (uint32_t chip = 0; chip < chips; ++chip) {
    const std::vector<std::byte> own = Pattern(chunk, chip);
    all.insert(all.end(), own.begin(), own.end());
    ASSERT_TRUE(cards->Write(chip, kData + chip * chunk, own).ok());
    ASSERT_TRUE(cards->Write(chip, kTaken, BytesOf(uint32_t{0})).ok());
    const std::vector<uint32_t> arguments = {
        0, 1, chips, chip, GetParam().segments, GetParam().bytes, kData, kTaken, kReport};
    launches.push_back({chip, LaunchOf({{"link_gather", hw::kBrisc, arguments},
                                        {"link_gather_ncrisc", hw::kNcrisc, arguments}},
                                       cards->card(chip).description().grid)
                                  .value()});
  }
  const Status status = cards->Run(launches);
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (uint32_t chip = 0; chip < chips; ++chip) {
    const std::vector<uint32_t> found = cards->ReadWords(chip, kData, all.size() / 4).value();
    const ByteSpan bytes = std::as_bytes(std::span(found));
    EXPECT_TRUE(std::equal(all.begin(), all.end(), bytes.begin())) << chip;
  }
}

const Ring kRings[] = {
    {"four", "sim:cluster=1x4,links=1", 5, 4096},
    {"three_small", "sim:cluster=1x3,links=1", 1, 16},
    {"two_threads", "sim:cluster=1x4,links=1,threads=2", 2, 32768},
    // Commands leave translated coordinates in their buffers: doorbells are set again for each use.
    {"written_back", "sim:cluster=1x3,links=1,coordinates=written-back,columns=3+12", 9, 1024},
};
INSTANTIATE_TEST_SUITE_P(All, LinkRing, testing::ValuesIn(kRings),
                         [](const auto& ring) { return ring.param.name; });

}  // namespace
}  // namespace ttfd::link_test
