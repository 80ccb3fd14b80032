// Dispatch commands back into values.
#include "runtime/command/dispatch_decoder.h"

#include <bit>

#include "runtime/abi/control_block.h"
#include "runtime/abi/launch.h"
#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

constexpr uint8_t kAllWaitFlags = abi::kWaitBarrier | abi::kWaitNotifyPrefetch | abi::kWaitMemory |
                                  abi::kWaitStream | abi::kWaitClearStream;
constexpr uint8_t kAllPackedFlags =
    abi::kPackedMulticast | abi::kPackedNoStride | 0xF << abi::kPackedTypeShift;

class DispatchDecoder {
 public:
  DispatchDecoder(ByteSpan payload, abi::DispatcherType to, bool data_follows)
      : payload_(payload), to_(to), data_follows_(data_follows) {}

  StatusOr<DecodedDispatch> Decode() {
    RETURN_IF_ERROR(SkipDebugs());
    RETURN_IF_ERROR(CheckPlace());
    RETURN_IF_ERROR(DecodeById());
    return std::move(result_);
  }

 private:
  abi::DispatchId id() const { return static_cast<abi::DispatchId>(payload_[0]); }

  // The dispatcher executes what follows a DEBUG in the same page.
  Status SkipDebugs() {
    while (to_ == abi::DispatcherType::kDispatch && id() == abi::DispatchId::kDebug) {
      if (payload_.size() <= sizeof(abi::BareDispatch)) {
        return InvalidArgument("no command follows a dispatch DEBUG in its page");
      }
      if (++result_.debugs > abi::kMaxDebugCommands) {
        return InvalidArgument("more than {} DEBUGs before a dispatch command",
                               abi::kMaxDebugCommands);
      }
      RETURN_IF_ERROR(ReservedIsZero(LoadAt<abi::BareDispatch>(payload_.data()).reserved));
      payload_ = payload_.subspan(sizeof(abi::BareDispatch));
      left_in_page_ -= uint32_t{sizeof(abi::BareDispatch)};
    }
    return OkStatus();
  }

  // Which dispatcher knows the command, and whether its data may come later.
  Status CheckPlace() const {
    const bool for_s = id() == abi::DispatchId::kSendGoSignal ||
                       id() == abi::DispatchId::kSetNumWorkerSems ||
                       id() == abi::DispatchId::kSetGoSignalNocData;
    const bool for_both = id() == abi::DispatchId::kTerminate;
    const bool to_s = to_ == abi::DispatcherType::kDispatchS;
    if (!for_both && for_s != to_s) {
      return InvalidArgument("dispatch command {} sent to {}", static_cast<uint32_t>(id()),
                             to_s ? "dispatch_s" : "the dispatcher");
    }
    if (to_s && payload_.size() > abi::kDispatchSPageBytes) {
      return InvalidArgument("{} bytes for dispatch_s, whose commands fit {}", payload_.size(),
                             abi::kDispatchSPageBytes);
    }
    const bool takes_data =
        id() == abi::DispatchId::kWriteLinear || id() == abi::DispatchId::kWriteLinearH ||
        id() == abi::DispatchId::kWriteLinearHHost || id() == abi::DispatchId::kWritePaged ||
        id() == abi::DispatchId::kWritePackedLarge;
    if (data_follows_ && (!takes_data || payload_.size() >= left_in_page_ ||
                          payload_.size() % hw::kL1Alignment != 0)) {
      return InvalidArgument("NOFLUSH with {} bytes of dispatch command {}", payload_.size(),
                             static_cast<uint32_t>(id()));
    }
    return OkStatus();
  }

  Status DecodeById() {
    switch (id()) {
      case abi::DispatchId::kWriteLinear:
      case abi::DispatchId::kWriteLinearH:
        return WriteLinear();
      case abi::DispatchId::kWriteLinearHHost:
        return WriteLinearHHost();
      case abi::DispatchId::kWritePaged:
        return WritePaged();
      case abi::DispatchId::kWritePacked:
        return WritePacked();
      case abi::DispatchId::kWritePackedLarge:
        return WritePackedLarge();
      case abi::DispatchId::kWait:
        return Wait();
      case abi::DispatchId::kSetWriteOffset:
        return SetWriteOffset();
      case abi::DispatchId::kSendGoSignal:
        return SendGoSignal();
      case abi::DispatchId::kNotifySubordinateGoSignal:
        return NotifySubordinate();
      case abi::DispatchId::kSetNumWorkerSems:
        return SetNumWorkerSems();
      case abi::DispatchId::kSetGoSignalNocData:
        return SetGoSignalNocData();
      case abi::DispatchId::kDelay:
        return Delay();
      case abi::DispatchId::kSink:
      case abi::DispatchId::kExecBufEnd:
      case abi::DispatchId::kTerminate:
        RETURN_IF_ERROR(Only<abi::BareDispatch>());
        return ReservedIsZero(std::get<abi::BareDispatch>(result_.header).reserved);
      default:
        return InvalidArgument("dispatch command {} is not in the command set",
                               static_cast<uint32_t>(id()));
    }
  }

