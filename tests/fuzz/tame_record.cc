#include "tests/fuzz/tame_record.h"

#include <algorithm>
#include <cstring>

#include "runtime/abi/l1_map.h"
#include "runtime/base/bits.h"

namespace ttfd::testing {
namespace {

// Written to, and read from: apart, so that what is read is zero, which is no command. Alignment stays as
// it was.
constexpr uint32_t kWriteL1 = abi::kBufferAddress;
constexpr uint32_t kReadL1 = abi::kBufferAddress + 0x80000;
constexpr uint32_t kL1Mask = 0xFFFF;
constexpr uint32_t kWriteDram = 0x100000;
constexpr uint32_t kReadDram = 0x40000000;
constexpr uint32_t kDramMask = 0xFFFFF;

class Tamer {
 public:
  Tamer(std::vector<std::byte>& bytes, const FirmwareBench& bench) : bytes_(bytes), bench_(bench) {}

  // Follows the commands as the prefetcher does, as far as they are well formed.
  void Run() {
    for (size_t at = 0; at + abi::kEntryAlignment <= bytes_.size();) {
      const uint32_t stride = Command(at);
      if (stride == 0 || stride % abi::kEntryAlignment != 0 || stride > bytes_.size() - at) return;
      at += stride;
    }
  }

  bool leaves_state() const { return leaves_state_; }

 private:
  template <typename T>
  T Get(size_t at) const {
    return at + sizeof(T) <= bytes_.size() ? LoadAt<T>(bytes_.data() + at) : T{};
  }
  template <typename T>
  void Put(size_t at, const T& value) {
    if (at + sizeof(T) <= bytes_.size()) std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  uint32_t worker() const { return bench_.block().worker_start_xy; }

  // Returns the distance to the next command, 0 if there is none.
  uint32_t Command(size_t at) {
    switch (Get<abi::PrefetchId>(at)) {
      case abi::PrefetchId::kRelayInlineNoflush:
        leaves_state_ = true;  // an open command
        [[fallthrough]];
      case abi::PrefetchId::kRelayInline:
      case abi::PrefetchId::kExecBufEnd:
        return Inline(at);
      case abi::PrefetchId::kRelayLinear:
      case abi::PrefetchId::kRelayLinearH:
        Linear(at);
        return abi::kEntryAlignment;
      case abi::PrefetchId::kRelayPaged:
        Paged(at);
        return abi::kEntryAlignment;
      case abi::PrefetchId::kRelayPagedPacked:
        return PagedPacked(at);
      case abi::PrefetchId::kPagedToRingbuffer: {
        auto command = Get<abi::PagedToRingbuffer>(at);
        command.base_address = kReadDram + (command.base_address & kDramMask);
        command.start_page &= 15;
        command.log2_page_size = Shift(command.log2_page_size);
        Put(at, command);
        leaves_state_ = true;  // offset and write pointer
        return abi::kEntryAlignment;
      }
      case abi::PrefetchId::kSetRingbufferOffset:
        leaves_state_ = true;
        return abi::kEntryAlignment;
      case abi::PrefetchId::kRelayRingbuffer:
        return Get<abi::RelayRingbuffer>(at).stride;
      case abi::PrefetchId::kDebug:
        return Get<abi::DebugPrefetch>(at).stride;
      case abi::PrefetchId::kExecBuf: {
        auto command = Get<abi::ExecBuf>(at);
        command.base_address = kReadDram + (command.base_address & kDramMask);
        Put(at, command);
        return 0;
      }
      default:
        return abi::kEntryAlignment;
    }
  }

  void Linear(size_t at) {
    auto command = Get<abi::RelayLinear>(at);
    command.noc_xy = worker();
    command.address = kReadL1 + (command.address & kL1Mask);
    if (command.length >> 32 == 0) command.length &= kL1Mask;
    Put(at, command);
  }

  void Paged(size_t at) {
    auto command = Get<abi::RelayPaged>(at);
    const bool dram = (command.flags & abi::kRelayPagedIsDram) != 0;
    command.base_address = dram ? kReadDram + (command.base_address & kDramMask)
                                : kReadL1 + (command.base_address & 0xFFF);
    if (command.page_size <= 0xFFFFFF) command.page_size &= 0x3FFF;
    if (command.pages <= 0xFFFFFF) command.pages &= 15;
    if (uint64_t{command.pages} * command.page_size >> 32 == 0 && command.page_size > 0xFFFFFF) {
      command.page_size &= 0x3FFF;
    }
    if (uint64_t{command.pages} * command.page_size >> 32 == 0) command.pages &= 15;
    command.start_page &= 15;
    Put(at, command);
  }

  // Sizes within what DRAM has, or beyond what a command may say.
  static uint8_t Shift(uint32_t shift) {
    return static_cast<uint8_t>(shift > abi::kMaxPageShift ? 0xFF
                                : shift > 16               ? shift % 16
                                                           : shift);
  }

  uint32_t PagedPacked(size_t at) {
    const auto command = Get<abi::RelayPagedPacked>(at);
    for (uint32_t i = 0; i < std::min<uint32_t>(command.count, abi::kMaxPagedPacked); ++i) {
      const size_t place = at + sizeof(command) + i * sizeof(abi::RelayPagedPackedTarget);
      auto target = Get<abi::RelayPagedPackedTarget>(place);
      target.start_page &= 15;
      target.log_page_size = Shift(target.log_page_size);
      target.base_address = kReadDram + (target.base_address & kDramMask);
      Put(place, target);
    }
    return command.stride;
  }

  uint32_t Inline(size_t at) {
    const auto command = Get<abi::RelayInline>(at);
    const size_t payload = at + sizeof(command);
    if (command.length == 0 || command.stride < sizeof(command) ||
        command.length > command.stride - sizeof(command) || payload >= bytes_.size()) {
      return command.stride;
    }
    const size_t length = std::min<size_t>(command.length, bytes_.size() - payload);
    // Where a payload ends, the ring still holds what was there before: no command may reach that far.
    const size_t debugs = Debugs(payload, length);
    const size_t fields = debugs + Dispatch(payload + debugs, length - debugs);
    if (fields == 0 || fields > length) Put(payload, uint8_t{0});
    if (fields < length)
      std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(payload + fields), length - fields,
                  std::byte{0});
    return command.stride;
  }

