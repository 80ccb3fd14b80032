// The interpreter: computed goto over decoded instructions.
//
// One function is instantiated twice. The fast one jumps through the label distance kept in each
// Decoded. The observing one, which runs single trips of poll loops, jumps through a table and
// records what it reads.
//
// Time is not counted instruction by instruction: `end` is where the table pointer would be if the
// budget were used up on a straight line. A jump moves `end` along with the pointer, less the one
// instruction it took.
#include "runtime/sim/interpret.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "runtime/base/bytes.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/decode.h"
#include "runtime/sim/hart_access.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

// Is [address, address + sizeof(T)) inside `size` bytes and aligned? One compare: an unaligned
// address has its low bits rotated to the top.
template <typename T>
bool Inside(uint32_t address, uint32_t size) {
  if constexpr (sizeof(T) == 1) {
    return address < size;
  } else {
    return std::rotr(address, std::countr_zero(sizeof(T))) < size / sizeof(T);
  }
}

constexpr int kDecodedShift = std::countr_zero(sizeof(Decoded));

uint32_t HighWord(int64_t value) {
  return static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32);
}

uint32_t Divide(int32_t a, int32_t b) {
  if (b == 0) return ~0u;
  if (b == -1) return 0u - static_cast<uint32_t>(a);  // also the overflow case
  return static_cast<uint32_t>(a / b);
}

uint32_t Remainder(int32_t a, int32_t b) {
  if (b == 0) return static_cast<uint32_t>(a);
  if (b == -1) return 0;
  return static_cast<uint32_t>(a % b);
}

uint32_t OrCombineBytes(uint32_t value) {
  uint32_t result = 0;
  for (uint32_t mask = 0xFF; mask != 0; mask <<= 8) {
    if ((value & mask) != 0) result |= mask;
  }
  return result;
}

// What a row of instructions.inc may say.
#define RS1 (x[ip->rs1])
#define RS2 (x[ip->rs2])
#define RS2_FIELD (ip->rs2)
#define SRS1 (static_cast<int32_t>(RS1))
#define SRS2 (static_cast<int32_t>(RS2))
#define IMM (static_cast<uint32_t>(ip->immediate))
#define SIMM (ip->immediate)
#define IMM_BYTES (static_cast<intptr_t>(ip->immediate))
#define LINK (ip->link)
#define SET(value) x[ip->rd] = (value)

#define PC() (static_cast<uint32_t>(ip - code) * 4)
#define REMAINING() ((end - reinterpret_cast<intptr_t>(ip)) >> kDecodedShift)
#define SAVE() (hart.pc = PC(), hart.time = stop_time - static_cast<uint64_t>(REMAINING()))
#define LEAVE(why)    \
  {                   \
    stop = Stop::why; \
    goto leave;       \
  }

#define DISPATCH()                                                                            \
  {                                                                                           \
    if constexpr (kObserve) {                                                                 \
      goto* labels[ip->operation];                                                            \
    } else {                                                                                  \
      goto* static_cast<const void*>(static_cast<const char*>(&&l_NotDecoded) + ip->handler); \
    }                                                                                         \
  }

#define JUMP_BY(bytes)                                                          \
  {                                                                             \
    const intptr_t distance = (bytes);                                          \
    ip = reinterpret_cast<Decoded*>(reinterpret_cast<intptr_t>(ip) + distance); \
    end += distance - static_cast<intptr_t>(sizeof(Decoded));                   \
    if (reinterpret_cast<intptr_t>(ip) >= end) [[unlikely]]                     \
      goto budget_used;                                                         \
    DISPATCH();                                                                 \
  }

#define JUMP_TO(target)                                                   \
  if (!Inside<uint32_t>(target, hw::kL1Bytes)) [[unlikely]] {             \
    SAVE();                                                               \
    RaiseFault(hart, FaultKind::kInstructionFetch, target,                \
               "a jump to an address outside L1 or not a multiple of 4"); \
    LEAVE(kFault);                                                        \
  }                                                                       \
  JUMP_BY((static_cast<intptr_t>(target) << 2) -                          \
          (reinterpret_cast<intptr_t>(ip) - reinterpret_cast<intptr_t>(code)))

