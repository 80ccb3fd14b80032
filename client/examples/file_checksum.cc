// Example: SHA-256 of every 64 KiB chunk of a file, each chunk on a tile of its own.
//
//   file_checksum KERNEL.elf FILE
//
// The digests are compared with those that sha256sum prints for the same chunks.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include "check.h"
#include "stopwatch.h"
#include "ttfd/session.h"

namespace {

constexpr uint32_t kChunkBytes = 64 << 10;
constexpr uint32_t kPageBytes = 16 << 10;  // of the file's buffer; divides a chunk
constexpr uint32_t kDigestPageBytes = 64;  // a digest and as many zeros
constexpr uint32_t kDigestBytes = 32;
constexpr uint32_t kScratchBytes = 2 * kPageBytes + 256;  // what the kernel wants on each tile

std::string Hex(const std::byte* bytes) {
  std::string text;
  for (uint32_t i = 0; i < kDigestBytes; ++i) {
    static constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[static_cast<uint8_t>(bytes[i]) >> 4];
    text += kDigits[static_cast<uint8_t>(bytes[i]) & 15];
  }
  return text;
}

// One line a chunk, from coreutils. The file's name travels in the environment and needs no quoting.
std::vector<std::string> DigestsOfSha256sum(const std::string& path) {
  std::vector<std::string> digests;
  setenv("CHECKSUM_FILE", path.c_str(), 1);
  const std::string command =
      "split -b " + std::to_string(kChunkBytes) + " --filter=sha256sum <\"$CHECKSUM_FILE\"";
  FILE* pipe = popen(command.c_str(), "r");
  char line[128];
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr) {
    digests.emplace_back(line, std::min<size_t>(std::string(line).size(), 2 * kDigestBytes));
  }
  if (pipe == nullptr || pclose(pipe) != 0) {
    digests.clear();
  }
  return digests;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ttfd::client;
  if (argc != 3) {
    std::fprintf(stderr, "usage: file_checksum KERNEL.elf FILE\n");
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const uint32_t total_bytes = static_cast<uint32_t>(bytes.size());
  if (!file || bytes.empty() || bytes.size() != total_bytes) {
    std::fprintf(stderr, "cannot read %s, or it is empty or 4 GiB and more\n", argv[2]);
    return 1;
  }
  const uint32_t chunks = (total_bytes + kChunkBytes - 1) / kChunkBytes;
  bytes.resize((bytes.size() + kPageBytes - 1) / kPageBytes * kPageBytes);

  Session session = Check(Session::Connect({.client_name = "file_checksum"}), "connect");
  const uint32_t tiles = std::min(chunks, session.device().workers());
  const std::vector<CoreRange> cores = FirstCores(session.device().grid_x, tiles);

  Buffer content =
      Check(session.AllocateDram(bytes.size(), {.page_bytes = kPageBytes}), "allocate");
  Buffer digests = Check(
      session.AllocateDram(uint64_t{chunks} * kDigestPageBytes, {.page_bytes = kDigestPageBytes}),
      "allocate");
  Kernel kernel = Check(session.LoadKernelFile(argv[1]), "load kernel");
  ProgramBuilder builder;
  const uint32_t sha256 = builder.AddKernel(kernel, Processor::kBrisc, cores);
  builder.AddCircularBuffer(0, 1, kScratchBytes, cores);
  Program program = Check(session.CreateProgram(builder), "create program");

  Queue queue = session.queue();
  Stopwatch watch;
  Check(queue.Write(content, 0, std::as_bytes(std::span(bytes))), "write");
  const double write_ms = watch.Lap();

  // As many chunks at a time as there are tiles. The launches are enqueued one behind the other;
  // only the end is waited for.
  LaunchRequest launch(program);
  launch.Common(sha256, {0, kPageBytes, total_bytes, kChunkBytes, 0})
      .Address(sha256, 0, content)
      .Address(sha256, 4, digests);
  for (uint32_t first = 0; first < chunks; first += tiles) {
    std::vector<uint32_t> words;
    for (uint32_t tile = 0; tile < tiles; ++tile) {
      words.push_back(first + tile);
      words.push_back(first + tile < chunks ? 1 : 0);
    }
    launch.PerCore(sha256, 2, std::move(words));
    Check(queue.EnqueueLaunch(launch), "launch");
  }
  Check(queue.Finish(), "finish");
  const double launch_ms = watch.Lap();
  std::vector<std::byte> result(digests.size_bytes());
  Check(queue.Read(digests, 0, result), "read");
  Check(session.Close(), "close");

  const std::vector<std::string> expected = DigestsOfSha256sum(argv[2]);
  std::printf("%u bytes in %u chunks on %u tiles: write %.1f ms, hash %.1f ms\n", total_bytes,
              chunks, tiles, write_ms, launch_ms);
  uint32_t equal = 0;
  for (uint32_t i = 0; i < chunks && expected.size() == chunks; ++i) {
    equal += Hex(&result[size_t{i} * kDigestPageBytes]) == expected[i] ? 1 : 0;
  }
  if (equal != chunks) {
    std::printf("WRONG: %u of %u digests equal those of sha256sum\n", equal, chunks);
    return 1;
  }
  std::printf("verified: all %u digests equal those of sha256sum\n", chunks);
  return 0;
}