  template <typename T>
  StatusOr<T> Take() {
    if (payload_.size() - at_ < sizeof(T)) {
      return InvalidArgument("dispatch command {} ends after {} bytes", static_cast<uint32_t>(id()),
                             payload_.size());
    }
    const T value = LoadAt<T>(payload_.data() + at_);
    at_ += sizeof(T);
    return value;
  }
  static Status ReservedIsZero(std::span<const uint8_t> reserved) {
    for (const uint8_t byte : reserved) {
      if (byte != 0) return InvalidArgument("a reserved field is not zero");
    }
    return OkStatus();
  }
  template <std::unsigned_integral... T>
  static Status ReservedIsZero(T... reserved) {
    if ((uint64_t{reserved} | ...) == 0) return OkStatus();
    return InvalidArgument("a reserved field is not zero");
  }
  // A header and nothing behind it.
  template <typename T>
  Status Only() {
    ASSIGN_OR_RETURN(result_.header, Take<T>());
    return NothingLeft();
  }
  Status NothingLeft() const {
    if (at_ == payload_.size()) return OkStatus();
    return InvalidArgument("{} bytes behind the end of dispatch command {}", payload_.size() - at_,
                           static_cast<uint32_t>(id()));
  }
  Status Words(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(const uint32_t word, Take<uint32_t>());
      result_.words.push_back(word);
    }
    return NothingLeft();
  }
  // Takes the rest as the data, `expected` bytes of it, unless the data follows.
  Status Data(uint64_t expected) {
    result_.data = payload_.subspan(at_);
    if (result_.data.size() == (data_follows_ ? 0 : expected)) return OkStatus();
    return InvalidArgument("{} bytes of data where dispatch command {} says {}",
                           result_.data.size(), static_cast<uint32_t>(id()), expected);
  }
  Status SkipListPadding(uint32_t begin) {
    const uint32_t end = begin + AlignUp(at_ - begin, abi::kPackedDataAlignment);
    if (end > payload_.size()) return InvalidArgument("the list of targets is cut off");
    for (; at_ < end; ++at_) {
      if (payload_[at_] != std::byte{0}) return InvalidArgument("padding is not zero");
    }
    return OkStatus();
  }

  Status WriteLinear() {
    ASSIGN_OR_RETURN(const auto header, Take<abi::WriteLinear>());
    result_.header = header;
    RETURN_IF_ERROR(ReservedIsZero(header.reserved, uint64_t{header.reserved2}));
    if (header.write_offset_index >= abi::kMaxWriteOffsets) {
      return InvalidArgument("write offset {}; there are {}", header.write_offset_index,
                             abi::kMaxWriteOffsets);
    }
    if (header.length == 0 || header.length > kMaxLength) {
      return InvalidArgument("WRITE_LINEAR of {} bytes; 1 to {} are allowed",
                             uint64_t{header.length}, kMaxLength);
    }
    return Data(header.length);
  }

  Status WriteLinearHHost() {
    ASSIGN_OR_RETURN(const auto header, Take<abi::WriteLinearHHost>());
    result_.header = header;
    if (header.is_event > 1) return InvalidArgument("is_event is {}", header.is_event);
    if (header.length < sizeof(header) || header.length > kMaxLength) {
      return InvalidArgument("a completion record of {} bytes; {} to {} are allowed",
                             uint64_t{header.length}, sizeof(header), kMaxLength);
    }
    return Data(header.length - sizeof(header));
  }

  Status WritePaged() {
    ASSIGN_OR_RETURN(const auto header, Take<abi::WritePaged>());
    result_.header = header;
    if (header.is_dram > 1 || header.pages == 0 || header.page_size == 0 ||
        header.page_size % hw::kL1Alignment != 0) {
      return InvalidArgument("WRITE_PAGED of {} pages of {} bytes; pages are multiples of {}",
                             uint32_t{header.pages}, uint32_t{header.page_size}, hw::kL1Alignment);
    }
    if (header.base_address % hw::kL1Alignment != 0 ||
        uint64_t{header.pages} * header.page_size > kMaxLength) {
      return InvalidArgument(
          "WRITE_PAGED of {} bytes at {:#x}; the address must be a multiple of {}",
          uint64_t{header.pages} * header.page_size, uint32_t{header.base_address},
          hw::kL1Alignment);
    }
    return Data(uint64_t{header.pages} * header.page_size);
  }

  Status WritePacked() {
    ASSIGN_OR_RETURN(const auto header, Take<abi::WritePacked>());
    result_.header = header;
    const bool multicast = (header.flags & abi::kPackedMulticast) != 0;
    const bool shared = (header.flags & abi::kPackedNoStride) != 0;
    const uint32_t size = header.size;
    if ((header.flags & ~kAllPackedFlags) != 0) {
      return InvalidArgument("WRITE_PACKED with flags {:#x}", header.flags);
    }
    if (header.count == 0 || size == 0 || size > abi::kDispatchPageBytes ||
        header.write_offset_index >= abi::kMaxWriteOffsets || header.reserved != 0) {
      return InvalidArgument("WRITE_PACKED of {} targets, {} bytes, write offset {}",
                             uint16_t{header.count}, size, uint16_t{header.write_offset_index});
    }
    for (uint32_t i = 0; i < header.count; ++i) {
      DecodedTarget target;
      ASSIGN_OR_RETURN(target.noc_word, Take<uint32_t>());
      if (multicast) {
        ASSIGN_OR_RETURN(target.receivers, Take<uint32_t>());
      }
      result_.targets.push_back(target);
    }
    RETURN_IF_ERROR(SkipListPadding(sizeof(header)));
    if (at_ > left_in_page_) {
      return InvalidArgument("a list of {} targets leaves the first page", uint16_t{header.count});
    }
    const uint64_t packet = AlignUp(size, abi::kPackedDataAlignment);
    if (shared && at_ + size > left_in_page_) {
      return InvalidArgument("the shared packet leaves the first page");
    }
    return Data(shared ? packet : packet * header.count);
  }

  Status WritePackedLarge() {
    ASSIGN_OR_RETURN(const auto header, Take<abi::WritePackedLarge>());
    result_.header = header;
    const uint32_t alignment = header.alignment;
    if (header.count == 0 || header.count > abi::kPackedLargeMaxCount ||
        !std::has_single_bit(alignment) || alignment < abi::kPackedDataAlignment ||
        header.write_offset_index >= abi::kMaxWriteOffsets || header.reserved != 0) {
      return InvalidArgument(
          "WRITE_PACKED_LARGE of {} targets aligned to {}; at most {} are allowed",
          uint16_t{header.count}, alignment, abi::kPackedLargeMaxCount);
    }
    uint64_t data = 0;
    for (uint32_t i = 0; i < header.count; ++i) {
      ASSIGN_OR_RETURN(const auto target, Take<abi::WritePackedLargeTarget>());
      if (target.length == 0 || target.num_mcast_dests == 0 ||
          (target.flags & ~abi::kPackedLargeUnlink) != 0) {
        return InvalidArgument("target {} of {} bytes for {} receivers with flags {:#x}", i,
                               uint16_t{target.length}, target.num_mcast_dests, target.flags);
      }
      data += AlignUp<uint64_t>(target.length, alignment);
      result_.large_targets.push_back(target);
    }
    for (size_t i = 0; i < result_.large_targets.size(); ++i) {
      const auto& targets = result_.large_targets;
      const bool last = i + 1 == targets.size() || targets[i + 1].rectangle != targets[i].rectangle;
      if (last && (targets[i].flags & abi::kPackedLargeUnlink) == 0) {
        return InvalidArgument("target {} is the last of its rectangle and does not unlink", i);
      }
    }
    RETURN_IF_ERROR(SkipListPadding(sizeof(header)));
    return Data(data);
  }

  Status Wait() {
    RETURN_IF_ERROR(Only<abi::Wait>());
    const auto& wait = std::get<abi::Wait>(result_.header);
    if ((wait.flags & ~kAllWaitFlags) != 0 || wait.flags == 0) {
      return InvalidArgument("WAIT with flags {:#x}", wait.flags);
    }
    return ReservedIsZero(uint32_t{wait.reserved});
  }

  Status Delay() {
    RETURN_IF_ERROR(Only<abi::Delay>());
    const auto& delay = std::get<abi::Delay>(result_.header);
    if (delay.delay > abi::kMaxDelayClocks) {
      return InvalidArgument("DELAY of {} clocks; at most {} are allowed", uint32_t{delay.delay},
                             abi::kMaxDelayClocks);
    }
    RETURN_IF_ERROR(ReservedIsZero(delay.reserved));
    return ReservedIsZero(uint64_t{delay.reserved2});
  }

  Status NotifySubordinate() {
    RETURN_IF_ERROR(Only<abi::NotifySubordinate>());
    const auto& notify = std::get<abi::NotifySubordinate>(result_.header);
    if (notify.wait > 1 || notify.index_bitmask >= 1u << abi::kMaxSubDevices) {
      return InvalidArgument("NOTIFY_SUBORDINATE_GO_SIGNAL with wait {}, mask {:#x}", notify.wait,
                             uint16_t{notify.index_bitmask});
    }
    return ReservedIsZero(notify.reserved);
  }

  Status SetWriteOffset() {
    ASSIGN_OR_RETURN(const auto header, Take<abi::SetWriteOffset>());
    result_.header = header;
    if (header.offset_count == 0 || header.offset_count > abi::kMaxWriteOffsets) {
      return InvalidArgument("SET_WRITE_OFFSET of {}; 1 to {} are allowed", header.offset_count,
                             abi::kMaxWriteOffsets);
    }
    RETURN_IF_ERROR(ReservedIsZero(header.reserved));
    return Words(header.offset_count);
  }

  Status SendGoSignal() {
    RETURN_IF_ERROR(Only<abi::SendGoSignal>());
    const auto& go = std::get<abi::SendGoSignal>(result_.header);
    if (go.multicast_go_offset != abi::kNoMulticastGo && go.multicast_go_offset >= abi::kGoWords) {
      return InvalidArgument("go word {}; there are {}", go.multicast_go_offset, abi::kGoWords);
    }
    if (uint32_t{go.noc_data_start_index} + go.num_unicast_txns > abi::kMaxGoNocWords) {
      return InvalidArgument("{} unicasts from {}; the table has {}", go.num_unicast_txns,
                             go.noc_data_start_index, abi::kMaxGoNocWords);
    }
    return OkStatus();
  }

  Status SetNumWorkerSems() {
    RETURN_IF_ERROR(Only<abi::SetNumWorkerSems>());
    const auto& sems = std::get<abi::SetNumWorkerSems>(result_.header);
    RETURN_IF_ERROR(ReservedIsZero(sems.reserved));
    RETURN_IF_ERROR(ReservedIsZero(uint64_t{sems.reserved2}));
    const uint32_t count = sems.num;
    if (count >= 1 && count < abi::kGoWords) return OkStatus();
    return InvalidArgument("{} worker streams; 1 to {} are allowed", count, abi::kGoWords - 1);
  }

  Status SetGoSignalNocData() {
    ASSIGN_OR_RETURN(const auto header, Take<abi::SetGoSignalNocData>());
    result_.header = header;
    RETURN_IF_ERROR(ReservedIsZero(header.reserved));
    RETURN_IF_ERROR(ReservedIsZero(uint64_t{header.reserved2}));
    if (header.num_words > abi::kMaxGoNocWords) {
      return InvalidArgument("{} go targets; at most {} are allowed", uint32_t{header.num_words},
                             abi::kMaxGoNocWords);
    }
    return Words(header.num_words);
  }

  ByteSpan payload_;
  uint32_t left_in_page_ = abi::kDispatchPageBytes;
  const abi::DispatcherType to_;
  const bool data_follows_;
  uint32_t at_ = 0;
  DecodedDispatch result_;
};

}  // namespace

StatusOr<DecodedDispatch> DecodeDispatch(ByteSpan payload, abi::DispatcherType to,
                                         bool data_follows) {
  return DispatchDecoder(payload, to, data_follows).Decode();
}

}  // namespace ttfd
