// Writes records into memory.
#include "runtime/command/record_writer.h"

#include <cstring>

namespace ttfd {
namespace {

// Copies one thing behind the other.
class Cursor {
 public:
  explicit Cursor(MutableByteSpan memory) : memory_(memory) {}
  void Bytes(ByteSpan bytes) {
    if (!bytes.empty()) std::memcpy(memory_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  template <typename T>
  void List(const std::vector<T>& list) {
    Bytes(std::as_bytes(std::span(list)));
  }
  void Align() { used_ = AlignUp(used_, size_t{abi::kPackedDataAlignment}); }

 private:
  MutableByteSpan memory_;  // zeroed
  size_t used_ = 0;
};

void PutDispatch(const DecodedDispatch& dispatch, Cursor& to) {
  abi::BareDispatch debug{};
  debug.id = abi::DispatchId::kDebug;
  for (uint32_t i = 0; i < dispatch.debugs; ++i) to.Bytes(BytesOf(debug));
  std::visit([&to](const auto& header) { to.Bytes(BytesOf(header)); }, dispatch.header);
  if (const auto* packed = std::get_if<abi::WritePacked>(&dispatch.header)) {
    for (const DecodedTarget& target : dispatch.targets) {
      to.Bytes(BytesOf(target.noc_word));
      if ((packed->flags & abi::kPackedMulticast) != 0) to.Bytes(BytesOf(target.receivers));
    }
    to.Align();
  }
  if (std::holds_alternative<abi::WritePackedLarge>(dispatch.header)) {
    to.List(dispatch.large_targets);
    to.Align();
  }
  to.List(dispatch.words);
  to.Bytes(dispatch.data);
}

abi::RelayInline RelayOf(abi::PrefetchId id, abi::DispatcherType to, uint32_t length) {
  abi::RelayInline prefetch{};
  prefetch.id = id;
  prefetch.dispatcher = to;
  prefetch.length = length;
  prefetch.stride = InlineRecordBytes(length);
  return prefetch;
}

struct EntryStride {
  uint32_t operator()(const auto& command) const {
    if constexpr (requires { command.stride; }) {
      return command.stride;
    } else {
      return abi::kEntryAlignment;
    }
  }
};

}  // namespace

uint32_t RecordBytes(const DecodedCommand& command) {
  return std::visit(EntryStride(), command.prefetch);
}

void RecordWriter::Command(const DecodedCommand& command) {
  Cursor to(Take(RecordBytes(command), 0));
  std::visit([&to](const auto& header) { to.Bytes(BytesOf(header)); }, command.prefetch);
  if (command.dispatch.has_value()) PutDispatch(*command.dispatch, to);
  to.List(command.stretches);
  to.List(command.ring_stretches);
  to.Bytes(command.debug_data);
}

MutableByteSpan RecordWriter::Take(uint32_t bytes, uint32_t content) {
  assert(used_ + bytes <= memory_.size());
  MutableByteSpan taken = memory_.subspan(used_, bytes);
  std::memset(taken.data() + content, 0, bytes - content);
  used_ += bytes;
  return taken;
}

MutableByteSpan RecordWriter::Payload(abi::PrefetchId id, abi::DispatcherType to, uint32_t length) {
  const uint32_t stride = InlineRecordBytes(length);
  MutableByteSpan record = Take(stride, abi::kCommandBytes + length);
  StoreAt(record.data(), RelayOf(id, to, length));
  return record.subspan(abi::kCommandBytes, length);
}

MutableByteSpan RecordWriter::PayloadHead(uint32_t head, uint32_t data) {
  MutableByteSpan record = Take(abi::kCommandBytes + head, abi::kCommandBytes + head);
  StoreAt(record.data(),
          RelayOf(abi::PrefetchId::kRelayInline, abi::DispatcherType::kDispatch, head + data));
  return record.subspan(abi::kCommandBytes);
}

void RecordWriter::Alone(ByteSpan command) {
  const auto size = static_cast<uint32_t>(command.size());
  std::memcpy(Take(abi::kEntryAlignment, size).data(), command.data(), size);
}

void RecordWriter::Bare(abi::PrefetchId id) {
  abi::BarePrefetch command{};
  command.id = id;
  Alone(BytesOf(command));
}

void RecordWriter::RelayLinear(uint32_t noc_xy, uint64_t address, uint64_t length,
                               abi::PrefetchId id) {
  abi::RelayLinear command{};
  command.id = id;
  command.length = length;
  command.noc_xy = noc_xy;
  command.address = address;
  Alone(BytesOf(command));
}

void RecordWriter::RelayPaged(bool is_dram, uint32_t first_bank, uint32_t base_address,
                              uint32_t page_bytes, uint32_t pages, uint32_t length_adjust) {
  assert(length_adjust < abi::kRelayPagedIsDram);
  abi::RelayPaged command{};
  command.id = abi::PrefetchId::kRelayPaged;
  command.start_page = static_cast<uint8_t>(first_bank);
  command.flags = static_cast<uint16_t>((is_dram ? abi::kRelayPagedIsDram : 0u) | length_adjust);
  command.base_address = base_address;
  command.page_size = page_bytes;
  command.pages = pages;
  Alone(BytesOf(command));
}

void RecordWriter::RelayPagedPacked(std::span<const abi::RelayPagedPackedTarget> targets) {
  const auto content = static_cast<uint32_t>(abi::kCommandBytes + targets.size_bytes());
  abi::RelayPagedPacked command{};
  command.id = abi::PrefetchId::kRelayPagedPacked;
  command.count = static_cast<uint16_t>(targets.size());
  for (const auto& target : targets) command.total_length += target.length;
  command.stride = AlignUp(content, abi::kEntryAlignment);
  MutableByteSpan record = Take(command.stride, content);
  StoreAt(record.data(), command);
  std::memcpy(record.data() + sizeof(command), targets.data(), targets.size_bytes());
}

void RecordWriter::ExecBuf(uint32_t base_address, uint32_t log_page_size, uint32_t pages) {
  abi::ExecBuf command{};
  command.id = abi::PrefetchId::kExecBuf;
  command.base_address = base_address;
  command.log_page_size = log_page_size;
  command.pages = pages;
  Alone(BytesOf(command));
}

void RecordWriter::ExecBufEnd() {
  abi::BareDispatch end{};
  end.id = abi::DispatchId::kExecBufEnd;
  Inline(abi::PrefetchId::kExecBufEnd, abi::DispatcherType::kDispatch, end, 0);
}

void RecordWriter::Debug(uint16_t key, ByteSpan data) {
  const auto size = static_cast<uint32_t>(data.size());
  abi::DebugPrefetch command{};
  command.id = abi::PrefetchId::kDebug;
  command.key = key;
  command.size = size;
  command.stride = InlineRecordBytes(size);
  MutableByteSpan record = Take(command.stride, abi::kCommandBytes + size);
  StoreAt(record.data(), command);
  if (size != 0) std::memcpy(record.data() + sizeof(command), data.data(), size);
}

void RecordWriter::PagedToRingbuffer(const abi::PagedToRingbuffer& command) {
  abi::PagedToRingbuffer written = command;
  written.id = abi::PrefetchId::kPagedToRingbuffer;
  Alone(BytesOf(written));
}

void RecordWriter::SetRingbufferOffset(uint32_t offset, bool update_write_pointer) {
  abi::SetRingbufferOffset command{};
  command.id = abi::PrefetchId::kSetRingbufferOffset;
  command.offset = offset;
  command.update_wp = update_write_pointer ? 1 : 0;
  Alone(BytesOf(command));
}

void RecordWriter::RelayRingbuffer(std::span<const abi::RelayRingbufferTarget> targets) {
  const auto content = static_cast<uint32_t>(abi::kCommandBytes + targets.size_bytes());
  abi::RelayRingbuffer command{};
  command.id = abi::PrefetchId::kRelayRingbuffer;
  command.count = static_cast<uint16_t>(targets.size());
  command.stride = AlignUp(content, abi::kEntryAlignment);
  MutableByteSpan record = Take(command.stride, content);
  StoreAt(record.data(), command);
  std::memcpy(record.data() + sizeof(command), targets.data(), targets.size_bytes());
}

}  // namespace ttfd
