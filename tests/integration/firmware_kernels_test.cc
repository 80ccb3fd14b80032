// The kernels of the demo against host references that share no code with them.
#include <openssl/sha.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tests/support/firmware_launch.h"
#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_kernels_test {
namespace {

constexpr uint32_t kScratchBytes = 256 * 1024;

class Kernels : public FirmwareTest {
 protected:
  void SetUp() override {
    BenchOptions options;
    options.worker_start = {2, 2};
    options.worker_end = {11, 4};  // across the columns that are not Tensix tiles
    Start(options);
    launcher_ = std::make_unique<BenchLauncher>(*bench_);
  }
  void TearDown() override { ExpectAtRest(); }

  // An interleaved DRAM buffer, filled and read behind the firmware's back.
  template <typename Page>
  void ForEachPage(uint32_t base, uint32_t page_bytes, uint32_t pages, Page page) {
    const uint32_t banks = bench_->banks().dram_banks;
    for (uint32_t i = 0; i < pages; ++i) {
      const uint32_t xy = bench_->banks().dram_xy[0][i % banks];
      page(hw::Coordinate{hw::NocX(xy), hw::NocY(xy)}, base + i / banks * page_bytes, i);
    }
  }
  void Fill(uint32_t base, uint32_t page_bytes, ByteSpan data) {
    const auto pages = static_cast<uint32_t>(DivideRoundUp(data.size(), size_t{page_bytes}));
    ForEachPage(base, page_bytes, pages, [&](hw::Coordinate at, uint32_t address, uint32_t i) {
      const size_t from = size_t{i} * page_bytes;
      bench_->SetBytes(at, address,
                       data.subspan(from, std::min<size_t>(page_bytes, data.size() - from)));
    });
  }
  std::vector<std::byte> Collect(uint32_t base, uint32_t page_bytes, uint32_t pages) {
    std::vector<std::byte> data;
    ForEachPage(base, page_bytes, pages, [&](hw::Coordinate at, uint32_t address, uint32_t) {
      const auto page = bench_->Bytes(at, address, page_bytes);
      data.insert(data.end(), page.begin(), page.end());
    });
    return data;
  }

  // Splits `items` over the workers; some may get none.
  std::function<std::vector<uint32_t>(uint32_t)> Split(uint32_t items) const {
    const uint32_t workers = bench_->worker_count();
    return [items, workers](uint32_t worker) {
      const uint32_t share = (items + workers - 1) / workers;
      const uint32_t first = std::min(items, worker * share);
      return std::vector<uint32_t>{first, std::min(share, items - first)};
    };
  }

