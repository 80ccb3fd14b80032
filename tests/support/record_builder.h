// Dispatch commands by hand, to be put into entries (entry_builder.h).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "tests/support/entry_builder.h"

namespace ttfd::testing {

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

// `count` DEBUGs, then the command.
inline Payload Debugged(uint32_t count, const Payload& command) {
  Payload payload = BareDispatchCommand(abi::DispatchId::kDebug);
  for (uint32_t i = 1; i < count; ++i) {
    payload.Append(BareDispatchCommand(abi::DispatchId::kDebug).bytes());
  }
  return payload.Append(command.bytes());
}

}  // namespace ttfd::testing
