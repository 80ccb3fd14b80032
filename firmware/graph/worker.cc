// A worker of a task graph: calls the functions of the tasks that arrive in its mailbox. BRISC.
//
// A function is a callable kernel of the program, unchanged: it sees the task's arguments as Argument(i).
#include <ttfd/kernel.h>

#include "firmware/graph/layout.h"

using namespace ttfd::kernel;
namespace fw = ttfd::firmware;
namespace hw = ttfd::hw;
namespace layout = ttfd::graph::layout;

namespace {

class Worker {
 public:
  explicit Worker(const layout::WorkerWords& words)
      : words_(words),
        buffers_(L1AddressOf(&words + 1) + 4u * words.map_words),
        scheduler_(TileAt({words.scheduler & 0xFF, words.scheduler >> 8})),
        caller_(offsetof(layout::WorkerWords, arguments) / 4, layout::kArguments) {
    const Position own = OwnPosition();
    const auto* const numbers = reinterpret_cast<const uint8_t*>(&words + 1);
    number_ = numbers[own.y * words.columns + own.x];
    followers_ = Semaphore(0).address();
    done_ = followers_ + kSemaphoreStride * (number_ / layout::kWorkersPerWord);
    const uint32_t mailbox = CircularBuffer(layout::kMailbox).address();
    for (uint32_t i = 0; i != layout::kMailboxSlots; ++i) {
      slots_[i] = {mailbox + i * layout::kSentBytes + kCallOffset,
                   1u << (number_ % layout::kWorkersPerWord + i * layout::kWorkersPerWord)};
    }
  }

  // Lets the scheduler send tasks: frees all slots at once.
  void Begin() {
    uint32_t flips = 0;
    for (Slot& slot : slots_) flips += Clear(&slot);
    Increment({scheduler_, done_}, flips);
  }
  // Runs tasks until the launch ends: returns false. Without kTimed also until a message shows that the launch has a
  // timeline: returns true.
  template <bool kTimed>
  bool Run() {
    Slot* next = &slots_[0];  // the one that is served first
    for (;;) {
      Slot* const slot = AwaitTask(next);
      next = slot == &slots_[0] ? &slots_[1] : &slots_[0];
      const uint32_t call = fw::Load(slot->call);
      const uint32_t function = call & 0xFF;
      const uint32_t parts = call & kParts;
      if (function >= layout::kClock) [[unlikely]] {
        if (function == layout::kStop) {
          if (parts != 0) BeginParts(parts, function, slot);
          return false;
        }
        ReplyToClock(slot);
        if constexpr (kTimed) continue;
        return true;
      }
      TakeArguments(slot->call - kCallOffset + kArgumentsOffset, call >> 8 & kCountMask,
                    call >> 16);
      const uint32_t task = fw::Load(slot->call - kCallOffset + offsetof(layout::Record, task));
      task_.Set(task);
      [[maybe_unused]] const uint64_t begin = kTimed ? WallClock() : 0;
      if (parts != 0) [[unlikely]] {
        CallParts(parts, function, slot);
      } else {
        caller_.Call(function - 1);
        task_.Clear();
      }
      [[maybe_unused]] const uint64_t end = kTimed ? WallClock() : 0;
      Free(slot);
      if constexpr (kTimed) WriteTime(task, begin, end - begin);
    }
  }

 private:
  static constexpr uint32_t kSemaphoreStride = sizeof(ttfd::abi::SemaphoreWord);
  static constexpr uint32_t kCallOffset = offsetof(layout::Record, call);
  static constexpr uint32_t kArgumentsOffset = offsetof(layout::Record, arguments);
  static constexpr uint32_t kCountMask = layout::kConfigured - 1;  // of Call::arguments
  static constexpr uint32_t kConfigured = layout::kConfigured << 8;
  static constexpr uint32_t kParts =
      (layout::kNcriscPart | layout::kComputePart) << 8 | kConfigured;

  // A slot of the mailbox.
  struct Slot {
    uint32_t call;  // L1 address of its Record::call; not 0 when there is a task
    uint32_t flip;  // what flips its completion bit: addition and subtraction in turn
  };

  [[gnu::always_inline]] Slot* AwaitTask(Slot* next) {
    const uint32_t first = slots_[0].call, second = slots_[1].call;
    fw::WaitForMemory(ttfd::abi::kWaypointSemaphore,
                      [first, second] { return (fw::Load(first) | fw::Load(second)) != 0; });
    if (fw::Load(next->call) != 0) return next;
    return next == &slots_[0] ? &slots_[1] : &slots_[0];
  }

