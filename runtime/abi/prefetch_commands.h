// Prefetch commands, byte for byte those of the pinned protocol (README.md). Packed structs are for
// the host; firmware reads aligned words and shifts.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ttfd::abi {

enum class PrefetchId : uint8_t {
  kIllegal = 0,
  kRelayLinear = 1,
  kRelayLinearH = 2,
  kRelayPaged = 3,
  kRelayPagedPacked = 4,
  kRelayInline = 5,
  kRelayInlineNoflush = 6,
  kExecBuf = 7,
  kExecBufEnd = 8,
  kStall = 9,
  kDebug = 10,
  kTerminate = 11,
  kPagedToRingbuffer = 12,
  kSetRingbufferOffset = 13,
  kRelayRingbuffer = 14,
  kMax = 15,
};

inline constexpr uint32_t kCommandBytes = 16;
inline constexpr uint32_t kLargeCommandBytes = 32;

enum class DispatcherType : uint8_t { kDispatch = 0, kDispatchS = 1 };

#pragma pack(push, 1)
struct RelayLinear {
  PrefetchId id;
  uint16_t reserved;
  uint64_t length;
  uint32_t noc_xy;  // kNocXyPcieFlag set for host memory
  uint64_t address;
  uint8_t reserved2[9];
};
static_assert(sizeof(RelayLinear) == kLargeCommandBytes);
static_assert(offsetof(RelayLinear, length) == 3 && offsetof(RelayLinear, noc_xy) == 11 &&
              offsetof(RelayLinear, address) == 15);

struct RelayPaged {
  PrefetchId id;
  uint8_t start_page;  // bank of the first page
  uint16_t
      flags;  // bit 15 is_dram, bits 14:0 length_adjust: bytes taken off the last page, < page_size
  uint32_t base_address;
  uint32_t page_size;
  uint32_t pages;
};
static_assert(sizeof(RelayPaged) == kCommandBytes);

// RELAY_INLINE, RELAY_INLINE_NOFLUSH, EXEC_BUF_END
struct RelayInline {
  PrefetchId id;
  DispatcherType dispatcher;
  uint16_t reserved;
  uint32_t length;  // payload bytes that follow this command
  uint32_t stride;  // to the next prefetch command: AlignUp(16 + length, 64)
  uint32_t reserved2;
};
static_assert(sizeof(RelayInline) == kCommandBytes);

struct RelayPagedPacked {  // then `count` sub-commands; pages of DRAM, power-of-two sizes
  PrefetchId id;
  uint8_t reserved;
  uint16_t count;
  uint32_t total_length;  // of all sub-commands
  uint32_t stride;        // to the next prefetch command: AlignUp(16 + 12 * count, 64)
  uint32_t reserved2;
};
static_assert(sizeof(RelayPagedPacked) == kCommandBytes);
struct RelayPagedPackedTarget {
  uint16_t start_page;
  uint16_t log_page_size;
  uint32_t base_address;
  uint32_t length;  // multiple of the DRAM alignment, at most half of scratch
};
static_assert(sizeof(RelayPagedPackedTarget) == 12);

// Goes on in a buffer of prefetch commands in DRAM, up to its EXEC_BUF_END. The last command of an
// entry whose fetch slot says "stall after".
struct ExecBuf {
  PrefetchId id;
  uint8_t reserved[3];
  uint32_t base_address;
  uint32_t log_page_size;
  uint32_t pages;
};
static_assert(sizeof(ExecBuf) == kCommandBytes);

struct DebugPrefetch {  // skipped, with its `size` bytes
  PrefetchId id;
  uint8_t reserved;
  uint16_t key;
  uint32_t size;
  uint32_t stride;
  uint32_t reserved2;
};
static_assert(sizeof(DebugPrefetch) == kCommandBytes);

// Starts reading pages of DRAM into the ring buffer, at its write pointer, which becomes the offset that
// RELAY_RINGBUFFER counts from and then moves on by wp_offset_update.
struct PagedToRingbuffer {
  PrefetchId id;
  uint8_t flags;  // kRingbufferReset
  uint8_t log2_page_size;
  uint8_t start_page;
  uint32_t wp_offset_update;  // at least `length`
  uint32_t base_address;
  uint32_t length;  // multiple of the DRAM alignment
};
static_assert(sizeof(PagedToRingbuffer) == kCommandBytes);

struct SetRingbufferOffset {
  PrefetchId id;
  uint32_t offset;
  uint16_t reserved;
  uint8_t reserved2;
  uint8_t update_wp;  // the write pointer moves to `offset` too
  uint8_t reserved3[7];
};
static_assert(sizeof(SetRingbufferOffset) == kCommandBytes &&
              offsetof(SetRingbufferOffset, offset) == 1 &&
              offsetof(SetRingbufferOffset, update_wp) == 8);

struct RelayRingbuffer {  // then `count` sub-commands
  PrefetchId id;
  uint8_t reserved;
  uint16_t count;
  uint32_t stride;  // AlignUp(16 + 8 * count, 64)
  uint64_t reserved2;
};
static_assert(sizeof(RelayRingbuffer) == kCommandBytes);
struct RelayRingbufferTarget {
  uint32_t start;  // from the ring buffer's offset
  uint32_t length;
};
static_assert(sizeof(RelayRingbufferTarget) == 8);

struct BarePrefetch {  // STALL, TERMINATE
  PrefetchId id;
  uint8_t reserved[15];
};
static_assert(sizeof(BarePrefetch) == kCommandBytes);
#pragma pack(pop)

inline constexpr uint32_t kMinExecPageShift = 10;  // EXEC_BUF
inline constexpr uint32_t kMaxExecPageShift = 12;
inline constexpr uint32_t kMinPageShift = 6;  // RELAY_PAGED_PACKED, PAGED_TO_RINGBUFFER
inline constexpr uint32_t kMaxPageShift = 31;
inline constexpr uint32_t kMaxPagedPacked = 35;
inline constexpr uint32_t kMaxRelayRingbuffer = 52;
inline constexpr uint8_t kRingbufferReset = 0x01;

inline constexpr uint16_t kRelayPagedIsDram = 0x8000;
inline constexpr uint32_t kNocXyPcieFlag =
    1u << 24;  // stands for address bit 60; never reaches an NIU

}  // namespace ttfd::abi
