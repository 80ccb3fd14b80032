// Records back into values.
#include "runtime/command/decoder.h"

#include <algorithm>

#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"
#include "runtime/command/dispatch_decoder.h"
#include "runtime/command/record_batch.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

bool AllZero(ByteSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Commands one behind the other, in a fetch entry or in a buffer that EXEC_BUF names.
class CommandDecoder {
 public:
  enum class Place { kEntry, kExecBuffer };
  CommandDecoder(ByteSpan bytes, Place place) : bytes_(bytes), place_(place) {}

  StatusOr<std::vector<DecodedCommand>> Decode() {
    std::vector<DecodedCommand> commands;
    while (at_ < bytes_.size() && !ended_) {
      StatusOr<DecodedCommand> command = Next();
      if (!command.ok()) {
        return Annotate(command.status(), fmt::format("offset {:#x}", at_));
      }
      commands.push_back(*std::move(command));
      at_ += step_;
    }
    if (place_ == Place::kExecBuffer && !ended_) {
      return InvalidArgument("offset {:#x}: the buffer ends without EXEC_BUF_END", at_);
    }
    return commands;
  }

 private:
  StatusOr<DecodedCommand> Next() {
    DecodedCommand command;
    command.offset = at_;
    step_ = abi::kEntryAlignment;
    RETURN_IF_ERROR(ById(command));
    return command;
  }

  Status ById(DecodedCommand& command) {
    const auto id = static_cast<abi::PrefetchId>(bytes_[at_]);
    switch (id) {
      case abi::PrefetchId::kRelayInline:
      case abi::PrefetchId::kRelayInlineNoflush:
        return Inline(command);
      case abi::PrefetchId::kRelayLinear:
      case abi::PrefetchId::kRelayLinearH:
        return Linear(command);
      case abi::PrefetchId::kRelayPaged:
        return Paged(command);
      case abi::PrefetchId::kRelayPagedPacked:
        return PagedPacked(command);
      case abi::PrefetchId::kExecBuf:
        return ExecBuf(command);
      case abi::PrefetchId::kExecBufEnd:
        return ExecBufEnd(command);
      case abi::PrefetchId::kDebug:
        return Debug(command);
      case abi::PrefetchId::kPagedToRingbuffer:
        return PagedToRingbuffer(command);
      case abi::PrefetchId::kSetRingbufferOffset:
        return SetRingbufferOffset(command);
      case abi::PrefetchId::kRelayRingbuffer:
        return RelayRingbuffer(command);
      case abi::PrefetchId::kStall:
      case abi::PrefetchId::kTerminate:
        RETURN_IF_ERROR(RestIsZero(1));
        command.prefetch = LoadAt<abi::BarePrefetch>(Here());
        return OkStatus();
      default:
        return InvalidArgument("prefetch command {} is not in the command set",
                               static_cast<uint32_t>(id));
    }
  }

  const std::byte* Here() const { return bytes_.data() + at_; }
  uint64_t Left() const { return bytes_.size() - at_; }

  Status RestIsZero(uint32_t from) const {
    if (AllZero(bytes_.subspan(at_ + from, step_ - from))) return OkStatus();
    return InvalidArgument("padding is not zero");
  }
  static Status ReservedIsZero(bool zero) {
    return zero ? OkStatus() : InvalidArgument("a reserved field is not zero");
  }
  // The next command is where `content` bytes, rounded up, say it is.
  Status Stride(uint32_t stride, uint64_t content) {
    const uint64_t expected = AlignUp<uint64_t>(content, abi::kEntryAlignment);
    if (expected > Left()) {
      return InvalidArgument("a command of {} bytes where {} are left", content, Left());
    }
    if (stride != expected) {
      return InvalidArgument("stride {} for {} bytes; it must be {}", stride, content, expected);
    }
    step_ = stride;
    return RestIsZero(static_cast<uint32_t>(content));
  }

  Status Inline(DecodedCommand& command) {
    const auto relay = LoadAt<abi::RelayInline>(Here());
    const uint32_t length = relay.length;
    if (length < abi::kCommandBytes || uint64_t{length} + abi::kCommandBytes > Left()) {
      return InvalidArgument("payload of {} bytes; {} to {} fit here", length, abi::kCommandBytes,
                             Left() - abi::kCommandBytes);
    }
    if (relay.stride != InlineRecordBytes(length)) {
      return InvalidArgument("stride {} for a payload of {}; it must be {}", uint32_t{relay.stride},
                             length, InlineRecordBytes(length));
    }
    RETURN_IF_ERROR(ReservedIsZero(relay.reserved == 0 && relay.reserved2 == 0));
    if (relay.dispatcher != abi::DispatcherType::kDispatch &&
        relay.dispatcher != abi::DispatcherType::kDispatchS) {
      return InvalidArgument("dispatcher {}; there are 0 and 1",
                             static_cast<uint32_t>(relay.dispatcher));
    }
    step_ = relay.stride;
    RETURN_IF_ERROR(RestIsZero(abi::kCommandBytes + length));
    const bool data_follows = relay.id == abi::PrefetchId::kRelayInlineNoflush;
    ASSIGN_OR_RETURN(command.dispatch,
                     DecodeDispatch(bytes_.subspan(at_ + abi::kCommandBytes, length),
                                    relay.dispatcher, data_follows));
    command.prefetch = relay;
    return OkStatus();
  }

  Status Linear(DecodedCommand& command) {
    const auto relay = LoadAt<abi::RelayLinear>(Here());
    RETURN_IF_ERROR(RestIsZero(offsetof(abi::RelayLinear, reserved2)));
    RETURN_IF_ERROR(ReservedIsZero(relay.reserved == 0));
    if (relay.length == 0 || relay.length > kMaxLength) {
      return InvalidArgument("RELAY_LINEAR of {} bytes; 1 to {} are allowed",
                             uint64_t{relay.length}, kMaxLength);
    }
    if (relay.address % hw::kL1Alignment != 0) {
      return InvalidArgument("RELAY_LINEAR from {:#x}; it must be a multiple of {}",
                             uint64_t{relay.address}, hw::kL1Alignment);
    }
    command.prefetch = relay;
    return OkStatus();
  }

  Status Paged(DecodedCommand& command) {
    const auto relay = LoadAt<abi::RelayPaged>(Here());
    RETURN_IF_ERROR(RestIsZero(sizeof(relay)));
    const uint32_t adjust = relay.flags & ~abi::kRelayPagedIsDram;
    if (relay.page_size == 0 || relay.page_size % hw::kDramAlignment != 0 ||
        relay.base_address % hw::kDramAlignment != 0) {
      return InvalidArgument("RELAY_PAGED at {:#x} in pages of {}; both must be multiples of {}",
                             uint32_t{relay.base_address}, uint32_t{relay.page_size},
                             hw::kDramAlignment);
    }
    if (relay.pages == 0 || adjust >= relay.page_size ||
        uint64_t{relay.pages} * relay.page_size > kMaxLength) {
      return InvalidArgument("RELAY_PAGED of {} pages, {} bytes off the last",
                             uint32_t{relay.pages}, adjust);
    }
    command.prefetch = relay;
    return OkStatus();
  }

  Status PagedPacked(DecodedCommand& command) {
    const auto relay = LoadAt<abi::RelayPagedPacked>(Here());
    RETURN_IF_ERROR(ReservedIsZero(relay.reserved == 0 && relay.reserved2 == 0));
    RETURN_IF_ERROR(List("RELAY_PAGED_PACKED", relay.count, abi::kMaxPagedPacked, relay.stride,
                         command.stretches));
    uint64_t total = 0;
    for (size_t i = 0; i < command.stretches.size(); ++i) {
      const auto& part = command.stretches[i];
      if (part.log_page_size < abi::kMinPageShift || part.log_page_size > abi::kMaxPageShift ||
          part.base_address % hw::kDramAlignment != 0) {
        return InvalidArgument(
            "stretch {} at {:#x} in pages of 2^{}; the address must be a multiple of {}, the power "
            "{} to {}",
            i, uint32_t{part.base_address}, uint16_t{part.log_page_size}, hw::kDramAlignment,
            abi::kMinPageShift, abi::kMaxPageShift);
      }
      RETURN_IF_ERROR(StretchLength(i, part.length, i + 1 == command.stretches.size()));
      total += part.length;
    }
    if (total != relay.total_length) {
      return InvalidArgument("stretches of {} bytes where RELAY_PAGED_PACKED says {}", total,
                             uint32_t{relay.total_length});
    }
    command.prefetch = relay;
    return OkStatus();
  }

  Status RelayRingbuffer(DecodedCommand& command) {
    const auto relay = LoadAt<abi::RelayRingbuffer>(Here());
    RETURN_IF_ERROR(ReservedIsZero(relay.reserved == 0 && relay.reserved2 == 0));
    RETURN_IF_ERROR(List("RELAY_RINGBUFFER", relay.count, abi::kMaxRelayRingbuffer, relay.stride,
                         command.ring_stretches));
    for (size_t i = 0; i < command.ring_stretches.size(); ++i) {
      const auto& part = command.ring_stretches[i];
      if (part.start % hw::kL1Alignment != 0) {
        return InvalidArgument("stretch {} starts at {:#x}; it must be a multiple of {}", i,
                               uint32_t{part.start}, hw::kL1Alignment);
      }
      RETURN_IF_ERROR(StretchLength(i, part.length, i + 1 == command.ring_stretches.size()));
    }
    command.prefetch = relay;
    return OkStatus();
  }

  // A list of `count` sub-commands behind a command of 16 bytes.
  template <typename T>
  Status List(std::string_view name, uint32_t count, uint32_t most, uint32_t stride,
              std::vector<T>& list) {
    if (count == 0 || count > most) {
      return InvalidArgument("{} of {} stretches; 1 to {} are allowed", name, count, most);
    }
    RETURN_IF_ERROR(Stride(stride, abi::kCommandBytes + uint64_t{count} * sizeof(T)));
    for (uint32_t i = 0; i < count; ++i) {
      list.push_back(LoadAt<T>(Here() + abi::kCommandBytes + i * sizeof(T)));
    }
    return OkStatus();
  }

  static Status StretchLength(size_t index, uint32_t length, bool last) {
    if (length != 0 && (last || length % hw::kL1Alignment == 0)) return OkStatus();
    return InvalidArgument("stretch {} of {} bytes; all but the last must be multiples of {}",
                           index, length, hw::kL1Alignment);
  }

  Status ExecBuf(DecodedCommand& command) {
    const auto exec = LoadAt<abi::ExecBuf>(Here());
    RETURN_IF_ERROR(RestIsZero(sizeof(exec)));
    RETURN_IF_ERROR(ReservedIsZero(AllZero(std::as_bytes(std::span(exec.reserved)))));
    if (place_ == Place::kExecBuffer) return InvalidArgument("EXEC_BUF inside a buffer");
    if (Left() != step_) return InvalidArgument("EXEC_BUF is not the last command of its entry");
    if (exec.log_page_size < abi::kMinExecPageShift ||
        exec.log_page_size > abi::kMaxExecPageShift ||
        exec.base_address % hw::kDramAlignment != 0 || exec.pages == 0) {
      return InvalidArgument(
          "EXEC_BUF of {} pages of 2^{} at {:#x}; the power is {} to {}, the address a multiple of "
          "{}",
          uint32_t{exec.pages}, uint32_t{exec.log_page_size}, uint32_t{exec.base_address},
          abi::kMinExecPageShift, abi::kMaxExecPageShift, hw::kDramAlignment);
    }
    command.prefetch = exec;
    return OkStatus();
  }

  Status ExecBufEnd(DecodedCommand& command) {
    if (place_ == Place::kEntry) return InvalidArgument("EXEC_BUF_END outside a buffer");
    RETURN_IF_ERROR(Inline(command));
    const auto* end = std::get_if<abi::BareDispatch>(&command.dispatch->header);
    if (end == nullptr || end->id != abi::DispatchId::kExecBufEnd) {
      return InvalidArgument("EXEC_BUF_END carries another dispatch command than its own");
    }
    ended_ = true;
    return OkStatus();
  }

  Status Debug(DecodedCommand& command) {
    const auto debug = LoadAt<abi::DebugPrefetch>(Here());
    RETURN_IF_ERROR(ReservedIsZero(debug.reserved == 0 && debug.reserved2 == 0));
    RETURN_IF_ERROR(Stride(debug.stride, uint64_t{abi::kCommandBytes} + debug.size));
    command.debug_data = bytes_.subspan(at_ + abi::kCommandBytes, debug.size);
    command.prefetch = debug;
    return OkStatus();
  }

  Status PagedToRingbuffer(DecodedCommand& command) {
    const auto fill = LoadAt<abi::PagedToRingbuffer>(Here());
    RETURN_IF_ERROR(RestIsZero(sizeof(fill)));
    if ((fill.flags & ~abi::kRingbufferReset) != 0) {
      return InvalidArgument("PAGED_TO_RINGBUFFER with flags {:#x}", fill.flags);
    }
    if (fill.log2_page_size < abi::kMinPageShift || fill.log2_page_size > abi::kMaxPageShift ||
        fill.base_address % hw::kDramAlignment != 0) {
      return InvalidArgument("PAGED_TO_RINGBUFFER at {:#x} in pages of 2^{}",
                             uint32_t{fill.base_address}, fill.log2_page_size);
    }
    if (fill.length == 0 || fill.length % hw::kDramAlignment != 0 ||
        fill.wp_offset_update < fill.length || fill.wp_offset_update % hw::kDramAlignment != 0) {
      return InvalidArgument(
          "PAGED_TO_RINGBUFFER of {} bytes, write pointer on by {}; both must be multiples of {}, "
          "the second not less",
          uint32_t{fill.length}, uint32_t{fill.wp_offset_update}, hw::kDramAlignment);
    }
    command.prefetch = fill;
    return OkStatus();
  }

  Status SetRingbufferOffset(DecodedCommand& command) {
    const auto set = LoadAt<abi::SetRingbufferOffset>(Here());
    RETURN_IF_ERROR(RestIsZero(offsetof(abi::SetRingbufferOffset, reserved3)));
    RETURN_IF_ERROR(ReservedIsZero(set.reserved == 0 && set.reserved2 == 0));
    if (set.update_wp > 1) return InvalidArgument("update_wp is {}", set.update_wp);
    const uint32_t alignment = set.update_wp != 0 ? hw::kDramAlignment : hw::kL1Alignment;
    if (set.offset % alignment != 0) {
      return InvalidArgument("ring buffer offset {:#x}; it must be a multiple of {}",
                             uint32_t{set.offset}, alignment);
    }
    command.prefetch = set;
    return OkStatus();
  }

  const ByteSpan bytes_;
  const Place place_;
  uint32_t at_ = 0;
  uint32_t step_ = 0;   // to the next command
  bool ended_ = false;  // by EXEC_BUF_END
};

}  // namespace

StatusOr<std::vector<DecodedCommand>> DecodeEntry(ByteSpan entry) {
  if (entry.empty() || entry.size() % abi::kEntryAlignment != 0 ||
      entry.size() > abi::kMaxEntryBytes) {
    return InvalidArgument("an entry of {} bytes; multiples of {} up to {} exist", entry.size(),
                           abi::kEntryAlignment, abi::kMaxEntryBytes);
  }
  return CommandDecoder(entry, CommandDecoder::Place::kEntry).Decode();
}

StatusOr<std::vector<DecodedCommand>> DecodeExecBuffer(ByteSpan buffer) {
  if (buffer.empty() || buffer.size() % abi::kEntryAlignment != 0 || buffer.size() > kMaxLength) {
    return InvalidArgument("a buffer of {} bytes; multiples of {} exist", buffer.size(),
                           abi::kEntryAlignment);
  }
  return CommandDecoder(buffer, CommandDecoder::Place::kExecBuffer).Decode();
}

}  // namespace ttfd
