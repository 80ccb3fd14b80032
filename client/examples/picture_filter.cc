// Example: filters a picture on every worker tile of the card.
//
//   picture_filter KERNEL.elf IN.png OUT.png
//
// Blurs the picture and draws its edges in black (firmware/kernels/blur_edge.cc), a band of rows on
// each tile, and compares the result pixel for pixel with the same filter on the host.
#include <cstdio>
#include <cstring>

#include "client/examples/check.h"
#include "client/examples/ink_drawing.h"
#include "client/examples/picture.h"
#include "client/examples/stopwatch.h"
#include "ttfd/session.h"

using namespace ttfd::client;

namespace {

// The kernel keeps eleven rows in L1.
constexpr uint32_t kMaxRowBytes = 47'616;
constexpr uint32_t kScratchRows = 11;

// Rows as pages: a row of the picture, padded to what a page must be a multiple of.
std::vector<std::byte> ToPages(const Picture& picture, uint32_t page_bytes) {
  std::vector<std::byte> pages(size_t{page_bytes} * picture.height);
  for (uint32_t y = 0; y < picture.height; ++y) {
    std::memcpy(&pages[size_t{y} * page_bytes], &picture.pixels[size_t{y} * picture.width],
                size_t{4} * picture.width);
  }
  return pages;
}

void FromPages(const std::vector<std::byte>& pages, uint32_t page_bytes, Picture* picture) {
  for (uint32_t y = 0; y < picture->height; ++y) {
    std::memcpy(&picture->pixels[size_t{y} * picture->width], &pages[size_t{y} * page_bytes],
                size_t{4} * picture->width);
  }
}

// Two words for each tile: its first row and how many. The rows that do not divide go to the first
// tiles.
std::vector<uint32_t> Bands(uint32_t rows, uint32_t tiles) {
  std::vector<uint32_t> words;
  uint32_t first = 0;
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    const uint32_t count = rows / tiles + (tile < rows % tiles ? 1 : 0);
    words.push_back(first);
    words.push_back(count);
    first += count;
  }
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: picture_filter KERNEL.elf IN.png OUT.png\n");
    return 2;
  }
  Picture picture;
  std::string error;
  if (!ReadPng(argv[2], &picture, &error)) {
    std::fprintf(stderr, "cannot read %s: %s\n", argv[2], error.c_str());
    return 1;
  }

  // A session, and what the card looks like.
  Session session = Check(Session::Connect({.client_name = "picture_filter"}), "connect");
  const DeviceInfo& device = session.device();
  const uint32_t align = device.dram_alignment;
  const uint32_t page_bytes = (4 * picture.width + align - 1) / align * align;
  if (page_bytes > kMaxRowBytes) {
    std::fprintf(stderr, "%s is too wide: %u pixels; a tile holds rows of %u\n", argv[2],
                 picture.width, kMaxRowBytes / 4);
    return 1;
  }
  const CoreRange all = {0, 0, device.grid_x - 1, device.grid_y - 1};

  // Two buffers, one row a page: the pages lie round the DRAM banks.
  const uint64_t bytes = uint64_t{page_bytes} * picture.height;
  Buffer in = Check(session.AllocateDram(bytes, {.page_bytes = page_bytes}), "allocate");
  Buffer out = Check(session.AllocateDram(bytes, {.page_bytes = page_bytes}), "allocate");

  // A program: one kernel on every tile, with scratch rows in a circular buffer.
  Kernel kernel = Check(session.LoadKernelFile(argv[1]), "load kernel");
  ProgramBuilder builder;
  const uint32_t filter = builder.AddKernel(kernel, Processor::kBrisc, {all});
  builder.AddCircularBuffer(0, kScratchRows, page_bytes, {all});
  Program program = Check(session.CreateProgram(builder), "create program");

  // Write, launch, read. Words 0 and 1 of the arguments are the buffers' addresses.
  Queue queue = session.queue();
  std::vector<std::byte> pages = ToPages(picture, page_bytes);
  Stopwatch watch;
  Check(queue.Write(in, 0, pages), "write");
  const double write_ms = watch.Lap();
  LaunchRequest launch(program);
  launch.Common(filter, {0, 0, page_bytes, picture.width, picture.height})
      .Address(filter, 0, in)
      .Address(filter, 1, out)
      .PerCore(filter, 2, Bands(picture.height, device.workers()));
  Check(queue.Launch(launch), "launch");
  const double launch_ms = watch.Lap();
  Check(queue.Read(out, 0, pages), "read");
  const double read_ms = watch.Lap();
  Check(session.Close(), "close");

  Picture result = picture;
  FromPages(pages, page_bytes, &result);
  if (!WritePng(argv[3], result, &error)) {
    std::fprintf(stderr, "cannot write %s: %s\n", argv[3], error.c_str());
    return 1;
  }
  const Picture expected = InkDrawing(picture);
  size_t wrong = 0;
  for (size_t i = 0; i < expected.pixels.size(); ++i) {
    wrong += expected.pixels[i] != result.pixels[i] ? 1 : 0;
  }
  std::printf("picture of %u x %u on %u tiles: write %.1f ms, filter %.1f ms, read %.1f ms\n",
              picture.width, picture.height, device.workers(), write_ms, launch_ms, read_ms);
  if (wrong != 0) {
    std::printf("WRONG: %zu of %zu pixels differ from the host's\n", wrong, expected.pixels.size());
    return 1;
  }
  std::printf("verified: all %zu pixels equal the host's\n", expected.pixels.size());
  return 0;
}