  // Lets the scheduler write to the slot.
  void Free(Slot* slot) { Increment({scheduler_, done_}, Clear(slot)); }
  // Empties the slot. Returns what is to be added to the word of completion bits.
  static uint32_t Clear(Slot* slot) {
    fw::Store(slot->call, 0);
    const uint32_t flip = slot->flip;
    slot->flip = -flip;
    return flip;
  }

  // Calls a function with followers, or with a configuration, or both.
  [[gnu::noinline]] void CallParts(uint32_t parts, uint32_t function, const Slot* slot) {
    const bool is_configured = (parts & kConfigured) != 0;
    const uint32_t message = is_configured ? Configure(slot) : 0;
    BeginParts(parts, function, slot);
    if (is_configured) {
      caller_.CallWith(function - 1, message);
    } else {
      caller_.Call(function - 1);
    }
    task_.Clear();  // the followers' notes remain until they have ended
    AwaitParts();
  }

  // Reads the configuration of the task in a slot. Returns the L1 address of the launch message for its kernels.
  [[gnu::noinline]] uint32_t Configure(const Slot* slot) {
    const uint32_t arguments = slot->call - kCallOffset + kArgumentsOffset;
    const uint32_t message =
        layout::MessageAddress(CircularBuffer(Optional(layout::kConfiguration)).address());
    const uint32_t header = message + layout::kMessageBytes;
    const InterleavedBuffer pages(words_.configurations, layout::kBlockBytes);
    Read(pages.Page(fw::Load(arguments)), header, fw::Load(arguments + 4));
    ReadBarrier();
    const auto& given = *L1Pointer<const layout::Configuration>(header);
    const uint32_t config = header + sizeof(layout::Configuration);
    const uint32_t arena = CircularBuffer(Optional(layout::kArena)).address();
    for (uint32_t i = 0; i != given.circular_buffers; ++i) {
      const uint32_t address = config + i * sizeof(ttfd::abi::CircularBufferConfig);
      fw::Store(address, fw::Load(address) + arena);
      const uint32_t state =
          ttfd::abi::kCircularBufferStateAddress + i * sizeof(ttfd::abi::CircularBufferState);
      fw::Store(state + offsetof(ttfd::abi::CircularBufferState, pushed), 0);
      fw::Store(state + offsetof(ttfd::abi::CircularBufferState, popped), 0);
    }
    const auto* const patch = L1Pointer<const layout::Patch>(config + given.first_patch);
    for (uint32_t i = 0; i != given.patches; ++i) {
      fw::Store(config + 4u * patch[i].word, fw::Load(buffers_ + 4u * patch[i].buffer));
    }
    WriteMessage(message, given, config);
    return message;
  }
  static void WriteMessage(uint32_t to, const layout::Configuration& given, uint32_t config) {
    using ttfd::abi::LaunchMessage;
    const auto& own = *L1Pointer<const LaunchMessage>(internal::Context().launch_message_address);
    auto& message = *L1Pointer<LaunchMessage>(to);
    message = {};
    message.config_address = config;
    message.circular_buffer_count = given.circular_buffers;
    message.program_id = own.program_id;
    message.print_tag = own.print_tag;
    for (uint32_t hart = 0; hart != hw::kHarts; ++hart) {
      message.arguments[hart].common_offset = given.common[hart].offset;
      message.arguments[hart].common_count = given.common[hart].count;
    }
  }

  // Lets followers call their parts of the function of the task in a slot, or end.
  [[gnu::noinline]] void BeginParts(uint32_t parts, uint32_t function, const Slot* slot) {
    const uint32_t configured = (parts & kConfigured) != 0 ? layout::kWithConfiguration : 0;
    const uint32_t call = function | (slot->call - slots_[0].call) << 8 | configured;
    fw::Fence();  // the task's arguments are stored first
    if ((parts & layout::kNcriscPart << 8) != 0) fw::Store(FollowerOf(hw::kNcrisc), call);
    if ((parts & layout::kComputePart << 8) == 0) return;
    for (uint32_t hart = hw::kTrisc0; hart <= hw::kTrisc2; ++hart) {
      fw::Store(FollowerOf(hart), call);
    }
  }
  [[gnu::noinline]] void AwaitParts() const {
    fw::WaitForMemory(ttfd::abi::kWaypointSemaphore, [this] {
      uint32_t left = 0;
      for (uint32_t hart = hw::kNcrisc; hart <= hw::kTrisc2; ++hart) {
        left |= fw::Load(FollowerOf(hart));
      }
      return left == 0;
    });
  }
  // L1 address of its semaphore.
  uint32_t FollowerOf(uint32_t hart) const { return followers_ + hart * kSemaphoreStride; }

