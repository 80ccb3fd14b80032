// SHA-256 (FIPS 180-4) of every chunk of a byte string. One hart (BRISC) a tile, each chunk wholly on one tile.
//
// The input is an interleaved DRAM buffer; chunk n is bytes [n * chunk_bytes, (n + 1) * chunk_bytes) of it, cut off at total_bytes.
// Digest n goes to page n of the output buffer, pages of 64 bytes: 32 bytes of digest, then 32 zero bytes.
//
//   common argument 0   base address of the input
//   common argument 1   its page_bytes: a multiple of 64, at most 16384, that divides chunk_bytes
//   common argument 2   base address of the output (interleaved DRAM, page_bytes 64)
//   common argument 3   chunk_bytes
//   common argument 4   total_bytes, < 2^32
//   per core argument 0 first chunk of this tile
//   per core argument 1 chunks of this tile; may be 0
//   circular buffer 0   2 pages of 16384 bytes: scratch
//   circular buffer 1   1 page of 64 bytes: scratch
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

constexpr uint32_t kBlockBytes = 64;
constexpr uint32_t kBlockWords = kBlockBytes / 4;

constexpr uint32_t kInitial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline uint32_t RotateRight(uint32_t x, uint32_t n) { return x >> n | x << (32 - n); }
inline uint32_t BigEndian(uint32_t x) {
  return x << 24 | (x & 0xFF00) << 8 | (x >> 8 & 0xFF00) | x >> 24;
}

// Adds one 64-byte block, words in memory order, to the state.
void Compress(uint32_t (&state)[8], const uint32_t* block) {
  uint32_t schedule[64];  // on the stack, in local RAM: two-clock loads
  for (uint32_t i = 0; i < kBlockWords; ++i) {
    schedule[i] = BigEndian(block[i]);
  }
  for (uint32_t i = kBlockWords; i < 64; ++i) {
    const uint32_t x = schedule[i - 15];
    const uint32_t y = schedule[i - 2];
    schedule[i] = schedule[i - 16] + (RotateRight(x, 7) ^ RotateRight(x, 18) ^ x >> 3) +
                  schedule[i - 7] + (RotateRight(y, 17) ^ RotateRight(y, 19) ^ y >> 10);
  }
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t sum1 = RotateRight(e, 6) ^ RotateRight(e, 11) ^ RotateRight(e, 25);
    const uint32_t t1 = h + sum1 + (g ^ (e & (f ^ g))) + kRound[i] + schedule[i];
    const uint32_t sum0 = RotateRight(a, 2) ^ RotateRight(a, 13) ^ RotateRight(a, 22);
    const uint32_t t2 = sum0 + ((a & b) | (c & (a | b)));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

// The last `bytes` (< 64) of the message, then the padding: 0x80, zeros, the length in bits.
void Finish(uint32_t (&state)[8], const uint32_t* tail, uint32_t bytes, uint32_t message_bytes) {
  uint32_t block[kBlockWords];
  for (uint32_t i = 0; i < kBlockWords; ++i) {
    block[i] = 4 * i < bytes ? tail[i] : 0;
  }
  const uint32_t shift = 8 * (bytes & 3);
  uint32_t& last = block[bytes / 4];
  last = (last & ((1u << shift) - 1)) | 0x80u << shift;
  if (bytes >= kBlockBytes - 8) {
    Compress(state, block);
    for (uint32_t& word : block) {
      word = 0;
    }
  }
  block[14] = BigEndian(message_bytes >> 29);
  block[15] = BigEndian(message_bytes << 3);
  Compress(state, block);
}

}  // namespace

void kernel_main() {
  const uint32_t page_bytes = CommonArgument(1);
  const InterleavedBuffer input(CommonArgument(0), page_bytes);
  const InterleavedBuffer output(CommonArgument(2), 64);
  const uint32_t chunk_bytes = CommonArgument(3);
  const uint32_t total_bytes = CommonArgument(4);
  const uint32_t first = Argument(0);
  const uint32_t end = first + Argument(1);
  const uint32_t scratch = CircularBuffer(0).Reserve(2);
  const uint32_t result = CircularBuffer(1).Reserve(1);
  const uint32_t pages_per_chunk = chunk_bytes / page_bytes;
  constexpr uint32_t kHalf = 16384;

  for (uint32_t chunk = first; chunk != end; ++chunk) {
    const uint32_t start = chunk * chunk_bytes;
    const uint32_t bytes = total_bytes - start < chunk_bytes ? total_bytes - start : chunk_bytes;
    const uint32_t pages = (bytes + page_bytes - 1) / page_bytes;
    const uint32_t first_page = chunk * pages_per_chunk;
    const auto start_read = [&](uint32_t page) {
      Read(input.Page(first_page + page), scratch + (page & 1) * kHalf, page_bytes,
           static_cast<ReadGroup>(page & 1));
    };

    uint32_t state[8];
    for (uint32_t i = 0; i < 8; ++i) {
      state[i] = kInitial[i];
    }
    if (pages != 0) {
      start_read(0);
    }
    uint32_t left = bytes;
    const uint32_t* data = L1Pointer<const uint32_t>(scratch);
    for (uint32_t page = 0; page != pages; ++page) {
      if (page + 1 != pages) {
        start_read(page + 1);
      }
      ReadBarrier(static_cast<ReadGroup>(page & 1));
      data = L1Pointer<const uint32_t>(scratch + (page & 1) * kHalf);
      for (uint32_t done = 0; done != page_bytes && left >= kBlockBytes; done += kBlockBytes) {
        Compress(state, data);
        data += kBlockWords;
        left -= kBlockBytes;
      }
    }
    Finish(state, data, left, bytes);

    WritesLeftBarrier();  // the digest before has left its place
    uint32_t* const digest = L1Pointer<uint32_t>(result);
    for (uint32_t i = 0; i < 8; ++i) {
      digest[i] = BigEndian(state[i]);
      digest[i + 8] = 0;
    }
    Write(result, output.Page(chunk), 64);
  }
}
