// Records back into values.
#include "runtime/command/decoder.h"

#include <algorithm>

#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"
#include "runtime/command/dispatch_decoder.h"
#include "runtime/command/record_sink.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

bool AllZero(ByteSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

class EntryDecoder {
 public:
  explicit EntryDecoder(ByteSpan entry) : entry_(entry) {}

  StatusOr<std::vector<DecodedCommand>> Decode() {
    if (entry_.empty() || entry_.size() % abi::kEntryAlignment != 0 ||
        entry_.size() > abi::kMaxEntryBytes) {
      return InvalidArgument("an entry of {} bytes; multiples of {} up to {} exist", entry_.size(),
                             abi::kEntryAlignment, abi::kMaxEntryBytes);
    }
    std::vector<DecodedCommand> commands;
    while (at_ < entry_.size()) {
      StatusOr<DecodedCommand> command = Next();
      if (!command.ok()) {
        return Annotate(command.status(), fmt::format("offset {:#x}", at_));
      }
      commands.push_back(*std::move(command));
      at_ += step_;
    }
    return commands;
  }

 private:
  StatusOr<DecodedCommand> Next() {
    DecodedCommand command;
    command.offset = at_;
    step_ = abi::kEntryAlignment;
    const auto id = static_cast<abi::PrefetchId>(entry_[at_]);
    switch (id) {
      case abi::PrefetchId::kRelayInline:
      case abi::PrefetchId::kRelayInlineNoflush:
        RETURN_IF_ERROR(Inline(command));
        break;
      case abi::PrefetchId::kRelayLinear:
        RETURN_IF_ERROR(Linear(command));
        break;
      case abi::PrefetchId::kRelayPaged:
        RETURN_IF_ERROR(Paged(command));
        break;
      case abi::PrefetchId::kStall:
      case abi::PrefetchId::kTerminate:
        RETURN_IF_ERROR(RestIsZero(1));
        command.prefetch = LoadAt<abi::BarePrefetch>(Here());
        break;
      default:
        return InvalidArgument("prefetch command {} is not in the command set",
                               static_cast<uint32_t>(id));
    }
    return command;
  }

  const std::byte* Here() const { return entry_.data() + at_; }

  Status RestIsZero(uint32_t from) const {
    if (AllZero(entry_.subspan(at_ + from, step_ - from))) return OkStatus();
    return InvalidArgument("padding is not zero");
  }

  Status Inline(DecodedCommand& command) {
    const auto relay = LoadAt<abi::RelayInline>(Here());
    const uint64_t left = entry_.size() - at_;
    const uint32_t length = relay.length;
    if (length < abi::kCommandBytes || uint64_t{length} + abi::kCommandBytes > left) {
      return InvalidArgument("payload of {} bytes; {} to {} fit here", length, abi::kCommandBytes,
                             left - abi::kCommandBytes);
    }
    if (relay.stride != InlineRecordBytes(length)) {
      return InvalidArgument("stride {} for a payload of {}; it must be {}", uint32_t{relay.stride},
                             length, InlineRecordBytes(length));
    }
    if (relay.reserved != 0 || relay.reserved2 != 0) {
      return InvalidArgument("a reserved field is not zero");
    }
    if (relay.dispatcher != abi::DispatcherType::kDispatch &&
        relay.dispatcher != abi::DispatcherType::kDispatchS) {
      return InvalidArgument("dispatcher {}; there are 0 and 1",
                             static_cast<uint32_t>(relay.dispatcher));
    }
    step_ = relay.stride;
    RETURN_IF_ERROR(RestIsZero(abi::kCommandBytes + length));
    const bool data_follows = relay.id == abi::PrefetchId::kRelayInlineNoflush;
    ASSIGN_OR_RETURN(command.dispatch,
                     DecodeDispatch(entry_.subspan(at_ + abi::kCommandBytes, length),
                                    relay.dispatcher, data_follows));
    command.prefetch = relay;
    return OkStatus();
  }

  Status Linear(DecodedCommand& command) {
    const auto relay = LoadAt<abi::RelayLinear>(Here());
    RETURN_IF_ERROR(RestIsZero(offsetof(abi::RelayLinear, reserved2)));
    if (relay.reserved != 0) return InvalidArgument("a reserved field is not zero");
    if (relay.length == 0) return InvalidArgument("RELAY_LINEAR of 0 bytes");
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
    if (relay.pages == 0 || adjust >= relay.page_size) {
      return InvalidArgument("RELAY_PAGED of {} pages, {} bytes off the last",
                             uint32_t{relay.pages}, adjust);
    }
    command.prefetch = relay;
    return OkStatus();
  }

  const ByteSpan entry_;
  uint32_t at_ = 0;
  uint32_t step_ = 0;  // to the next command
};

}  // namespace

StatusOr<std::vector<DecodedCommand>> DecodeEntry(ByteSpan entry) {
  return EntryDecoder(entry).Decode();
}

}  // namespace ttfd