  void Run(const char* kernel, std::vector<uint32_t> common, uint32_t items) {
    const Status status =
        launcher_->Run({.kernels = {{kernel, hw::kBrisc, std::move(common), Split(items)}},
                        .circular_buffers = {{abi::kCircularBufferAddress, 1, kScratchBytes, 0}}});
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  std::unique_ptr<BenchLauncher> launcher_;
};

TEST_F(Kernels, VectorAddAddsEveryElement) {
  constexpr uint32_t kPage = 2048, kPages = 67, kA = 0x0, kB = 0x100000, kC = 0x200000;
  std::vector<uint32_t> a(kPage / 4 * kPages), b(a.size());
  for (uint32_t i = 0; i < a.size(); ++i) {
    a[i] = i * 2654435761u;
    b[i] = 0xFFFFFFF0u + i;
  }
  Fill(kA, kPage, std::as_bytes(std::span(a)));
  Fill(kB, kPage, std::as_bytes(std::span(b)));
  Run("vector_add", {kA, kB, kC, kPage}, kPages);
  const auto c = Collect(kC, kPage, kPages);
  for (uint32_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(LoadAt<uint32_t>(c.data() + 4 * i), a[i] + b[i]) << i;
  }
}

// Pages in the workers' L1 are found and reached by both networks.
TEST_F(Kernels, CopyPagesReachesBuffersInL1FromBothNetworks) {
  constexpr uint32_t kPage = 192, kPages = 100;  // some tiles hold four pages, some three
  constexpr uint32_t kFirst = abi::kBufferAddress + 0x400, kSecond = kFirst + 0x4000,
                     kDram = 0x3000;
  const auto data = Pattern(size_t{kPage} * kPages, 11);
  const uint32_t banks = bench_->banks().l1_banks;
  ASSERT_EQ(banks, bench_->worker_count());
  const auto in_l1 = [&](uint32_t base, uint32_t page) {
    return bench_->Bytes(bench_->WorkerTile(page % banks), base + page / banks * kPage, kPage);
  };
  for (uint32_t page = 0; page < kPages; ++page) {
    bench_->SetBytes(bench_->WorkerTile(page % banks), kFirst + page / banks * kPage,
                     std::span(data).subspan(size_t{page} * kPage, kPage));
  }
  const auto run = [&](const char* kernel, hw::Hart hart, std::vector<uint32_t> common) {
    const Status status =
        launcher_->Run({.kernels = {{kernel, hart, std::move(common), Split(kPages)}},
                        .circular_buffers = {{abi::kCircularBufferAddress, 1, kPage, 0}}});
    ASSERT_TRUE(status.ok()) << status.ToString();
  };
  run("copy_pages", hw::kBrisc, {kFirst, kDram, kPage, 2});
  EXPECT_EQ(Collect(kDram, kPage, kPages), data);
  run("copy_pages_ncrisc", hw::kNcrisc, {kDram, kSecond, kPage, 1});
  run("copy_pages_ncrisc", hw::kNcrisc, {kSecond, kFirst + 0x8000, kPage, 0});
  for (uint32_t page = 0; page < kPages; ++page) {
    for (const uint32_t base : {kSecond, kFirst + 0x8000}) {
      const auto got = in_l1(base, page);
      EXPECT_EQ(std::memcmp(got.data(), data.data() + size_t{page} * kPage, kPage), 0) << page;
    }
  }
}

// What gcc calls libgcc for, some of it with tables that have to move with the kernel.
TEST_F(Kernels, ArithmeticDividesAndCountsLikeTheHost) {
  std::vector<uint64_t> pairs;
  const uint64_t edges[] = {1,           2,           3,          0x7FFF'FFFF,
                            0x8000'0000, 0xFFFF'FFFF, 1ull << 32, (1ull << 32) + 1,
                            ~0ull >> 1,  1ull << 63,  ~0ull - 1,  0x1234'5678'9ABC'DEF1};
  for (const uint64_t a : edges) {
    for (const uint64_t b : edges) pairs.insert(pairs.end(), {a, b});
  }
  uint64_t random = 88172645463325252ull;  // xorshift: numbers of all lengths
  for (int i = 0; i < 200; ++i) {
    for (const int fewer : {i % 64, i * 7 % 64}) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      pairs.push_back(random >> fewer | 1);
    }
  }
  const auto count = static_cast<uint32_t>(pairs.size() / 2);
  constexpr uint32_t kPairs = abi::kBufferAddress, kResults = kPairs + 0x10000;
  for (const bool small : {false, true}) {
    bench_->SetBytes(bench_->WorkerTile(0), kPairs, std::as_bytes(std::span(pairs)));
    const Status status =
        launcher_->Run({.kernels = {{small ? "arithmetic_small" : "arithmetic",
                                     small ? hw::kTrisc2 : hw::kBrisc,
                                     {kPairs, kResults, count},
                                     [&](uint32_t) { return std::vector<uint32_t>{}; }}}});
    ASSERT_TRUE(status.ok()) << status.ToString();
    const auto bytes = bench_->Bytes(bench_->WorkerTile(0), kResults, size_t{64} * count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t a = pairs[2 * i], b = pairs[2 * i + 1];
      const auto signed_a = static_cast<int64_t>(a), signed_b = static_cast<int64_t>(b);
      uint64_t got[8];
      std::memcpy(got, bytes.data() + 64 * i, sizeof(got));
      EXPECT_EQ(got[0], a / b) << a << " / " << b;
      EXPECT_EQ(got[1], a % b) << a << " % " << b;
      if (a != 1ull << 63 || b != ~0ull) {  // overflows
        EXPECT_EQ(got[2], static_cast<uint64_t>(signed_a / signed_b)) << a << " / " << b;
        EXPECT_EQ(got[3], static_cast<uint64_t>(signed_a % signed_b)) << a << " % " << b;
      }
      EXPECT_EQ(got[4], static_cast<uint64_t>(std::popcount(a))) << a;
      EXPECT_EQ(got[5], static_cast<uint64_t>(std::countl_zero(b))) << b;
      EXPECT_EQ(got[6], static_cast<uint64_t>(std::countr_zero(b))) << b;
      const float quotient = static_cast<float>(static_cast<uint32_t>(a)) /
                             static_cast<float>(static_cast<uint32_t>(b) | 1);
      EXPECT_EQ(got[7], std::bit_cast<uint32_t>(quotient)) << a << " / " << b;
    }
  }
}

class Sha256Chunks : public Kernels, public ::testing::WithParamInterface<uint32_t> {};

TEST_P(Sha256Chunks, AgreesWithOpenSslOnEveryChunk) {
  constexpr uint32_t kPage = 1024, kChunk = 16 * 1024, kIn = 0x1000, kOut = 0x800000;
  const uint32_t size = GetParam();
  const auto file = Pattern(size, 7);
  const uint32_t chunks = (size + kChunk - 1) / kChunk;
  Fill(kIn, kPage, file);
  Run("sha256_chunks", {kIn, kPage, size, kChunk, kOut}, chunks);
  const auto digests = Collect(kOut, 64, chunks);
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const uint32_t bytes = std::min(kChunk, size - chunk * kChunk);
    unsigned char expected[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(file.data()) + chunk * kChunk, bytes, expected);
    EXPECT_EQ(std::memcmp(digests.data() + 64 * chunk, expected, sizeof(expected)), 0)
        << "chunk " << chunk << " of " << bytes << " bytes";
  }
}

// Ends of every kind: inside a block, with and without room for the length, on a block, page, chunk.
INSTANTIATE_TEST_SUITE_P(FileSizes, Sha256Chunks,
                         ::testing::Values(1u, 55u, 56u, 63u, 64u, 65u, 1023u, 1024u, 1025u,
                                           16u * 1024, 16u * 1024 + 1, 100'000u));

// The picture filter as its definition says it, pixel by pixel.
class Reference {
 public:
  Reference(const std::vector<uint8_t>& rgb, int width, int height)
      : rgb_(rgb), width_(width), height_(height) {}

  int Edge(int x, int y) const {
    int gx = 0, gy = 0;
    for (int d = -1; d <= 1; ++d) {
      const int weight = d == 0 ? 2 : 1;
      gx += weight * (Blurred(x + 1, y + d) - Blurred(x - 1, y + d));
      gy += weight * (Blurred(x + d, y + 1) - Blurred(x + d, y - 1));
    }
    return std::min(255, std::abs(gx) + std::abs(gy));
  }

 private:
  int Gray(int x, int y) const {
    x = std::clamp(x, 0, width_ - 1);
    y = std::clamp(y, 0, height_ - 1);
    const uint8_t* const pixel = rgb_.data() + 3 * (y * width_ + x);
    return (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128) >> 8;
  }
  int Blurred(int x, int y) const {
    x = std::clamp(x, 0, width_ - 1);
    y = std::clamp(y, 0, height_ - 1);
    int sum = 8;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        sum += (dx == 0 ? 2 : 1) * (dy == 0 ? 2 : 1) * Gray(x + dx, y + dy);
      }
    }
    return sum >> 4;
  }

  const std::vector<uint8_t>& rgb_;
  const int width_;
  const int height_;
};

struct Picture {
  uint32_t width;
  uint32_t height;
};

void PrintTo(const Picture& picture, std::ostream* out) {
  *out << picture.width << "x" << picture.height;
}

class BlurEdge : public Kernels, public ::testing::WithParamInterface<Picture> {};

TEST_P(BlurEdge, AgreesWithTheDefinitionInEveryPixel) {
  const auto [width, height] = GetParam();
  const uint32_t in_page = AlignUp(3 * width, 64u), out_page = AlignUp(width, 64u);
  constexpr uint32_t kIn = 0x40, kOut = 0x4000000;
  std::vector<uint8_t> rgb(size_t{3} * width * height);
  const auto noise = Pattern(rgb.size(), width);
  for (size_t i = 0; i < rgb.size(); ++i) {  // noise, and large areas of both extremes
    const size_t x = i / 3 % width;
    rgb[i] = x % 16 < 4 ? 255 : x % 16 < 8 ? 0 : static_cast<uint8_t>(noise[i]);
  }
  std::vector<std::byte> rows(size_t{in_page} * height, std::byte{0x77});
  for (uint32_t y = 0; y < height; ++y) {
    std::memcpy(rows.data() + size_t{y} * in_page, rgb.data() + size_t{3} * width * y, 3 * width);
  }
  Fill(kIn, in_page, rows);
  Run("blur_edge", {kIn, in_page, kOut, out_page, width, height}, height);
  const auto out = Collect(kOut, out_page, height);
  const Reference reference(rgb, static_cast<int>(width), static_cast<int>(height));
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      ASSERT_EQ(static_cast<int>(out[size_t{y} * out_page + x]),
                reference.Edge(static_cast<int>(x), static_cast<int>(y)))
          << x << ", " << y;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, BlurEdge,
                         ::testing::Values(Picture{1, 1}, Picture{2, 1}, Picture{1, 5},
                                           Picture{3, 3}, Picture{5, 2}, Picture{64, 64},
                                           Picture{127, 33}, Picture{130, 100}, Picture{333, 61}),
                         [](const auto& picture) {
                           return std::to_string(picture.param.width) + "x" +
                                  std::to_string(picture.param.height);
                         });

}  // namespace
}  // namespace ttfd::testing::firmware_kernels_test