#define FAULT(kind, reason)                                                    \
  {                                                                            \
    SAVE();                                                                    \
    RaiseFault(hart, FaultKind::kind, LoadAt<uint32_t>(l1 + hart.pc), reason); \
    LEAVE(kFault);                                                             \
  }

// Where a correct poll loop must pass. State is saved; the instruction is not executed yet.
#define POLL_POINT()                                                   \
  {                                                                    \
    SAVE();                                                            \
    if constexpr (kObserve) {                                          \
      if (hart.time != start_time && FinishTrip(hart)) LEAVE(kParked); \
    } else if (ArriveAtPollPoint(hart)) {                              \
      LEAVE(kPollPoint);                                               \
    }                                                                  \
  }

#define READS(address) \
  if constexpr (kObserve) RecordRead(hart, address)

// After an instruction that has changed something.
#define END_TRIP_IF_SPOILED() \
  if constexpr (kObserve) {   \
    if (hart.poll.spoiled) {  \
      ++ip;                   \
      SAVE();                 \
      LEAVE(kNotALoop);       \
    }                         \
  }

#define LOAD(type)                                                          \
  {                                                                         \
    const uint32_t address = RS1 + IMM;                                     \
    const uint32_t local_address = address - hw::kLocalRamAddress;          \
    type value;                                                             \
    if (Inside<type>(address, hw::kL1Bytes)) [[likely]] {                   \
      READS(address);                                                       \
      value = LoadAt<type>(l1 + address);                                   \
    } else if (Inside<type>(local_address, local_bytes)) [[likely]] {       \
      value = LoadAt<type>(local + local_address);                          \
    } else {                                                                \
      const bool pure = sizeof(type) == 4 && IsPureRegister(address);       \
      if (pure) POLL_POINT();                                               \
      SAVE();                                                               \
      uint32_t word = 0;                                                    \
      if (!LoadRegister(hart, address, sizeof(type), &word)) LEAVE(kFault); \
      if (pure) {                                                           \
        READS(address);                                                     \
      } else {                                                              \
        hart.poll.spoiled = true;                                           \
      }                                                                     \
      value = static_cast<type>(word);                                      \
    }                                                                       \
    SET(static_cast<uint32_t>(static_cast<int32_t>(value)));                \
    END_TRIP_IF_SPOILED();                                                  \
  }

#define STORE(type)                                                                              \
  {                                                                                              \
    const uint32_t address = RS1 + IMM;                                                          \
    const uint32_t local_address = address - hw::kLocalRamAddress;                               \
    const type value = static_cast<type>(RS2);                                                   \
    if (Inside<type>(address, hw::kL1Bytes)) [[likely]] {                                        \
      if constexpr (kObserve) hart.poll.spoiled |= LoadAt<type>(l1 + address) != value;          \
      StoreAt(l1 + address, value);                                                              \
      if (line_flags[address >> kLineShift] != 0) [[unlikely]] {                                 \
        SAVE();                                                                                  \
        hart.tile->WroteFlagged(address, sizeof(type));                                          \
      }                                                                                          \
    } else if (Inside<type>(local_address, local_bytes)) [[likely]] {                            \
      if constexpr (kObserve) {                                                                  \
        if (LoadAt<type>(local + local_address) != value) RecordLocalWrite(hart, local_address); \
      }                                                                                          \
      StoreAt(local + local_address, value);                                                     \
    } else {                                                                                     \
      SAVE();                                                                                    \
      hart.poll.spoiled = true;                                                                  \
      if (!StoreRegister(hart, address, sizeof(type), value)) LEAVE(kFault);                     \
      if (hart.state != HartState::kRunnable) LEAVE(kHeld);                                      \
    }                                                                                            \
    END_TRIP_IF_SPOILED();                                                                       \
  }

#define AMO(expression)                                                                           \
  {                                                                                               \
    const uint32_t address = RS1;                                                                 \
    POLL_POINT();                                                                                 \
    if (!Inside<uint32_t>(address, hw::kL1Bytes)) [[unlikely]] {                                  \
      RaiseFault(hart, address % 4 != 0 ? FaultKind::kMisaligned : FaultKind::kUnmapped, address, \
                 "AMOs work on aligned words of the tile's own L1");                              \
      LEAVE(kFault);                                                                              \
    }                                                                                             \
    const uint32_t old = LoadAt<uint32_t>(l1 + address);                                          \
    const uint32_t value = (expression);                                                          \
    READS(address);                                                                               \
    if constexpr (kObserve) hart.poll.spoiled |= old != value;                                    \
    StoreAt(l1 + address, value);                                                                 \
    hart.tile->WroteMemory(address, 4);                                                           \
    SET(old);                                                                                     \
    END_TRIP_IF_SPOILED();                                                                        \
  }

