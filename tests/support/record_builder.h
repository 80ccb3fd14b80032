// Records by hand: prefetch entries built from the structs of runtime/abi, without the runtime's
// encoder, so that a test of the firmware does not depend on it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/prefetch_commands.h"
#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"
#include "runtime/base/bytes.h"

namespace ttfd::testing {

// A dispatch command with what follows it.
class Payload {
 public:
  template <typename Command>
  explicit Payload(const Command& command) {
    Append(BytesOf(command));
  }
  Payload& Append(ByteSpan bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  template <typename T>
  Payload& Value(const T& value) {
    return Append(BytesOf(value));
  }
  Payload& Pad(size_t alignment) {
    bytes_.resize(AlignUp(bytes_.size(), alignment));
    return *this;
  }
  ByteSpan bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class EntryBuilder {
 public:
  EntryBuilder& Dispatch(const Payload& payload) {
    return Inline(abi::PrefetchId::kRelayInline, abi::DispatcherType::kDispatch, payload.bytes());
  }
  EntryBuilder& DispatchS(const Payload& payload) {
    return Inline(abi::PrefetchId::kRelayInline, abi::DispatcherType::kDispatchS, payload.bytes());
  }
  // A header whose payload the next relay command brings.
  EntryBuilder& Noflush(const Payload& payload) {
    return Inline(abi::PrefetchId::kRelayInlineNoflush, abi::DispatcherType::kDispatch,
                  payload.bytes());
  }
  EntryBuilder& RelayLinear(uint32_t noc_xy, uint64_t address, uint64_t length) {
    abi::RelayLinear command{};
    command.id = abi::PrefetchId::kRelayLinear;
    command.length = length;
    command.noc_xy = noc_xy;
    command.address = address;
    return Raw(BytesOf(command));
  }
  EntryBuilder& RelayPaged(bool is_dram, uint8_t start_page, uint32_t base, uint32_t page_size,
                           uint32_t pages, uint16_t length_adjust = 0) {
    abi::RelayPaged command{};
    command.id = abi::PrefetchId::kRelayPaged;
    command.start_page = start_page;
    command.flags =
        static_cast<uint16_t>(length_adjust | (is_dram ? abi::kRelayPagedIsDram : uint16_t{0}));
    command.base_address = base;
    command.page_size = page_size;
    command.pages = pages;
    return Raw(BytesOf(command));
  }
  // `total_length` is the sum of the targets' lengths, plus `skew`.
  EntryBuilder& RelayPagedPacked(std::span<const abi::RelayPagedPackedTarget> targets,
                                 uint32_t skew = 0) {
    abi::RelayPagedPacked command{};
    command.id = abi::PrefetchId::kRelayPagedPacked;
    command.count = static_cast<uint16_t>(targets.size());
    command.total_length = skew;
    for (const auto& target : targets) command.total_length += target.length;
    command.stride = AlignUp(static_cast<uint32_t>(sizeof(command) + targets.size_bytes()),
                             abi::kEntryAlignment);
    return List(BytesOf(command),
                {reinterpret_cast<const std::byte*>(targets.data()), targets.size_bytes()});
  }
  EntryBuilder& RelayRingbuffer(std::span<const abi::RelayRingbufferTarget> targets) {
    abi::RelayRingbuffer command{};
    command.id = abi::PrefetchId::kRelayRingbuffer;
    command.count = static_cast<uint16_t>(targets.size());
    command.stride = AlignUp(static_cast<uint32_t>(sizeof(command) + targets.size_bytes()),
                             abi::kEntryAlignment);
    return List(BytesOf(command),
                {reinterpret_cast<const std::byte*>(targets.data()), targets.size_bytes()});
  }
  EntryBuilder& PagedToRingbuffer(bool reset, uint8_t log_page_size, uint8_t start_page,
                                  uint32_t base, uint32_t length, uint32_t advance) {
    abi::PagedToRingbuffer command{};
    command.id = abi::PrefetchId::kPagedToRingbuffer;
    command.flags = reset ? abi::kRingbufferReset : uint8_t{0};
    command.log2_page_size = log_page_size;
    command.start_page = start_page;
    command.wp_offset_update = advance;
    command.base_address = base;
    command.length = length;
    return Raw(BytesOf(command));
  }
  EntryBuilder& SetRingbufferOffset(uint32_t offset, bool update_wp) {
    abi::SetRingbufferOffset command{};
    command.id = abi::PrefetchId::kSetRingbufferOffset;
    command.offset = offset;
    command.update_wp = update_wp ? 1 : 0;
    return Raw(BytesOf(command));
  }
  EntryBuilder& ExecBuf(uint32_t base, uint32_t log_page_size, uint32_t pages) {
    abi::ExecBuf command{};
    command.id = abi::PrefetchId::kExecBuf;
    command.base_address = base;
    command.log_page_size = log_page_size;
    command.pages = pages;
    return Raw(BytesOf(command));
  }
  EntryBuilder& ExecBufEnd() {
    abi::BareDispatch end{};
    end.id = abi::DispatchId::kExecBufEnd;
    return Inline(abi::PrefetchId::kExecBufEnd, abi::DispatcherType::kDispatch, BytesOf(end));
  }
  EntryBuilder& Debug(ByteSpan bytes) {
    abi::DebugPrefetch command{};
    command.id = abi::PrefetchId::kDebug;
    command.size = static_cast<uint32_t>(bytes.size());
    command.stride = AlignUp(command.size + abi::kCommandBytes, abi::kEntryAlignment);
    return List(BytesOf(command), bytes);
  }
  EntryBuilder& Bare(abi::PrefetchId id) {
    abi::BarePrefetch command{};
    command.id = id;
    return Raw(BytesOf(command));
  }
  // Any command, padded to where the next one starts.
  EntryBuilder& Raw(ByteSpan command) {
    bytes_.insert(bytes_.end(), command.begin(), command.end());
    bytes_.resize(AlignUp(bytes_.size(), size_t{abi::kEntryAlignment}));
    return *this;
  }
  ByteSpan bytes() const { return bytes_; }

 private:
  // A command with what follows it.
  EntryBuilder& List(ByteSpan command, ByteSpan list) {
    bytes_.insert(bytes_.end(), command.begin(), command.end());
    return Raw(list);
  }
  EntryBuilder& Inline(abi::PrefetchId id, abi::DispatcherType dispatcher, ByteSpan payload) {
    abi::RelayInline command{};
    command.id = id;
    command.dispatcher = dispatcher;
    command.length = static_cast<uint32_t>(payload.size());
    command.stride = AlignUp(command.length + abi::kCommandBytes, abi::kEntryAlignment);
    return List(BytesOf(command), payload);
  }

  std::vector<std::byte> bytes_;
};

// Dispatch commands.

inline Payload WriteLinearCommand(uint32_t noc_xy, uint64_t address, uint64_t length,
                                  uint8_t receivers = 0, uint8_t offset_index = 0) {
  abi::WriteLinear command{};
  command.id = abi::DispatchId::kWriteLinear;
  command.num_mcast_dests = receivers;
  command.write_offset_index = offset_index;
  command.noc_xy = noc_xy;
  command.address = address;
  command.length = length;
  return Payload(command);
}

inline Payload WritePagedCommand(bool is_dram, uint16_t start_page, uint32_t base,
                                 uint32_t page_size, uint32_t pages) {
  abi::WritePaged command{};
  command.id = abi::DispatchId::kWritePaged;
  command.is_dram = is_dram ? 1 : 0;
  command.start_page = start_page;
  command.base_address = base;
  command.page_size = page_size;
  command.pages = pages;
  return Payload(command);
}

inline Payload WritePackedCommand(uint8_t flags, uint16_t count, uint16_t size, uint32_t address,
                                  uint16_t offset_index = 0) {
  abi::WritePacked command{};
  command.id = abi::DispatchId::kWritePacked;
  command.flags = flags;
  command.count = count;
  command.write_offset_index = offset_index;
  command.size = size;
  command.address = address;
  return Payload(command);
}

inline Payload WaitCommand(uint8_t flags, uint16_t stream = 0, uint32_t address = 0,
                           uint32_t count = 0) {
  abi::Wait command{};
  command.id = abi::DispatchId::kWait;
  command.flags = flags;
  command.stream = stream;
  command.address = address;
  command.count = count;
  return Payload(command);
}

inline Payload HostWriteCommand(uint64_t data_bytes, bool is_event = false, uint16_t tag = 0) {
  abi::WriteLinearHHost command{};
  command.id = abi::DispatchId::kWriteLinearHHost;
  command.is_event = is_event ? 1 : 0;
  command.tag = tag;
  command.length = sizeof(command) + data_bytes;
  return Payload(command);
}

inline Payload EventCommand(uint32_t event) {
  Payload payload = HostWriteCommand(16, true);
  return payload.Value(event).Value(uint64_t{0}).Value(uint32_t{0});
}

inline Payload SetWriteOffsetCommand(std::initializer_list<uint32_t> offsets) {
  abi::SetWriteOffset command{};
  command.id = abi::DispatchId::kSetWriteOffset;
  command.offset_count = static_cast<uint8_t>(offsets.size());
  Payload payload(command);
  for (const uint32_t offset : offsets) payload.Value(offset);
  return payload;
}

inline Payload NotifyCommand(uint16_t mask, bool barrier = true) {
  abi::NotifySubordinate command{};
  command.id = abi::DispatchId::kNotifySubordinateGoSignal;
  command.wait = barrier ? 1 : 0;
  command.index_bitmask = mask;
  return Payload(command);
}

inline Payload SendGoCommand(uint32_t go, uint8_t multicast_index, uint32_t wait_stream,
                             uint32_t wait_count, uint8_t unicasts = 0, uint8_t first = 0) {
  abi::SendGoSignal command{};
  command.id = abi::DispatchId::kSendGoSignal;
  command.go_signal = go;
  command.multicast_go_offset = multicast_index;
  command.num_unicast_txns = unicasts;
  command.noc_data_start_index = first;
  command.wait_count = wait_count;
  command.wait_stream = wait_stream;
  return Payload(command);
}

inline Payload SetGoTargetsCommand(std::span<const uint32_t> targets) {
  abi::SetGoSignalNocData command{};
  command.id = abi::DispatchId::kSetGoSignalNocData;
  command.num_words = static_cast<uint32_t>(targets.size());
  Payload payload(command);
  for (const uint32_t target : targets) payload.Value(target);
  return payload;
}

inline Payload SetNumWorkerSemsCommand(uint32_t num) {
  abi::SetNumWorkerSems command{};
  command.id = abi::DispatchId::kSetNumWorkerSems;
  command.num = num;
  return Payload(command);
}

inline Payload DelayCommand(uint32_t clocks) {
  abi::Delay command{};
  command.id = abi::DispatchId::kDelay;
  command.delay = clocks;
  return Payload(command);
}

inline Payload BareDispatchCommand(abi::DispatchId id) {
  abi::BareDispatch command{};
  command.id = id;
  return Payload(command);
}

}  // namespace ttfd::testing
