// The scheduler of a task graph: counts predecessors, sends ready tasks to workers that have a free mailbox slot, and
// releases blocks of the window. BRISC of a tile of its own.
//
// The inner loops bound how many tasks a second a graph can run, so their state is in registers. The rows graph.* of
// docs/benchmarks.md have the clocks of a task.
#include <ttfd/kernel.h>

#include "firmware/graph/layout.h"

using namespace ttfd::kernel;
namespace fw = ttfd::firmware;
namespace hw = ttfd::hw;
namespace layout = ttfd::graph::layout;

namespace {

constexpr uint32_t kSlots = layout::kWorkersPerWord * layout::kMailboxSlots;
constexpr uint32_t kFirstSlots = (1u << layout::kWorkersPerWord) - 1;
constexpr uint32_t kDoneStride = sizeof(ttfd::abi::SemaphoreWord);

// Index of the lowest bit, in one instruction of Zbb.
inline uint32_t LowestBit(uint32_t bits) {
  uint32_t index;
  asm(".insn i 0x13, 1, %0, %1, 0x601" : "=r"(index) : "r"(bits));
  return index;
}
// `base` + 8 * `index`, in one instruction of Zba.
inline uint32_t Plus8(uint32_t base, uint32_t index) {
  uint32_t sum;
  asm(".insn r 0x33, 6, 0x10, %0, %1, %2" : "=r"(sum) : "r"(index), "r"(base));
  return sum;
}

// Writes of kSentBytes from this tile's L1, whose constant fields are set once. Nothing else may issue commands.
class Sender {
 public:
  Sender() {
    Buffer::InitializeWrite(fw::kWriteControl, internal::kWriteId);
    Buffer::Set(hw::kNocTargetHigh, internal::OwnXy());
    Buffer::Set(hw::kNocLength, layout::kSentBytes);
  }
  [[gnu::always_inline]] void Send(uint32_t from, uint32_t tile, uint32_t to) const {
    Buffer::AwaitFree();
    Buffer::Set(hw::kNocTargetLow, from);
    Buffer::Set(hw::kNocReturnLow, to);
    Buffer::Set(hw::kNocReturnHigh, tile);
    Buffer::Issue();
  }
  // Waits until as many more writes as a word has workers may be issued.
  [[gnu::always_inline]] void AwaitSpace() const {
    fw::WaitUntil(ttfd::abi::kWaypointNoc, [] {
      return internal::Outstanding(internal::kWriteId) <
             internal::kMaxOutstanding - layout::kWorkersPerWord;
    });
  }

 private:
  using Buffer = internal::Buffer;
};

// A mailbox slot.
struct Slot {
  uint32_t running;  // L1 address of the record that was sent there last
  uint32_t tile;     // NoC coordinate
};

// Up to kWorkersPerWord workers of one class, whose slots are bits: slot b / kWorkersPerWord of worker
// b % kWorkersPerWord is bit b.
struct Word {
  Slot slots[kSlots];
  uint32_t* ready;  // head of the list that they serve
  uint32_t all;     // slots
  uint32_t free;
  uint32_t seen;  // completion bits: those that differ from them have become free
};

// Lists of ready tasks by class, and of ready joins: chains of records, last in first out.
using ReadyLists = uint32_t[layout::kLists];

// Counts one predecessor less; a task without any is ready.
[[gnu::always_inline]] inline void Arrive(uint32_t record, uint32_t* ready) {
  auto* const task = L1Pointer<layout::Record>(record);
  const uint32_t left = task->left - 1u;
  task->left = static_cast<uint16_t>(left);
  if (left != 0) return;
  uint32_t* const list = ready + task->list;
  task->next = *list;
  *list = record;
}

// The blocks of the ring, which begins at a multiple of kBlockBytes.
class Window {
 public:
  explicit Window(const layout::ScheduleWords& given)
      : begin_(layout::WindowBegin(CircularBuffer(layout::kWindow).address())),
        end_(begin_ + given.window * layout::kBlockBytes),
        blocks_(given.blocks),
        reach_(given.reach),
        loaded_at_(Semaphore(layout::kLoaded).address()),
        released_word_(layout::kReleased),
        next_(begin_),
        oldest_(begin_) {
    Await();
  }

