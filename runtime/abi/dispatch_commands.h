// Dispatch commands, byte for byte those of the pinned protocol (README.md). Packed structs are for
// the host; firmware reads aligned words and shifts.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ttfd::abi {

enum class DispatchId : uint8_t {
  kIllegal = 0,
  kWriteLinear = 1,
  kWriteLinearH = 2,
  kWriteLinearHHost = 3,
  kWritePaged = 4,
  kWritePacked = 5,
  kWritePackedLarge = 6,
  kWait = 7,
  kSink = 8,
  kDebug = 9,
  kDelay = 10,
  kExecBufEnd = 11,
  kSetWriteOffset = 12,
  kTerminate = 13,
  kSendGoSignal = 14,
  kNotifySubordinateGoSignal = 15,
  kSetNumWorkerSems = 16,
  kSetGoSignalNocData = 17,
  kMax = 18,
};

// Flags of WAIT, executed in this order: barrier, memory, stream, clear stream, notify.
inline constexpr uint8_t kWaitBarrier = 0x01;
inline constexpr uint8_t kWaitNotifyPrefetch = 0x02;
inline constexpr uint8_t kWaitMemory = 0x04;
inline constexpr uint8_t kWaitStream = 0x08;
inline constexpr uint8_t kWaitClearStream = 0x10;

inline constexpr uint8_t kPackedMulticast = 0x01;
inline constexpr uint8_t kPackedNoStride = 0x02;
inline constexpr uint32_t kPackedTypeShift =
    4;  // 1 runtime arguments, 2 launch, 3 semaphores, 4 event, 5 go index: diagnostic

inline constexpr uint8_t kPackedLargeUnlink = 0x01;
inline constexpr uint32_t kPackedLargeMaxCount = 35;
inline constexpr uint32_t kPackedDataAlignment = 16;
inline constexpr uint32_t kMaxWriteOffsets = 4;
inline constexpr uint8_t kNoMulticastGo = 0xFF;
// DEBUG in front of one command: the two share a page, the command's lists included.
inline constexpr uint32_t kMaxDebugCommands = 64;
inline constexpr uint32_t kMaxDelayClocks = 1u
                                            << 20;  // ours: no command holds the queue for longer

#pragma pack(push, 1)
struct WriteLinear {  // also WRITE_LINEAR_H; data follows
  DispatchId id;
  uint8_t num_mcast_dests;  // 0: unicast; else noc_xy is a rectangle word
  uint8_t write_offset_index;
  uint8_t reserved;
  uint32_t noc_xy;
  uint64_t address;
  uint64_t length;
  uint64_t reserved2;
};
static_assert(sizeof(WriteLinear) == 32);

struct WriteLinearHHost {  // echoed into the completion ring, with its data behind it
  DispatchId id;
  uint8_t is_event;
  uint16_t tag;     // events: hardware queue; data: free for the host
  uint32_t check;   // free for the host
  uint64_t length;  // 16 + data bytes
};
static_assert(sizeof(WriteLinearHHost) == 16);

struct WritePaged {  // data follows
  DispatchId id;
  uint8_t is_dram;
  uint16_t start_page;
  uint32_t base_address;
  uint32_t page_size;
  uint32_t pages;
};
static_assert(sizeof(WritePaged) == 16);

struct WritePacked {  // then sub-commands, padded to 16, then data packets, each padded to 16 (one
                      // if NO_STRIDE)
  DispatchId id;
  uint8_t flags;
  uint16_t count;
  uint16_t write_offset_index;
  uint16_t size;
  uint32_t address;
  uint32_t reserved;
};
static_assert(sizeof(WritePacked) == 16);
struct WritePackedUnicast {
  uint32_t noc_xy;
};
struct WritePackedMulticast {
  uint32_t rectangle;
  uint32_t num_mcast_dests;
};
static_assert(sizeof(WritePackedMulticast) == 8);

struct WritePackedLarge {  // then sub-commands, padded to 16, then the data of each, padded to
                           // `alignment`
  DispatchId id;
  uint8_t type;  // 1 configuration, 2 binaries: diagnostic
  uint16_t count;
  uint16_t alignment;
  uint16_t write_offset_index;
  uint64_t reserved;
};
static_assert(sizeof(WritePackedLarge) == 16);
struct WritePackedLargeTarget {
  uint32_t rectangle;  // always multicast
  uint32_t address;
  uint16_t length;
  uint8_t num_mcast_dests;
  uint8_t flags;
};
static_assert(sizeof(WritePackedLargeTarget) == 12);

struct Wait {
  DispatchId id;
  uint8_t flags;
  uint16_t stream;
  uint32_t address;
  uint32_t count;
  uint32_t reserved;
};
static_assert(sizeof(Wait) == 16);

struct SetWriteOffset {  // then offset_count words
  DispatchId id;
  uint8_t offset_count;
  uint16_t program_host_id;
  uint8_t reserved[12];
};
static_assert(sizeof(SetWriteOffset) == 16);

struct SendGoSignal {  // dispatch_s
  DispatchId id;
  uint32_t go_signal;
  uint8_t multicast_go_offset;  // index of the go word in GoArea; kNoMulticastGo: no multicast
  uint8_t num_unicast_txns;
  uint8_t noc_data_start_index;
  uint32_t wait_count;
  uint32_t wait_stream;
};
static_assert(sizeof(SendGoSignal) == 16 && offsetof(SendGoSignal, wait_count) == 8);

struct NotifySubordinate {
  DispatchId id;
  uint8_t wait;            // 1: a write barrier first
  uint16_t index_bitmask;  // one bit a sub-device
  uint8_t reserved[12];
};
static_assert(sizeof(NotifySubordinate) == 16);

struct SetNumWorkerSems {  // dispatch_s
  DispatchId id;
  uint8_t reserved[3];
  uint32_t num;
  uint64_t reserved2;
};
static_assert(sizeof(SetNumWorkerSems) == 16);

struct SetGoSignalNocData {  // dispatch_s; then num_words words: NocXy of one worker each
  DispatchId id;
  uint8_t reserved[3];
  uint32_t num_words;
  uint64_t reserved2;
};
static_assert(sizeof(SetGoSignalNocData) == 16);

struct Delay {
  DispatchId id;
  uint8_t reserved[3];
  uint32_t delay;  // clocks, at least; at most kMaxDelayClocks
  uint64_t reserved2;
};
static_assert(sizeof(Delay) == 16);

struct BareDispatch {  // SINK, DEBUG, EXEC_BUF_END, TERMINATE
  DispatchId id;
  uint8_t reserved[15];
};
static_assert(sizeof(BareDispatch) == 16);
#pragma pack(pop)

}  // namespace ttfd::abi