#define CSR(expression)                                                     \
  {                                                                         \
    const uint32_t old = hart.config0;                                      \
    const uint32_t value = (expression);                                    \
    if (IMM != hw::kCsrConfig0)                                             \
      FAULT(kUnsupportedCsr, "the cores' only usable CSR is 0x7C0 (cfg0)"); \
    if ((value & ~hw::kCsrConfig0Supported) != 0)                           \
      FAULT(kUnsupportedCsr, "a cfg0 bit outside 0x0104000A");              \
    hart.config0 = value;                                                   \
    SET(old);                                                               \
  }

#define FENCE() POLL_POINT()

// The whole interpreter is one function: its rows, instructions.inc, jump to each other's labels.
template <bool kObserve>
#if defined(__clang__)
__attribute__((noinline))
#else
__attribute__((noinline, noclone))  // clang does not know noclone
#endif
Stop Run(Hart& hart, uint64_t budget) {  // NOLINT(readability-function-size): labels end with it
  static const void* const labels[] = {
      &&l_NotDecoded,
#define I(name, ...) &&l_##name,
#include "runtime/sim/instructions.inc"
#undef I
      &&l_Tensix,
      &&l_Illegal,
  };
  static_assert(std::size(labels) == static_cast<size_t>(Operation::kCount));

  uint32_t* const x = hart.x;
  std::byte* const l1 = hart.tile->memory().l1();
  uint8_t* const line_flags = hart.tile->memory().line_flags();
  Decoded* const code = hart.tile->memory().code();
  std::byte* const local = hart.local_ram;
  const uint32_t local_bytes = hart.local_ram_bytes;
  [[maybe_unused]] const uint64_t start_time = hart.time;
  const uint64_t stop_time = hart.time + budget;
  Decoded* ip = code + hart.pc / 4;
  intptr_t end = reinterpret_cast<intptr_t>(ip) + static_cast<intptr_t>(budget * sizeof(Decoded));
  Stop stop = Stop::kBudget;
  DISPATCH();

#define I(name, match, mask, format, ...) \
  l_##name : { __VA_ARGS__; }             \
  ++ip;                                   \
  DISPATCH();
#include "runtime/sim/instructions.inc"
#undef I

l_NotDecoded : {
  const uint32_t pc = PC();
  if (pc >= hw::kL1Bytes) {
    SAVE();
    RaiseFault(hart, FaultKind::kInstructionFetch, pc,
               "ran off the end of L1, or branched outside L1 or to an address that is not a "
               "multiple of 4");
    LEAVE(kFault);
  }
  *ip = Decode(LoadAt<uint32_t>(l1 + pc), pc);
  if constexpr (!kObserve) {
    ip->handler = static_cast<int32_t>(static_cast<const char*>(labels[ip->operation]) -
                                       static_cast<const char*>(&&l_NotDecoded));
  }
  line_flags[pc >> kLineShift] |= kLineHasCode;
  DISPATCH();
}
l_Tensix:
  FAULT(kTensixInstruction,
        "its low bits mark a Tensix instruction; the word 0 means that code ran into empty memory");
l_Illegal:
  FAULT(kIllegalInstruction, "no instruction of the cores is encoded so");

budget_used:
  SAVE();
leave:
  return stop;
}

}  // namespace

Stop Execute(Hart& hart, uint64_t budget) {
  const uint64_t start = hart.time;
  const Stop stop = Run<false>(hart, budget);
  hart.retired += hart.time - start;
  return stop;
}

Stop Observe(Hart& hart) {
  const uint64_t start = hart.time;
  hart.poll.reads = 0;
  hart.poll.writes = 0;
  hart.poll.spoiled = false;
  const Stop stop = Run<true>(hart, kMaxPollLoop);
  hart.retired += hart.time - start;
  return stop == Stop::kBudget ? Stop::kNotALoop : stop;
}

}  // namespace ttfd::sim