  uint32_t begin() const { return begin_; }
  bool ended() const { return released_ == blocks_; }
  uint32_t released() const { return released_; }
  uint32_t loaded_at() const { return loaded_at_; }
  uint32_t awaited() const { return awaited_; }

  // Lets the tasks of one more block be sent, if their successors are all in the window.
  [[gnu::always_inline]] void Advance(uint32_t* ready) {
    if (fw::Load(loaded_at_) >= awaited_) AdvanceOver(ready);
  }

  // Ends the streamer.
  void Close() { released_word_.Set(layout::kNoMore); }

  // The last task of a block has ended: the oldest blocks that have none left may be written over.
  [[gnu::noinline]] void Release() {
    uint32_t freed = 0;
    // The ring may be full of blocks that have not ended: then both are equal at first.
    for (; oldest_ != next_ || freed == 0; ++freed) {
      if (L1Pointer<const layout::Record>(oldest_)->block_left != 0) break;
      oldest_ += layout::kBlockBytes;
      if (oldest_ == end_) oldest_ = begin_;
    }
    released_ += freed;
    released_word_.Set(released_);
  }

 private:
  [[gnu::noinline]] void AdvanceOver(uint32_t* ready) {
    fw::Fence();
    ++allowed_;
    Await();
    uint32_t record = next_;
    next_ += layout::kBlockBytes;
    if (next_ == end_) next_ = begin_;
#pragma GCC unroll 4
    for (uint32_t i = 0; i != layout::kBlockRecords; ++i, record += sizeof(layout::Record)) {
      Arrive(record, ready);
    }
  }

  void Await() { awaited_ = allowed_ == blocks_ ? ~0u : allowed_ + 1 + reach_; }

  const uint32_t begin_;
  const uint32_t end_;
  const uint32_t blocks_;
  const uint32_t reach_;
  const uint32_t loaded_at_;
  Semaphore released_word_;  // for the streamer
  uint32_t released_ = 0;
  uint32_t allowed_ = 0;  // blocks whose tasks may be sent
  uint32_t awaited_ = 0;  // blocks that must be loaded until the next one may
  uint32_t next_;         // L1 address of the first that may not
  uint32_t oldest_;       // L1 address of the oldest that is not released
};

// One task has ended, or one join.
[[gnu::always_inline]] inline void End(uint32_t record, uint32_t begin, uint32_t* ready,
                                       Window* window) {
  const auto* const task = L1Pointer<const layout::Record>(record);
  const uint16_t* successor = task->successor;
  for (const uint16_t* const end = successor + task->successors; successor != end; ++successor) {
    Arrive(Plus8(begin, *successor), ready);
  }
  auto* const block = L1Pointer<layout::Record>(record & ~(layout::kBlockBytes - 1));
  const uint32_t left = block->block_left - 1u;
  block->block_left = static_cast<uint8_t>(left);
  if (left == 0) [[unlikely]] {
    window->Release();
  }
}

class Scheduler {
 public:
  explicit Scheduler(const layout::ScheduleWords& given)
      : given_(given),
        end_(words_ + given.words),
        mailbox_(CircularBuffer(layout::kMailbox).address()),
        done_(Semaphore(0).address()),
        control_(L1Pointer<layout::Control>(given.control)),
        // One that cannot be cancelled is ahead of every cancelled one.
        run_(given.run != 0 ? given.run : control_->cancelled + (1u << 30)),
        window_(given) {
    for (uint32_t& head : ready_) head = 0;
    const auto* tile = reinterpret_cast<const uint16_t*>(&given + 1);
    const uint8_t* list = given.list;
    for (Word* word = words_; word != end_; ++word) {
      word->ready = &ready_[*list++];
      uint32_t all = 0;
      for (uint32_t i = 0; i != layout::kWorkersPerWord; ++i, ++tile) {
        if (*tile == layout::kNoTile) continue;
        const uint32_t at = *tile;
        const uint32_t xy = TileAt({at & 0xFF, at >> 8});
        word->slots[i].tile = word->slots[i + layout::kWorkersPerWord].tile = xy;
        all |= (1u | 1u << layout::kWorkersPerWord) << i;
      }
      word->all = word->free = word->seen = all;
    }
  }

