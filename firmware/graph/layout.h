// Bytes of a task graph that the host writes and the kernels of firmware/graph read: plain C++, also for the host.
//
// A graph is a list of records in a DRAM buffer, in an order in which every task comes after its predecessors. A launch
// starts three kernels: the streamer copies blocks of records into the window in the scheduler tile's L1, the scheduler
// counts predecessors there and sends ready tasks to workers, and a worker calls the task's function. The records in
// DRAM are never written, so a launch leaves nothing that the next one would have to reset.
//
// The window is a ring of blocks. A record's successors are named by their places in the ring: the scheduler sends no
// task before all its successors are in the window, which it ensures by keeping `reach` blocks between the tasks that
// it may send and the end of what is loaded. Edges longer than the reach are not in the records: the window has moved
// on from a task, and so the task has ended, before a successor so far away may be sent. The last blocks are followed
// by `reach` blocks that do not exist, and count as loaded when they could be.
#pragma once

#include <stdint.h>

namespace ttfd::graph::layout {

inline constexpr uint32_t kBlockRecords = 64;
inline constexpr uint32_t kSuccessors = 11;  // of one record; more need join records
inline constexpr uint32_t kSuccessorUnit = 8;
inline constexpr uint32_t kInlineArguments = 6;  // in the record
inline constexpr uint32_t kArguments = 16;       // of one task
inline constexpr uint32_t kWorkersPerWord = 16;  // in a word of completion bits
inline constexpr uint32_t kWorkerWords = 14;     // at most
inline constexpr uint32_t kWorkers = kWorkersPerWord * kWorkerWords;
inline constexpr uint32_t kFunctions = 64;  // callable kernels of one program
inline constexpr uint32_t kLists = kWorkerWords + 1;
inline constexpr uint32_t kJoin = kWorkerWords;  // Record::list of a record without a function

// Record::call: what a worker is to do.
struct Call {
  // 1 + number of the function. 0: a join, which ends when it is ready. Or kClock or kStop.
  uint8_t function;
  uint8_t arguments;  // how many; kNcriscPart and kComputePart of a function with these parts
  uint16_t buffers;   // bit i: argument i is an index into the graph's buffers
};
static_assert(sizeof(Call) == 4);
inline constexpr uint8_t kNcriscPart = 0x40, kComputePart = 0x80;
// The task has a Configuration: argument 0 is its page, argument 1 its bytes, and the function has no others.
inline constexpr uint8_t kConfigured = 0x20;
inline constexpr uint8_t kClock = 254;  // the worker replies at once: ClockMessage
inline constexpr uint8_t kStop = 255;   // the worker's kernel ends

struct Record {
  // The first half is sent to the worker.
  uint32_t task;  // its number in the graph, for reports
  // The arguments, or, if they are more than kInlineArguments, the number of the Extension that has them.
  uint32_t arguments[kInlineArguments];
  Call call;  // lands last, and is not 0: the worker waits for it
  // The second half is the scheduler's.
  uint32_t next;  // of its ready list: an L1 address. 0 in DRAM
  uint16_t left;  // predecessors that have not ended, and 1 until the task may be sent
  uint8_t list;   // of workers that may run it: its ready list. kJoin: none runs it
  uint8_t successors;
  uint8_t block_left;  // of the first record of a block: records of the block that have not ended
  uint8_t reserved;
  uint16_t successor[kSuccessors];  // offsets in the window, in units of kSuccessorUnit bytes
};
static_assert(sizeof(Record) == 64);
inline constexpr uint32_t kSentBytes = 32;
inline constexpr uint32_t kBlockBytes = kBlockRecords * sizeof(Record);

// Arguments of a task that has many. The extensions follow the blocks of records, kBlockBytes of them a page.
struct Extension {
  uint32_t arguments[kArguments];
};
static_assert(sizeof(Extension) == sizeof(Record));

// Circular buffers and common arguments of a task, as a launch gives them to kernels: the configurations are pages of
// kBlockBytes of a DRAM buffer. Behind this follow the circular buffers, which are abi::CircularBufferConfig with
// addresses from the begin of circular buffer kArena on, then common words, then patches: for each a word, counted from
// the circular buffers, and the index of the buffer whose address it becomes.
struct Configuration {
  struct Words {
    uint16_t offset;  // bytes from the circular buffers
    uint16_t count;
  };
  Words common[5];  // by hart
  uint16_t circular_buffers;
  uint16_t patches;
  uint16_t first_patch;  // bytes from the circular buffers
  uint16_t reserved[3];
};
static_assert(sizeof(Configuration) == 32);
struct Patch {
  uint16_t word;
  uint16_t buffer;
};
// In L1 the launch message of the task comes first, at a multiple of kConfigurationAlignment.
inline constexpr uint32_t kConfigurationAlignment = 64, kMessageBytes = 128;
inline constexpr uint32_t kConfigurationSpace =
    kConfigurationAlignment + kMessageBytes + kBlockBytes;
constexpr uint32_t MessageAddress(uint32_t circular_buffer) {
  return (circular_buffer + kConfigurationAlignment - 1) & ~(kConfigurationAlignment - 1);
}

// The timeline of a launch, where it is wanted: a DRAM buffer of pages of kBlockBytes. The first page has a ClockPair
// of each worker, the next ones a TaskTime of each task, by number.
//
// Tiles count clocks from epochs of their own. Before the first task the scheduler sends each worker messages, one by
// one: the worker's clock when it gets one is taken for that of the scheduler halfway between the message and the
// reply. The exchange that took the least time counts.
struct ClockPair {
  uint64_t worker;
  uint64_t scheduler;  // at the same time
};
struct TaskTime {
  uint64_t begin;   // of its function, by the clock of the worker
  uint32_t clocks;  // to its end, at most 2^32 - 1
  uint32_t worker;  // 1 + its number. 0: the task has not run
};
static_assert(sizeof(ClockPair) == 16 && sizeof(TaskTime) == 16);
static_assert(kWorkers * sizeof(ClockPair) <= kBlockBytes);
inline constexpr uint32_t kClockExchanges = 8;  // and a message that ends them
inline constexpr uint32_t kTimesPerPage = kBlockBytes / sizeof(TaskTime);
// Record::arguments of a record of kClock.
struct ClockMessage {
  uint32_t scheduler[2];  // halfway through the exchange before, low half first
  uint32_t shortest;      // 1: that one is the shortest so far
  uint32_t last;          // 1: the worker writes the ClockPair of the shortest
};

// Position of a worker tile, x in the low byte. kNoTile: none, the last places of a list.
constexpr uint16_t PackTile(uint32_t x, uint32_t y) { return static_cast<uint16_t>(x | y << 8); }
inline constexpr uint16_t kNoTile = 0xFFFF;

// Figures of a launch, which it leaves in its Control.
struct Report {
  uint32_t run;        // ScheduleWords::run
  uint32_t cancelled;  // 1: it was cancelled
  uint32_t blocks;     // that have ended
  uint32_t rounds;     // of the scheduler's loop
  uint64_t clocks;     // from the first task that may be sent to the end of the last
  uint32_t reserved[10];
};
static_assert(sizeof(Report) == 64);

// A buffer in the L1 of the scheduler's tile. The host may write to the first half while a launch runs.
struct Control {
  uint32_t cancelled;  // runs up to this number end without sending further tasks
  uint32_t reserved[15];
  Report report;
};
static_assert(sizeof(Control) == 128);

// Common words of the scheduler and the streamer.
struct ScheduleWords {
  uint32_t records;  // address of the DRAM buffer, pages of kBlockBytes
  uint32_t blocks;   // of records, the last one filled up with joins
  uint32_t window;   // blocks of the ring
  uint32_t reach;    // blocks; less than the window
  uint32_t control;  // address of the Control in L1
  uint32_t run;      // number, for Control::cancelled; 0: cannot be cancelled
  uint32_t words;    // of completion bits: each has the workers of one ready list
  uint32_t parts;    // kNcriscPart and kComputePart: followers that there are
  uint32_t timed;    // 1: with a timeline
  uint8_t list[(kWorkerWords + 3) / 4 * 4];  // by word
  // uint16_t tiles[words * kWorkersPerWord] follow: the workers, PackTile.
};

// Common words of the workers.
struct WorkerWords {
  uint32_t records;    // as above
  uint32_t blocks;     // as above: extensions lie behind them
  uint32_t scheduler;  // PackTile
  uint32_t
      timeline;  // address of the DRAM buffer, if the launch has one: then ClockMessages come first
  uint32_t configurations;  // address of the DRAM buffer
  uint16_t columns;         // of the worker grid
  uint16_t map_words;
  uint32_t arguments[kArguments];  // space for those of the running task
  // uint8_t numbers[4 * map_words] follow, by tile, row by row: the worker's place in ScheduleWords' tiles. Then the
  // addresses of the graph's buffers.
};
// Common words of the followers of a hart.
struct FollowerWords {
  uint8_t callable
      [kFunctions];  // by function: the number of its part among the program's callable kernels
};

// Words of a launch that are the addresses of buffers, at most.
constexpr uint32_t MaxBuffers(uint32_t map_words) {
  return 256 - static_cast<uint32_t>(sizeof(WorkerWords) / 4) - map_words;
}

// Circular buffers, the last ones of a program, for functions use the first. Space for the circular buffers of a task
// with a configuration, and for the configuration, which begins at a multiple of its alignment. A worker's mailbox: its
// slots, then space for an Extension at a multiple of its size; at the same address on the scheduler's tile. And the
// window: blocks as pages and one more, for it begins at a multiple of kBlockBytes.
inline constexpr uint32_t kArena = 28, kConfiguration = 29, kMailbox = 30, kWindow = 31;
inline constexpr uint32_t kMailboxSlots = 2;
inline constexpr uint32_t kMailboxPages = kMailboxSlots + 2 * sizeof(Extension) / kSentBytes;
constexpr uint32_t WindowBegin(uint32_t circular_buffer) {
  return (circular_buffer + kBlockBytes - 1) & ~(kBlockBytes - 1);
}

// Records name successors by 16 bits.
inline constexpr uint32_t kMostWindowBlocks = kSuccessorUnit * 0x10000 / kBlockBytes;

// Semaphores of a worker's tile, by hart: what its follower is to do, as function, or kStop, and 256 * offset of the
// mailbox slot that has the task; kWithConfiguration of a task that has one. The follower makes it 0 when its part has
// ended.
inline constexpr uint32_t kWithConfiguration = 1u << 31;
//
// Semaphores of the scheduler's tile. Bit b of word w is flipped when the worker's slot b / kWorkersPerWord has become
// free.
inline constexpr uint32_t kLoaded = kWorkerWords;  // blocks that the streamer has brought
inline constexpr uint32_t kReleased =
    kWorkerWords + 1;                            // blocks all of whose tasks have ended, or kNoMore
inline constexpr uint32_t kNoMore = 0xFFFFFFFF;  // the run was cancelled
inline constexpr uint32_t kSemaphores = kWorkerWords + 2;

}  // namespace ttfd::graph::layout
