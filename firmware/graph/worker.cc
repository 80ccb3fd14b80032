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
      : buffers_(L1AddressOf(&words + 1) + 4u * words.map_words),
        extensions_(words.blocks),
        records_(words.records, layout::kBlockBytes),
        scheduler_(TileAt({words.scheduler & 0xFF, words.scheduler >> 8})),
        caller_(offsetof(layout::WorkerWords, arguments) / 4, layout::kArguments) {
    const Position own = OwnPosition();
    const auto* const numbers = reinterpret_cast<const uint8_t*>(&words + 1);
    const uint32_t number = numbers[own.y * words.columns + own.x];
    done_ = Semaphore(0).address() + 16 * (number / layout::kWorkersPerWord);
    const uint32_t mailbox = CircularBuffer(layout::kMailbox).address();
    for (uint32_t i = 0; i != layout::kMailboxSlots; ++i) {
      slots_[i] = {mailbox + i * layout::kSentBytes + kCallOffset,
                   1u << (number % layout::kWorkersPerWord + i * layout::kWorkersPerWord)};
    }
  }

  void Run() {
    for (Slot& slot : slots_) Free(&slot);
    Slot* next = &slots_[0];  // the one that is served first
    for (;;) {
      Slot* const slot = AwaitTask(next);
      next = slot == &slots_[0] ? &slots_[1] : &slots_[0];
      const uint32_t call = fw::Load(slot->call);
      const uint32_t function = call & 0xFF;
      if (function == layout::kStop) return;
      TakeArguments(slot->call - kCallOffset + offsetof(layout::Record, arguments),
                    call >> 8 & 0xFF, call >> 16);
      task_.Set(fw::Load(slot->call - kCallOffset + offsetof(layout::Record, task)));
      caller_.Call(function - 1);
      task_.Clear();
      Free(slot);
    }
  }

 private:
  static constexpr uint32_t kCallOffset = offsetof(layout::Record, call);

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
  void Free(Slot* slot) {
    fw::Store(slot->call, 0);
    Increment({scheduler_, done_}, slot->flip);
    slot->flip = -slot->flip;
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
    Read(records_.Page(extensions_ + number / kPerBlock, number % kPerBlock * kBytes), to, kBytes);
    ReadBarrier();
    return to;
  }

  const uint32_t buffers_;     // L1 address of the table of the buffers' addresses
  const uint32_t extensions_;  // first page
  const InterleavedBuffer records_;
  const uint32_t scheduler_;  // NoC coordinate
  Caller caller_;
  Note task_{ttfd::abi::NoteKind('t', 'a', 's', 'k')};
  uint32_t done_;  // L1 address of the word of completion bits
  Slot slots_[layout::kMailboxSlots];
  uint32_t given_ = 0;  // arguments of the last task, if they were many
};

}  // namespace

void kernel_main() {
  Worker worker(CommonArguments<layout::WorkerWords>());
  worker.Run();
}