  void Run() {
    AwaitWorkers();
    if (given_.timed != 0) ExchangeClocks();
    const uint64_t start = WallClock();
    uint32_t rounds = 0;
    bool cancelled = false;
    for (; !window_.ended(); ++rounds) {
      AwaitChange();
      if (IsCancelled()) {
        cancelled = true;
        AwaitIdle();
        window_.Close();
        break;
      }
      window_.Advance(ready_);
      TakeEnds();
      if (ready_[layout::kJoin] != 0) EndJoins();
      SendTasks();
    }
    layout::Report* const report = &control_->report;
    report->run = given_.run;
    report->cancelled = cancelled ? 1 : 0;
    report->blocks = window_.released();
    report->clocks = WallClock() - start;
    report->rounds = rounds;
    StopWorkers();
  }

 private:
  // Workers report both slots free when they have cleared them.
  void AwaitWorkers() const {
    uint32_t at = done_;
    for (const Word* word = words_; word != end_; ++word, at += kDoneStride) {
      const uint32_t all = word->seen;
      fw::WaitForMemory(ttfd::abi::kWaypointSemaphore, [at, all] { return fw::Load(at) == all; });
    }
  }

  // Sends each worker the clock of this tile, for the timeline.
  void ExchangeClocks() {
    uint32_t at = done_;
    for (Word* word = words_; word != end_; ++word, at += kDoneStride) {
      for (uint32_t bits = word->all & kFirstSlots; bits != 0; bits &= bits - 1) {
        ExchangeClocks(word, LowestBit(bits), at);
      }
    }
  }

  // `done`: L1 address of the word's completion bits.
  [[gnu::noinline]] void ExchangeClocks(Word* word, uint32_t worker, uint32_t done) {
    alignas(16) static layout::Record record;
    record.call.function = layout::kClock;
    auto* const message = L1Pointer<layout::ClockMessage>(L1AddressOf(record.arguments));
    uint64_t shortest = ~uint64_t{0};
    message->shortest = 0;
    for (uint32_t left = layout::kClockExchanges + 1; left != 0; --left) {
      message->last = left == 1 ? 1 : 0;
      internal::SettleStores(L1AddressOf(&record.call));
      const uint32_t replied = word->seen ^= 1u << worker;
      const uint64_t sent = WallClock();
      sender_.Send(L1AddressOf(&record), word->slots[worker].tile, mailbox_);
      fw::WaitForMemory(ttfd::abi::kWaypointSemaphore,
                        [done, replied] { return fw::Load(done) == replied; });
      const uint64_t clocks = WallClock() - sent;
      const uint64_t middle = sent + clocks / 2;
      message->scheduler[0] = static_cast<uint32_t>(middle);
      message->scheduler[1] = static_cast<uint32_t>(middle >> 32);
      message->shortest = clocks < shortest ? 1 : 0;
      if (clocks < shortest) shortest = clocks;
    }
  }

  [[gnu::always_inline]] bool IsCancelled() const {
    const uint32_t cancelled = fw::Load(L1AddressOf(&control_->cancelled));
    return static_cast<int32_t>(cancelled - run_) >= 0;
  }

  // Waits until no task runs.
  void AwaitIdle() {
    uint32_t at = done_;
    for (Word* word = words_; word != end_; ++word, at += kDoneStride) {
      const uint32_t wanted = word->seen ^ (word->all & ~word->free);
      fw::WaitForMemory(ttfd::abi::kWaypointSemaphore,
                        [at, wanted] { return fw::Load(at) == wanted; });
      word->free = word->all;
    }
  }