  [[gnu::noinline]] void ReplyToClock(Slot* slot) {
    const uint64_t now = WallClock();
    const uint32_t address = slot->call - kCallOffset + kArgumentsOffset;
    const layout::ClockMessage message = {
        .scheduler = {fw::Load(address), fw::Load(address + 4)},
        .shortest = fw::Load(address + offsetof(layout::ClockMessage, shortest)),
        .last = fw::Load(address + offsetof(layout::ClockMessage, last))};
    Free(slot);
    alignas(16) static layout::ClockPair pair;
    if (message.shortest != 0) {
      pair.worker = clock_;
      pair.scheduler = uint64_t{message.scheduler[1]} << 32 | message.scheduler[0];
    }
    clock_ = now;
    if (message.last == 0) return;
    Write(L1AddressOf(&pair), Timeline().Page(0, number_ * sizeof(pair)), sizeof(pair));
  }

  InterleavedBuffer Timeline() const { return {words_.timeline, layout::kBlockBytes}; }

  [[gnu::noinline]] void WriteTime(uint32_t task, uint64_t begin, uint64_t clocks) {
    alignas(16) static layout::TaskTime time;
    WritesFlushedBarrier();  // the one before has left
    time.begin = begin;
    time.clocks = clocks >> 32 == 0 ? static_cast<uint32_t>(clocks) : ~0u;
    time.worker = 1 + number_;
    Write(L1AddressOf(&time),
          Timeline().Page(1 + task / layout::kTimesPerPage,
                          task % layout::kTimesPerPage * sizeof(time)),
          sizeof(time));
  }

  // Sets the arguments of a task; those that it does not have are 0.
  [[gnu::always_inline]] void TakeArguments(uint32_t from, uint32_t count, uint32_t buffers) {
    if ((count | given_) > layout::kInlineArguments) [[unlikely]] {
      TakeManyArguments(from, count);
    } else {
      CopyArguments<layout::kInlineArguments>(from);
    }
    for (uint32_t i = 0; buffers != 0; ++i, buffers >>= 1) {
      if ((buffers & 1) == 0) continue;
      const uint32_t at = caller_.arguments() + 4 * i;
      fw::Store(at, fw::Load(buffers_ + 4 * fw::Load(at)));
    }
  }

  template <uint32_t kCount>
  [[gnu::always_inline]] void CopyArguments(uint32_t from) {
    const uint32_t to = caller_.arguments();
#pragma GCC unroll 8
    for (uint32_t i = 0; i != kCount; ++i) fw::Store(to + 4 * i, fw::Load(from + 4 * i));
  }

  // The task, or the one before it, has more arguments than a record.
  [[gnu::noinline]] void TakeManyArguments(uint32_t from, uint32_t count) {
    const bool many = count > layout::kInlineArguments;
    if (many) {
      CopyArguments<layout::kArguments>(ReadExtension(fw::Load(from)));
    } else {
      CopyArguments<layout::kInlineArguments>(from);
      for (uint32_t i = layout::kInlineArguments; i != layout::kArguments; ++i) {
        caller_.SetArgument(i, 0);
      }
    }
    given_ = many ? layout::kArguments : 0;
  }

  // Returns the L1 address of the copy.
  uint32_t ReadExtension(uint32_t number) {
    constexpr uint32_t kBytes = sizeof(layout::Extension), kPerBlock = layout::kBlockBytes / kBytes;
    static_assert(kBytes == hw::kDramAlignment);
    const uint32_t after =
        CircularBuffer(layout::kMailbox).address() + layout::kMailboxSlots * layout::kSentBytes;
    const uint32_t to = (after + kBytes - 1) & ~(kBytes - 1);
    const InterleavedBuffer records(words_.records, layout::kBlockBytes);
    Read(records.Page(words_.blocks + number / kPerBlock, number % kPerBlock * kBytes), to, kBytes);
    ReadBarrier();
    return to;
  }

  const layout::WorkerWords& words_;
  const uint32_t buffers_;    // L1 address of the table of the buffers' addresses
  const uint32_t scheduler_;  // NoC coordinate
  Caller caller_;
  Note task_{ttfd::abi::NoteKind('t', 'a', 's', 'k')};
  uint32_t followers_;  // L1 address of the first semaphore
  uint32_t number_;     // this worker's
  uint32_t done_;       // L1 address of the word of completion bits
  Slot slots_[layout::kMailboxSlots];
  uint64_t clock_ = 0;  // of the last ClockMessage
  uint32_t given_ = 0;  // arguments of the last task, if they were many
};

}  // namespace

void kernel_main() {
  Worker worker(CommonArguments<layout::WorkerWords>());
  worker.Begin();
  if (worker.Run</*kTimed=*/false>()) worker.Run</*kTimed=*/true>();
}
