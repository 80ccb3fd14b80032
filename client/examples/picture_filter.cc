// Example: finds the edges of a picture on every worker tile of the card.
//
//   picture_filter KERNEL.elf IN.png OUT.png
//
// Blurs the picture and takes its edges (kernel blur_edge.cc), a band of rows on each tile,
// and compares the result pixel for pixel with the same filter on the host.
#include <cstdio>
#include <cstring>

#include "check.h"
#include "edge_filter.h"
#include "picture.h"
#include "stopwatch.h"
#include "ttfd/session.h"

namespace {

uint32_t RoundUp(uint32_t value, uint32_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Bytes of circular buffer 0 that the kernel needs: two rows each way and six of 16-bit pixels.
uint32_t ScratchBytes(uint32_t width, uint32_t in_page, uint32_t out_page) {
  return RoundUp(2 * in_page + 2 * out_page + 6 * (2 * width + 32), 64);
}

// Rows as pages: a row of the picture, padded to what a page must be a multiple of.
std::vector<std::byte> ToPages(const Picture& picture, uint32_t page_bytes) {
  std::vector<std::byte> pages(size_t{page_bytes} * picture.height);
  for (uint32_t y = 0; y < picture.height; ++y) {
    std::memcpy(&pages[size_t{y} * page_bytes], &picture.bytes[size_t{y} * picture.row_bytes()],
                picture.row_bytes());
  }
  return pages;
}

void FromPages(const std::vector<std::byte>& pages, uint32_t page_bytes, Picture* picture) {
  picture->bytes.resize(size_t{picture->row_bytes()} * picture->height);
  for (uint32_t y = 0; y < picture->height; ++y) {
    std::memcpy(&picture->bytes[size_t{y} * picture->row_bytes()], &pages[size_t{y} * page_bytes],
                picture->row_bytes());
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
  using namespace ttfd::client;
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
  const CoreRange all = {0, 0, device.grid_x - 1, device.grid_y - 1};
  const uint32_t in_page = RoundUp(picture.row_bytes(), device.dram_alignment);
  const uint32_t out_page = RoundUp(picture.width, device.dram_alignment);

  // Two buffers, one row a page: the pages lie round the DRAM banks.
  Buffer in =
      Check(session.AllocateDram(uint64_t{in_page} * picture.height, {.page_bytes = in_page}),
            "allocate");
  Buffer out =
      Check(session.AllocateDram(uint64_t{out_page} * picture.height, {.page_bytes = out_page}),
            "allocate");

  // A program: one kernel on every tile, with scratch memory in a circular buffer.
  Kernel kernel = Check(session.LoadKernelFile(argv[1]), "load kernel");
  ProgramBuilder builder;
  const uint32_t filter = builder.AddKernel(kernel, Processor::kBrisc, {all});
  builder.AddCircularBuffer(0, 1, ScratchBytes(picture.width, in_page, out_page), {all});
  Program program = Check(session.CreateProgram(builder), "create program");

  // Write, launch, read. Words 0 and 2 of the arguments are the buffers' addresses.
  Queue queue = session.queue();
  Stopwatch watch;
  Check(queue.Write(in, 0, ToPages(picture, in_page)), "write");
  const double write_ms = watch.Lap();
  LaunchRequest launch(program);
  launch.Common(filter, {0, in_page, 0, out_page, picture.width, picture.height})
      .Address(filter, 0, in)
      .Address(filter, 2, out)
      .PerCore(filter, 2, Bands(picture.height, device.workers()));
  Check(queue.Launch(launch), "launch");
  const double launch_ms = watch.Lap();
  std::vector<std::byte> pages(out.size_bytes());
  Check(queue.Read(out, 0, pages), "read");
  const double read_ms = watch.Lap();
  Check(session.Close(), "close");

  Picture edges = {picture.width, picture.height, 1, {}};
  FromPages(pages, out_page, &edges);
  if (!WritePng(argv[3], edges, &error)) {
    std::fprintf(stderr, "cannot write %s: %s\n", argv[3], error.c_str());
    return 1;
  }
  const Picture expected = EdgesOf(picture);
  size_t wrong = 0;
  for (size_t i = 0; i < expected.bytes.size(); ++i) {
    wrong += expected.bytes[i] != edges.bytes[i] ? 1 : 0;
  }
  std::printf("picture of %u x %u on %u tiles: write %.1f ms, filter %.1f ms, read %.1f ms\n",
              picture.width, picture.height, device.workers(), write_ms, launch_ms, read_ms);
  if (wrong != 0) {
    std::printf("WRONG: %zu of %zu pixels differ from the host's\n", wrong, expected.bytes.size());
    return 1;
  }
  std::printf("verified: all %zu pixels equal the host's\n", expected.bytes.size());
  return 0;
}
