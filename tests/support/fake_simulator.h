// What the fake simulator library (fake_simulator.cc) can be told to do.
#pragma once

#include <cstdint>

namespace ttfd {

enum class Mishap : uint32_t {
  kNone = 0,
  kRefusal = 1,      // prints why and ends the process
  kSystemError = 2,  // the same, and nobody is to blame
  kAbort = 3,
  kHang = 4,
  kTalk = 5,       // prints nearly a megabyte
  kHostWrite = 6,  // writes 0xFEED to kFakeBusAddress
  kHostRead = 7,   // reads from there to the start of BAR0
};
inline constexpr uint32_t kFakeChips = 2;  // with one memory
inline constexpr uint64_t kFakeBusAddress = uint64_t{1} << 40;
inline constexpr uint64_t kMishapNow = 0;   // offsets in BAR2
inline constexpr uint64_t kMishapNext = 4;  // in the next hundredth clock

}  // namespace ttfd
