// A task of a graph of integers: its value is a hash of its number and of the values of up to four tasks before it, so
// it is wrong if one of them has not ended. BRISC.
//
// Arguments: 0 buffer of values, a page of 64 bytes each; 1 number of the task, whose page it writes; 2 to 5 numbers of
// tasks whose values it reads, kNone for none.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

constexpr uint32_t kPageBytes = 64;
constexpr uint32_t kNone = 0xFFFFFFFF;
constexpr uint32_t kMostRead = 4;

// A kernel is placed at a multiple of 16; reads of DRAM want one of 64.
alignas(16) volatile uint8_t pages[(kMostRead + 1) * kPageBytes];
alignas(16) volatile uint32_t own[4];

uint32_t Mix(uint32_t value) {
  value ^= value >> 16;
  value *= 0x7feb352du;
  value ^= value >> 15;
  return value;
}

}  // namespace

void kernel_main() {
  const InterleavedBuffer values(Argument(0), kPageBytes);
  const uint32_t number = Argument(1);
  const uint32_t begin =
      (L1AddressOf(const_cast<uint8_t*>(pages)) + kPageBytes - 1) & ~(kPageBytes - 1);
  uint32_t read = 0;
  for (; read != kMostRead && Argument(2 + read) != kNone; ++read) {
    Read(values.Page(Argument(2 + read)), begin + read * kPageBytes, kPageBytes);
  }
  if (read != 0) ReadBarrier();
  uint32_t value = number + 1;
  for (uint32_t i = 0; i != read; ++i) {
    value = Mix(value + *L1Pointer<volatile uint32_t>(begin + i * kPageBytes));
  }
  own[0] = value;
  Write(L1AddressOf(const_cast<uint32_t*>(own)), values.Page(number), sizeof(own));
}
