// SHA-256 (FIPS 180-4) of chunks of a file. BRISC.
//
// The file lies in an interleaved DRAM buffer; chunk n is bytes [n * chunk bytes, ...) of it, the last
// one ends with the file. Digest n, 32 bytes as printed, goes to page n of an interleaved DRAM buffer
// with pages of 64 bytes.
//
// Common arguments: 0 base of the file, 1 its page bytes (power of two, 64 to 16384), 2 file bytes,
// 3 chunk bytes (a multiple of the page), 4 base of the digests. Per core: 0 first chunk, 1 number of
// chunks. Circular buffer 0: scratch, at least 2 file pages and 256 bytes more.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr uint32_t kBlockBytes = 64;
constexpr uint32_t kDigestPageBytes = 64;

uint32_t RotateRight(uint32_t value, uint32_t by) { return value >> by | value << (32 - by); }

uint32_t ByteSwap(uint32_t value) {
  const uint32_t pairs = (value & 0x00FF00FF) << 8 | (value >> 8 & 0x00FF00FF);
  return pairs << 16 | pairs >> 16;
}

struct State {
  uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

// One round; the caller renames the variables instead of moving them.
[[gnu::always_inline]] inline void Round(uint32_t a, uint32_t b, uint32_t c, uint32_t& d,
                                         uint32_t e, uint32_t f, uint32_t g, uint32_t& h,
                                         uint32_t word, uint32_t constant) {
  const uint32_t t = h + (RotateRight(e, 6) ^ RotateRight(e, 11) ^ RotateRight(e, 25)) +
                     (g ^ (e & (f ^ g))) + constant + word;
  d += t;
  h = t + (RotateRight(a, 2) ^ RotateRight(a, 13) ^ RotateRight(a, 22)) + ((a & b) | (c & (a | b)));
}

// Sixteen words of the message schedule, kept as a ring: each trip of sixteen rounds replaces them.
[[gnu::always_inline]] inline uint32_t Extend(uint32_t* w, uint32_t i) {
  const uint32_t w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
  const uint32_t s0 = RotateRight(w15, 7) ^ RotateRight(w15, 18) ^ w15 >> 3;
  const uint32_t s1 = RotateRight(w2, 17) ^ RotateRight(w2, 19) ^ w2 >> 10;
  return w[i & 15] += s0 + w[(i + 9) & 15] + s1;
}

void Compress(State& state, const uint32_t* block) {
  uint32_t w[16];
  for (uint32_t i = 0; i < 16; ++i) {
    w[i] = ByteSwap(block[i]);
  }
  uint32_t a = state.h[0], b = state.h[1], c = state.h[2], d = state.h[3];
  uint32_t e = state.h[4], f = state.h[5], g = state.h[6], h = state.h[7];
  for (const uint32_t* k = kRound;;) {
    for (uint32_t i = 0; i < 16; i += 8, k += 8) {
      Round(a, b, c, d, e, f, g, h, w[i + 0], k[0]);
      Round(h, a, b, c, d, e, f, g, w[i + 1], k[1]);
      Round(g, h, a, b, c, d, e, f, w[i + 2], k[2]);
      Round(f, g, h, a, b, c, d, e, w[i + 3], k[3]);
      Round(e, f, g, h, a, b, c, d, w[i + 4], k[4]);
      Round(d, e, f, g, h, a, b, c, w[i + 5], k[5]);
      Round(c, d, e, f, g, h, a, b, w[i + 6], k[6]);
      Round(b, c, d, e, f, g, h, a, w[i + 7], k[7]);
    }
    if (k == kRound + 64) {
      break;
    }
#pragma GCC unroll 16
    for (uint32_t i = 0; i < 16; ++i) {
      Extend(w, i);
    }
  }
  state.h[0] += a, state.h[1] += b, state.h[2] += c, state.h[3] += d;
  state.h[4] += e, state.h[5] += f, state.h[6] += g, state.h[7] += h;
}

// The message's tail: what is left of it (less than a block), 0x80, zeros, the length in bits.
void CompressTail(State& state, const uint8_t* rest, uint32_t rest_bytes, uint32_t message_bytes) {
  uint32_t words[2 * kBlockBytes / 4] = {};
  auto* const bytes = reinterpret_cast<uint8_t*>(words);
  for (uint32_t i = 0; i < rest_bytes; ++i) {
    bytes[i] = rest[i];
  }
  bytes[rest_bytes] = 0x80;
  const uint32_t blocks = rest_bytes + 9 > kBlockBytes ? 2 : 1;
  words[16 * blocks - 2] = ByteSwap(message_bytes >> 29);
  words[16 * blocks - 1] = ByteSwap(message_bytes << 3);
  for (uint32_t i = 0; i < blocks; ++i) {
    Compress(state, words + 16 * i);
  }
}

uint32_t Smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

class ChunkReader {
 public:
  ChunkReader(const InterleavedBuffer& file, uint32_t scratch) : file_(file), scratch_(scratch) {}

  State Hash(uint32_t first_page, uint32_t bytes) {
    State state;
    const uint32_t page_bytes = file_.page_bytes();
    Start(first_page, 0);
    uint32_t done = 0;
    for (uint32_t page = first_page, which = 0;; ++page, which ^= 1) {
      if (bytes - done > page_bytes) {
        Start(page + 1, which ^ 1);
      }
      ReadBarrier(which == 0 ? ReadGroup::kFirst : ReadGroup::kSecond);
      const uint32_t here = Smaller(bytes - done, page_bytes);
      const uint32_t at = scratch_ + which * page_bytes;
      const uint32_t whole = here & ~(kBlockBytes - 1);
      for (uint32_t offset = 0; offset != whole; offset += kBlockBytes) {
        Compress(state, L1Pointer<const uint32_t>(at + offset));
      }
      done += here;
      if (done == bytes) {
        CompressTail(state, L1Pointer<const uint8_t>(at + whole), here - whole, bytes);
        return state;
      }
    }
  }

 private:
  void Start(uint32_t page, uint32_t which) {
    Read(file_.Page(page), scratch_ + which * file_.page_bytes(), file_.page_bytes(),
         which == 0 ? ReadGroup::kFirst : ReadGroup::kSecond);
  }

  const InterleavedBuffer& file_;
  const uint32_t scratch_;
};

}  // namespace

void kernel_main() {
  const uint32_t page_bytes = CommonArgument(1);
  const uint32_t file_bytes = CommonArgument(2);
  const uint32_t chunk_bytes = CommonArgument(3);
  const InterleavedBuffer file(CommonArgument(0), page_bytes);
  const InterleavedBuffer digests(CommonArgument(4), kDigestPageBytes);
  const uint32_t scratch = CircularBuffer(0).address();
  const uint32_t staging = scratch + 2 * page_bytes;
  const uint32_t pages_per_chunk = chunk_bytes / page_bytes;
  ChunkReader reader(file, scratch);
  const uint32_t first = Argument(0);
  const uint32_t end = first + Argument(1);
  for (uint32_t chunk = first; chunk != end; ++chunk) {
    const uint32_t bytes = Smaller(chunk_bytes, file_bytes - chunk * chunk_bytes);
    const State state = reader.Hash(chunk * pages_per_chunk, bytes);
    WritesFlushedBarrier();  // of the last digest
    auto* const out = L1Pointer<uint32_t>(staging);
    for (uint32_t i = 0; i < 8; ++i) {
      out[i] = ByteSwap(state.h[i]);
    }
    Write(staging, digests.Page(chunk), 32);
  }
}
