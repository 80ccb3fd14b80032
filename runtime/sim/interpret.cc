// The interpreter: threaded code over decoded instructions.
//
// Every instruction is a small function that ends by jumping to the one its successor's Decoded
// names (a call in tail position; the state of the loop travels in argument registers). That compilers make it a jump,
// in every handler, is held by tests/isa/check_tail_calls.py; none may have an object on its stack by then. Frequent
// pairs have functions of their own that do both, which halves the jumps: an unpredictable jump is
// what an instruction costs most. Each word keeps its own Decoded, so code may be entered between
// the two. What is rare (registers, faults, poll points, writes that somebody watches) is out of
// line and goes on behind the one instruction it has done.
//
// More sets of the same functions run single trips of poll loops and record what they read, and
// run harts carefully: with hazards, or while somebody watches.
//
// Time is not counted instruction by instruction: `end` is where the table pointer would be if the
// budget were used up on a straight line. A jump moves `end` along with the pointer, less the one
// instruction it took.
#include "runtime/sim/interpret.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>

#include "runtime/base/bytes.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/careful.h"
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

// The same of L1 that the hart accesses without a check.
template <typename T>
bool InsideFree(uint32_t address, const HartMemory& hart) {
  constexpr int kLog = std::countr_zero(sizeof(T));
  return std::rotr(address, kLog) < hart.free_l1[kLog];
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

// Sanitizers and unoptimised code keep a frame for every call: there each instruction returns to the
// loop in Run().
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr bool kTailCalls = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kTailCalls = false;
#else
constexpr bool kTailCalls = true;
#endif
#else
constexpr bool kTailCalls = true;
#endif

// The state of the loop, in registers: the hart, its current instruction, where the budget ends, the
// tile's L1, the hart's local RAM, and what handlers are counted from.
#define PARAMETERS                                                                          \
  [[maybe_unused]] Hart *hart, [[maybe_unused]] Decoded *ip, [[maybe_unused]] intptr_t end, \
      [[maybe_unused]] std::byte *l1, [[maybe_unused]] std::byte *local,                    \
      [[maybe_unused]] intptr_t origin
#define ARGUMENTS hart, ip, end, l1, local, origin

using Handler = Stop (*)(PARAMETERS);

// Saves pc and time, which are not kept up to date while the loop runs.
void Save(Hart* hart, const Decoded* ip, intptr_t end) {
  hart->pc = static_cast<uint32_t>(ip - hart->code) * 4;
  hart->time = hart->stop_time -
               static_cast<uint64_t>((end - reinterpret_cast<intptr_t>(ip)) >> kDecodedShift);
}

// End of an instruction: the jump to the next one. There are kCopies of every handler, and
// neighbouring instructions use different ones: a loop that executes one instruction in several
// places then jumps from each of them to one target, which the host predicts.
constexpr uint32_t kCopies = 4;

template <uint32_t kCopy>
struct Dispatch {
  using Last = Dispatch;
  using Rare = Dispatch<0>;  // behind what is out of line
  static constexpr bool kObserve = false;
  static constexpr bool kCareful = false;
  [[gnu::always_inline]] static Stop Go(PARAMETERS) {
    if constexpr (kTailCalls) {
      asm volatile("" : : "i"(kCopy));  // or the compiler makes one of the copies
      return reinterpret_cast<Handler>(origin + ip->handler)(ARGUMENTS);
    } else {
      hart->ip = ip;
      hart->end = end;
      return Stop::kNone;
    }
  }
};

// The same one instruction at a time: while a trip is observed, which ends when something was
// changed, or carefully. `origin` is the table of these handlers, by operation.
template <bool kIsObserving, bool kIsCareful>
struct Stepping {
  using Last = Stepping;
  using Rare = Stepping;
  static constexpr bool kObserve = kIsObserving;
  static constexpr bool kCareful = kIsCareful;
  [[gnu::always_inline]] static Stop Go(PARAMETERS) {
    if constexpr (kObserve) {
      if (hart->poll.side_effect) {
        Save(hart, ip, end);
        return Stop::kNotALoop;
      }
      RecordRegisters(hart->poll, ip->rd, ip->rs1, ip->rs2);
    }
    if constexpr (kCareful) {
      Save(hart, ip, end);
      const Stop stop = BeginStep(*hart, *ip);
      if (stop != Stop::kNone) return stop;
    }
    if constexpr (kTailCalls) {
      return reinterpret_cast<const Handler*>(origin)[ip->operation](ARGUMENTS);
    } else {
      hart->ip = ip;
      hart->end = end;
      return Stop::kNone;
    }
  }
};

[[gnu::noinline]] Stop BudgetUsed(PARAMETERS) {
  Save(hart, ip, end);
  return Stop::kBudget;
}

[[gnu::noinline]] Stop Refuse(Hart* hart, const Decoded* ip, intptr_t end, FaultKind kind,
                              uint64_t address, const char* reason) {
  Save(hart, ip, end);
  RaiseFault(*hart, {kind, address, reason});
  return Stop::kFault;
}

template <typename Last>
[[gnu::always_inline]] inline Stop Jump(PARAMETERS, intptr_t distance) {
  ip = reinterpret_cast<Decoded*>(reinterpret_cast<intptr_t>(ip) + distance);
  end += distance - static_cast<intptr_t>(sizeof(Decoded));
  if (reinterpret_cast<intptr_t>(ip) >= end) [[unlikely]]
    return BudgetUsed(ARGUMENTS);
  return Last::Go(ARGUMENTS);
}

// The hart is at a poll point where it was or slept before. kNone: go on.
inline Stop ArriveAgainAt(Hart* hart) {
  if (!ArriveAgain(*hart)) return Stop::kNone;
  return hart->state == HartState::kParked ? Stop::kParked : Stop::kPollPoint;
}

// Where a correct poll loop must pass; the instruction is not executed yet. kNone: go on.
template <typename Last>
Stop ArriveAt(Hart* hart, const Decoded* ip, intptr_t end) {
  Save(hart, ip, end);
  if constexpr (Last::kObserve) {
    return hart->time != hart->poll.start && FinishTrip(*hart) ? Stop::kParked : Stop::kNone;
  } else {
    return PassPollPoint(*hart) ? Stop::kNone : ArriveAgainAt(hart);
  }
}

#include "runtime/sim/instruction_vocabulary.inc"

// One struct for each instruction; `Then` is Dispatch, Stepping or another instruction. Rows that
// always jump or refuse do not reach the end.
#define I(name, match, mask, format, ...)                      \
  template <typename Then>                                     \
  struct name {                                                \
    using Last = typename Then::Last;                          \
    [[gnu::always_inline]] static inline Stop Go(PARAMETERS) { \
      __VA_ARGS__;                                             \
      ++ip;                                                    \
      return Then::Go(ARGUMENTS);                              \
    }                                                          \
  };
#include "runtime/sim/instructions.inc"
#undef I

// A hart that is parked here executes this instruction again when it is woken.
template <typename Then>
struct Tensix {
  static Stop Go(PARAMETERS) {
    if (ip->immediate == 0) FAULT(kTensixInstruction, "the word 0: code ran into empty memory");
    Save(hart, ip, end);
    if (!PushInstruction(*hart, static_cast<uint32_t>(ip->immediate))) return Stop::kFault;
    if (hart->state != HartState::kRunnable) return Stop::kParked;
    ++ip;
    return Then::Go(ARGUMENTS);
  }
};

template <typename Then>
struct Illegal {
  static Stop Go(PARAMETERS) {
    FAULT(kIllegalInstruction, "no instruction of the cores is encoded so");
  }
};

void DecodeAt(Hart* hart, Decoded* ip, std::byte* l1);

template <typename Then>
struct NotDecoded {
  static Stop Go(PARAMETERS) {
    const uint32_t pc = static_cast<uint32_t>(ip - hart->code) * 4;
    if (pc >= hw::kL1Bytes) {
      return Refuse(hart, ip, end, FaultKind::kInstructionFetch, pc,
                    "ran off the end of L1, or branched outside L1 or to an address that is not a "
                    "multiple of 4");
    }
    if constexpr (Then::kCareful) {
      if (FetchIntoCache(*hart, l1, pc)) return Then::Go(ARGUMENTS);
    }
    DecodeAt(hart, ip, l1);
    return Then::Go(ARGUMENTS);
  }
};

// The function of an instruction, or of several in a row.
template <typename Instructions>
Stop Handle(PARAMETERS) {
  return Instructions::Go(ARGUMENTS);
}

template <typename Then>
constexpr std::array<Handler, static_cast<size_t>(Operation::kCount)> kHandlers = {
    Handle<NotDecoded<Then>>,
#define I(name, ...) Handle<name<Then>>,
#include "runtime/sim/instructions.inc"
#undef I
    Handle<Tensix<Then>>,
    Handle<Illegal<Then>>,
};

// Pairs with a function of their own: every one of the first with every one of the second. Chosen
// from what compiled code executes most: address and loop arithmetic, loads and stores, branches.
// clang-format off
#define FIRSTS(X) \
  X(Addi) X(Add) X(Sub) X(And) X(Andi) X(Or) X(Xor) X(Slli) X(Srli) X(Lui) X(Lw) X(Sw)
#define SECONDS(X, first)                                                               \
  X(first, Addi) X(first, Add) X(first, Sub) X(first, And) X(first, Andi) X(first, Or)  \
  X(first, Xor) X(first, Slli) X(first, Srli) X(first, Lui) X(first, Lw) X(first, Sw)   \
  X(first, Beq) X(first, Bne) X(first, Blt) X(first, Bge) X(first, Bltu) X(first, Bgeu) \
  X(first, Jal) X(first, Jalr)
// clang-format on

// Where an operation stands in the lists above, from 1; 0: nowhere.
using Places = std::array<uint8_t, static_cast<size_t>(Operation::kCount)>;
#define PLACE(name) places[static_cast<size_t>(Operation::k##name)] = ++last;
#define PLACE_SECOND(first, name) PLACE(name)
constexpr Places kFirstPlaces = [] {
  Places places{};
  uint8_t last = 0;
  FIRSTS(PLACE)
  return places;
}();
constexpr Places kSecondPlaces = [] {
  Places places{};
  uint8_t last = 0;
  SECONDS(PLACE_SECOND, )
  return places;
}();
constexpr size_t kSeconds = *std::max_element(kSecondPlaces.begin(), kSecondPlaces.end());

template <uint32_t kCopy>
constexpr Handler kPairs[][kSeconds] = {
#define PAIR(first, second) Handle<first<second<Dispatch<kCopy>>>>,
#define PAIRS_OF(first) {SECONDS(PAIR, first)},
    FIRSTS(PAIRS_OF)
#undef PAIRS_OF
#undef PAIR
};

// Address that the handlers of Decoded are counted from.
intptr_t Origin() { return reinterpret_cast<intptr_t>(kHandlers<Dispatch<0>>[0]); }

int32_t DistanceTo(Handler handler) {
  return static_cast<int32_t>(reinterpret_cast<intptr_t>(handler) - Origin());
}

template <uint32_t kCopy>
Handler HandlerOf(uint8_t operation) {
  return kHandlers<Dispatch<kCopy>>[operation];
}

// Null: the two have no function of their own.
template <uint32_t kCopy>
Handler PairOf(uint8_t first, uint8_t second) {
  const size_t row = kFirstPlaces[first];
  const size_t column = kSecondPlaces[second];
  return row == 0 || column == 0 ? nullptr : kPairs<kCopy>[row - 1][column - 1];
}

constexpr Handler (*kHandlerOf[kCopies])(uint8_t) = {HandlerOf<0>, HandlerOf<1>, HandlerOf<2>,
                                                     HandlerOf<3>};
constexpr Handler (*kPairOf[kCopies])(uint8_t, uint8_t) = {PairOf<0>, PairOf<1>, PairOf<2>,
                                                           PairOf<3>};
constexpr uint32_t CopyFor(uint32_t pc) { return pc / 8 % kCopies; }

// Fills in one word's entry, and its successor's if the two are run as a pair: then writing either
// of them has to drop both (TensixTile::DropDecoded).
void DecodeAt(Hart* hart, Decoded* ip, std::byte* l1) {
  const auto decode = [&](Decoded* at) {
    const uint32_t pc = static_cast<uint32_t>(at - hart->code) * 4;
    *at = Decode(LoadAt<uint32_t>(l1 + pc), pc);
    at->handler = DistanceTo(kHandlerOf[CopyFor(pc)](at->operation));
    l1[TileMemory::kMarks + (pc >> kLineShift)] |= std::byte{kLineHasCode};
  };
  decode(ip);
  const uint32_t next_pc = ip->link;
  if (next_pc >= hw::kL1Bytes) return;
  const Decoded next = Decode(LoadAt<uint32_t>(l1 + next_pc), next_pc);
  const Handler pair = kPairOf[CopyFor(next_pc - 4)](ip->operation, next.operation);
  if (pair == nullptr) return;
  if (ip[1].operation == 0) decode(ip + 1);
  ip->handler = DistanceTo(pair);
}

// Runs from hart.pc on; `Then` is Dispatch<0> or Stepping.
template <typename Then>
Stop Run(Hart& hart, uint64_t budget) {
  std::byte* const l1 = hart.tile->memory().l1();
  hart.stop_time = hart.time + budget;
  hart.ip = hart.code + hart.pc / 4;
  hart.end = reinterpret_cast<intptr_t>(hart.ip) + static_cast<intptr_t>(budget * sizeof(Decoded));
  constexpr bool kStepping = Then::kObserve || Then::kCareful;
  const intptr_t origin = kStepping ? reinterpret_cast<intptr_t>(kHandlers<Then>.data()) : Origin();
  Stop stop = Then::Go(&hart, hart.ip, hart.end, l1, hart.local_ram, origin);
  while (!kTailCalls && stop == Stop::kNone) {
    const Handler handler = kStepping ? kHandlers<Then>[hart.ip->operation]
                                      : reinterpret_cast<Handler>(origin + hart.ip->handler);
    stop = handler(&hart, hart.ip, hart.end, l1, hart.local_ram, origin);
  }
  return stop;
}

// Counts what was executed since `start`, and waits where the hart has to.
Stop Account(Hart& hart, uint64_t start, Stop stop) {
  hart.retired += hart.time - start;
  if (stop == Stop::kStalled) Stall(hart, hart.hazards->local_ram_ready() - hart.time);
  return stop;
}

}  // namespace

Stop Execute(Hart& hart, uint64_t budget) {
  const uint64_t start = hart.time;
  const bool careful = hart.tile->machine().careful;
  const Stop stop =
      careful ? Run<Stepping<false, true>>(hart, budget) : Run<Dispatch<0>>(hart, budget);
  return Account(hart, start, stop);
}

Stop Observe(Hart& hart) {
  const uint64_t start = hart.time;
  BeginTrip(hart);
  hart.poll.side_effect = false;
  const bool careful = hart.tile->machine().careful;
  const Stop stop = careful ? Run<Stepping<true, true>>(hart, kMaxPollLoop)
                            : Run<Stepping<true, false>>(hart, kMaxPollLoop);
  return Account(hart, start, stop == Stop::kBudget ? Stop::kNotALoop : stop);
}

}  // namespace ttfd::sim
