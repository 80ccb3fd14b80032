// Arithmetic beyond rv32im's instructions, on pairs of 64-bit numbers. Any hart.
//
// Common arguments: 0 L1 address of the pairs (a, b: 16 bytes each, b not 0), 1 L1 address of the results,
// 64 bytes a pair; 2 how many. Results: a / b, a % b, both again as signed numbers, bits set in a, zeros
// above and below the ones of b, float(low word of a) / float(low word of b | 1) as bits.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const auto* pair = L1Pointer<const volatile uint64_t>(CommonArgument(0));
  auto* result = L1Pointer<volatile uint64_t>(CommonArgument(1));
  for (uint32_t left = CommonArgument(2); left != 0; --left, pair += 2, result += 8) {
    const uint64_t a = pair[0], b = pair[1];
    const auto signed_a = static_cast<int64_t>(a), signed_b = static_cast<int64_t>(b);
    result[0] = a / b;
    result[1] = a % b;
    result[2] = static_cast<uint64_t>(signed_a / signed_b);
    result[3] = static_cast<uint64_t>(signed_a % signed_b);
    result[4] = static_cast<uint64_t>(__builtin_popcountll(a));
    result[5] = static_cast<uint64_t>(__builtin_clzll(b));
    result[6] = static_cast<uint64_t>(__builtin_ctzll(b));
    const float quotient = static_cast<float>(static_cast<uint32_t>(a)) /
                           static_cast<float>(static_cast<uint32_t>(b) | 1);
    result[7] = __builtin_bit_cast(uint32_t, quotient);
  }
}