  // How many bytes of DEBUGs precede a command, which a payload does not end without.
  size_t Debugs(size_t at, size_t length) {
    constexpr size_t kBytes = sizeof(abi::BareDispatch);
    size_t bytes = 0;
    while (Get<abi::DispatchId>(at + bytes) == abi::DispatchId::kDebug) {
      if (length - bytes < 2 * kBytes) {
        Put(at + bytes, uint8_t{0});
        break;
      }
      bytes += kBytes;
    }
    return bytes;
  }

  // Tames the dispatch command at `at`; returns how many bytes it and its sub-commands have.
  size_t Dispatch(size_t at, size_t length) {
    switch (Get<abi::DispatchId>(at)) {
      case abi::DispatchId::kWriteLinear:
      case abi::DispatchId::kWriteLinearH: {
        auto command = Get<abi::WriteLinear>(at);
        command.noc_xy = command.num_mcast_dests == 0 ? worker() : bench_.worker_rectangle();
        command.address = kWriteL1 + (command.address & kL1Mask);
        if (command.length >> 32 == 0) command.length &= kL1Mask;
        if (length >= sizeof(command)) Put(at, command);
        return sizeof(command);
      }
      case abi::DispatchId::kWritePaged: {
        auto command = Get<abi::WritePaged>(at);
        command.base_address = command.is_dram != 0
                                   ? kWriteDram + (command.base_address & kDramMask)
                                   : kWriteL1 + (command.base_address & 0xFFF);
        command.page_size &= command.is_dram != 0 ? 0xFFFF : 0x3FFF;
        if (command.is_dram == 0) command.start_page &= 15, command.pages &= 15;
        if (length >= sizeof(command)) Put(at, command);
        return sizeof(command);
      }
      case abi::DispatchId::kWritePacked:
        return WritePacked(at, length);
      case abi::DispatchId::kWritePackedLarge:
        return WritePackedLarge(at, length);
      case abi::DispatchId::kSetWriteOffset: {
        leaves_state_ = true;
        const auto command = Get<abi::SetWriteOffset>(at);
        const size_t fields = sizeof(command) + 4 * std::min<size_t>(command.offset_count, 4);
        for (size_t place = at + sizeof(command); place + 4 <= at + std::min(fields, length);
             place += 4) {
          Put(place, Get<uint32_t>(place) & kL1Mask);
        }
        return fields;
      }
      case abi::DispatchId::kDelay: {
        auto command = Get<abi::Delay>(at);
        if (command.delay <= abi::kMaxDelayClocks) command.delay &= 0x3FF;
        if (length >= sizeof(command)) Put(at, command);
        return sizeof(command);
      }
      case abi::DispatchId::kSendGoSignal: {
        auto command = Get<abi::SendGoSignal>(at);
        const hw::Coordinate tile = FirmwareBench::kDispatchTile;
        command.go_signal =
            abi::GoWord(command.go_signal & 7, tile.x, tile.y, command.go_signal >> 24 & 7);
        if (length >= sizeof(command)) Put(at, command);
        leaves_state_ = true;  // a go word that a worker may not have taken
        return sizeof(command);
      }
      case abi::DispatchId::kSetGoSignalNocData: {
        leaves_state_ = true;
        const auto command = Get<abi::SetGoSignalNocData>(at);
        const size_t fields =
            sizeof(command) + 4 * size_t{std::min(command.num_words, abi::kMaxGoNocWords)};
        for (size_t place = at + sizeof(command); place + 4 <= at + std::min(fields, length);
             place += 4) {
          Put(place, worker());
        }
        return fields;
      }
      case abi::DispatchId::kSetNumWorkerSems:
      case abi::DispatchId::kNotifySubordinateGoSignal:
        leaves_state_ = true;
        return sizeof(abi::BareDispatch);
      default:
        return sizeof(abi::BareDispatch);
    }
  }

