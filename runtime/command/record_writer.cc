// Writes records into memory.
#include "runtime/command/record_writer.h"

#include <cstring>

namespace ttfd {

MutableByteSpan RecordWriter::Take(uint32_t bytes, uint32_t content) {
  assert(used_ + bytes <= memory_.size());
  MutableByteSpan taken = memory_.subspan(used_, bytes);
  std::memset(taken.data() + content, 0, bytes - content);
  used_ += bytes;
  return taken;
}

MutableByteSpan RecordWriter::BeginInline(abi::PrefetchId id, abi::DispatcherType to,
                                          uint32_t length) {
  const uint32_t stride = InlineRecordBytes(length);
  MutableByteSpan record = Take(stride, abi::kCommandBytes + length);
  abi::RelayInline prefetch{};
  prefetch.id = id;
  prefetch.dispatcher = to;
  prefetch.length = length;
  prefetch.stride = stride;
  StoreAt(record.data(), prefetch);
  return record.subspan(abi::kCommandBytes, length);
}

void RecordWriter::Bare(abi::PrefetchId id) {
  MutableByteSpan record = Take(abi::kEntryAlignment, abi::kCommandBytes);
  abi::BarePrefetch command{};
  command.id = id;
  StoreAt(record.data(), command);
}

void RecordWriter::RelayLinear(uint32_t noc_xy, uint64_t address, uint64_t length) {
  MutableByteSpan record = Take(abi::kEntryAlignment, abi::kLargeCommandBytes);
  abi::RelayLinear command{};
  command.id = abi::PrefetchId::kRelayLinear;
  command.length = length;
  command.noc_xy = noc_xy;
  command.address = address;
  StoreAt(record.data(), command);
}

void RecordWriter::RelayPaged(bool is_dram, uint32_t first_bank, uint32_t base_address,
                              uint32_t page_bytes, uint32_t pages) {
  MutableByteSpan record = Take(abi::kEntryAlignment, abi::kCommandBytes);
  abi::RelayPaged command{};
  command.id = abi::PrefetchId::kRelayPaged;
  command.start_page = static_cast<uint8_t>(first_bank);
  command.flags = is_dram ? abi::kRelayPagedIsDram : uint16_t{0};
  command.base_address = base_address;
  command.page_size = page_bytes;
  command.pages = pages;
  StoreAt(record.data(), command);
}

}  // namespace ttfd