  // Waits until a slot has become free, a block has come, or the run is cancelled.
  [[gnu::always_inline]] void AwaitChange() const {
    const Word* const begin = words_;
    const Word* const end = end_;
    const uint32_t done = done_, loaded_at = window_.loaded_at(), awaited = window_.awaited();
    fw::WaitForMemory(ttfd::abi::kWaypointSemaphore, [this, begin, end, done, loaded_at, awaited] {
      uint32_t at = done;
      for (const Word* word = begin; word != end; ++word, at += kDoneStride) {
        if (fw::Load(at) != word->seen) return true;
      }
      return fw::Load(loaded_at) >= awaited || IsCancelled();
    });
  }

  // Takes the slots that have become free.
  [[gnu::always_inline]] void TakeEnds() {
    const uint32_t begin = window_.begin();
    uint32_t at = done_;
    for (Word* word = words_; word != end_; ++word, at += kDoneStride) {
      const uint32_t now = fw::Load(at);
      uint32_t bits = now ^ word->seen;
      if (bits == 0) continue;
      word->seen = now;
      word->free |= bits;
      do {
        const uint32_t slot = Plus8(L1AddressOf(word->slots), LowestBit(bits));
        End(L1Pointer<const Slot>(slot)->running, begin, ready_, &window_);
        bits &= bits - 1;
      } while (bits != 0);
    }
  }

  [[gnu::noinline]] void EndJoins() {
    for (uint32_t join; (join = ready_[layout::kJoin]) != 0;) {
      ready_[layout::kJoin] = L1Pointer<const layout::Record>(join)->next;
      End(join, window_.begin(), ready_, &window_);
    }
  }

  // Sends ready tasks: first to workers that have nothing to do.
  [[gnu::always_inline]] void SendTasks() {
    const uint32_t mailbox = mailbox_;
    bool more = false;  // are left
    for (Word* word = words_; word != end_; ++word) {
      if (*word->ready == 0) continue;
      const uint32_t free = word->free;
      const uint32_t idle = free & free >> layout::kWorkersPerWord & kFirstSlots;
      if (idle != 0) word->free = free ^ Fill(word, idle, mailbox);
      more |= *word->ready != 0;
    }
    if (more) SendToBusyWorkers();
  }

  [[gnu::noinline]] void SendToBusyWorkers() {
    for (Word* word = words_; word != end_; ++word) {
      if (*word->ready == 0) continue;
      const uint32_t first = word->free & kFirstSlots, second = word->free & ~kFirstSlots;
      if (first != 0) word->free ^= Fill(word, first, mailbox_);
      if (*word->ready == 0 || second == 0) continue;
      word->free ^= Fill(word, second, mailbox_ + layout::kSentBytes);
    }
  }

  // Sends tasks of the word's list, which has some, to `slots`. Returns those that got one.
  [[gnu::always_inline]] uint32_t Fill(Word* word, uint32_t slots, uint32_t mailbox) {
    sender_.AwaitSpace();
    uint32_t left = slots;
    uint32_t record = *word->ready;
    do {
      auto* const slot = L1Pointer<Slot>(Plus8(L1AddressOf(word->slots), LowestBit(left)));
      slot->running = record;
      sender_.Send(record, slot->tile, mailbox);
      left &= left - 1;
      record = L1Pointer<const layout::Record>(record)->next;
    } while (record != 0 && left != 0);
    *word->ready = record;
    return slots ^ left;
  }

  void StopWorkers() {
    alignas(16) static layout::Record stop;
    stop.call.function = layout::kStop;
    stop.call.arguments = static_cast<uint8_t>(given_.parts);
    internal::SettleStores(L1AddressOf(&stop.call));
    ready_[0] = L1AddressOf(&stop);
    stop.next = ready_[0];  // as many as are wanted
    for (Word* word = words_; word != end_; ++word) {
      word->ready = &ready_[0];
      Fill(word, word->free & kFirstSlots, mailbox_);
    }
  }

  const layout::ScheduleWords& given_;
  Word* const end_;
  const uint32_t mailbox_;
  const uint32_t done_;  // L1 address of the first word of completion bits
  layout::Control* const control_;
  const uint32_t run_;
  const Sender sender_;
  Window window_;
  ReadyLists ready_;
  Word words_[layout::kWorkerWords];
};

}  // namespace

void kernel_main() {
  Scheduler scheduler(CommonArguments<layout::ScheduleWords>());
  scheduler.Run();
}