  size_t WritePacked(size_t at, size_t length) {
    auto command = Get<abi::WritePacked>(at);
    const bool multicast = (command.flags & abi::kPackedMulticast) != 0;
    command.address = kWriteL1 + (command.address & kL1Mask);
    if (length >= sizeof(command)) Put(at, command);
    const size_t words =
        std::min<size_t>(command.count, bench_.worker_count()) * (multicast ? 2 : 1);
    const size_t fields = AlignUp(sizeof(command) + 4 * words, size_t{16});
    for (size_t i = 0; i < words && sizeof(command) + 4 * i + 4 <= length; i += multicast ? 2 : 1) {
      Put(at + sizeof(command) + 4 * i, multicast ? bench_.worker_rectangle() : worker());
    }
    return fields;
  }

  size_t WritePackedLarge(size_t at, size_t length) {
    const auto command = Get<abi::WritePackedLarge>(at);
    const size_t count = std::min<size_t>(command.count, abi::kPackedLargeMaxCount);
    const size_t fields =
        AlignUp(sizeof(command) + count * sizeof(abi::WritePackedLargeTarget), size_t{16});
    for (size_t i = 0; i < count; ++i) {
      const size_t place = at + sizeof(command) + i * sizeof(abi::WritePackedLargeTarget);
      if (place + sizeof(abi::WritePackedLargeTarget) > at + length) break;
      auto target = Get<abi::WritePackedLargeTarget>(place);
      target.rectangle = bench_.worker_rectangle();
      target.address = kWriteL1 + (target.address & kL1Mask);
      Put(place, target);
    }
    return fields;
  }

  std::vector<std::byte>& bytes_;
  const FirmwareBench& bench_;
  bool leaves_state_ = false;
};

}  // namespace

TameRecord Tame(ByteSpan input, const FirmwareBench& bench) {
  TameRecord record;
  if (input.size() < 2) return record;
  const auto mode = static_cast<uint8_t>(input[0]);
  record.is_buffer = (mode & 1) != 0;
  record.stall = (mode & 2) != 0;
  const size_t most = record.is_buffer ? 16 * 1024 : bench.block().command_ring_bytes / 2;
  const ByteSpan commands = input.subspan(1, std::min(most, input.size() - 1));
  record.bytes.assign(commands.begin(), commands.end());
  record.bytes.resize(AlignUp(record.bytes.size(), size_t{record.is_buffer ? 1024u : 64u}));
  Tamer tamer(record.bytes, bench);
  tamer.Run();
  record.leaves_state = tamer.leaves_state();
  return record;
}

}  // namespace ttfd::testing
