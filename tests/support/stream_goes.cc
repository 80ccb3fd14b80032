// A random stream's go signals: counters, launch messages, lists of targets.
#include "runtime/abi/launch.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/stream.h"
#include "tests/support/stream_emit.h"
#include "tests/support/stream_queue.h"

namespace ttfd::testing {
namespace {

constexpr uint32_t kOwnStream = 60;  // a counter that no worker touches

}  // namespace

uint32_t StreamQueue::StreamOf(size_t sub_device) const {
  return world_.layout.first_worker_stream + sub_devices_[sub_device].id;
}

// By a write to the register that adds to the counter.
void StreamQueue::AddToStream(uint32_t stream, uint32_t value) {
  auto write = Command<abi::WriteLinear>(abi::DispatchId::kWriteLinear);
  write.noc_xy = world_.layout.dispatch_xy[queue_];
  write.address = hw::StreamRegister(stream, hw::kStreamSpaceAvailableUpdate);
  write.length = sizeof(uint32_t);
  const uint32_t update = value << hw::kStreamUpdateShift;
  Dispatch(write, BytesOf(update));
}

void StreamQueue::OwnCounter() {
  if (!world_.writes_registers) return Idle();
  const uint32_t value = world_.Pick(1, (1 << (hw::kStreamCounterBits - 1)) - 1);
  AddToStream(kOwnStream, value);
  auto wait = Command<abi::Wait>(abi::DispatchId::kWait);
  wait.flags = abi::kWaitStream | abi::kWaitClearStream;
  if (world_.OneIn(2)) wait.flags |= abi::kWaitBarrier;
  wait.stream = kOwnStream;
  wait.count = value;
  Dispatch(wait);
}

void StreamQueue::SetGoTargets() {
  auto table = Command<abi::SetGoSignalNocData>(abi::DispatchId::kSetGoSignalNocData);
  carried_.go_targets.clear();
  for (const SubDevice& sub_device : sub_devices_) {
    if (world_.OneIn(5)) continue;
    carried_.go_targets.insert(carried_.go_targets.end(), sub_device.workers.begin(),
                               sub_device.workers.end());
  }
  table.num_words = static_cast<uint32_t>(carried_.go_targets.size());
  DispatchS(table, std::as_bytes(std::span(carried_.go_targets)));
}

// One that starts nothing: the worker answers at once.
void StreamQueue::LaunchMessage(const SubDevice& sub_device, uint32_t slot) {
  auto packed = Command<abi::WritePacked>(abi::DispatchId::kWritePacked);
  packed.flags = abi::kPackedNoStride | 2 << abi::kPackedTypeShift;
  packed.count = static_cast<uint16_t>(sub_device.workers.size());
  packed.size = sizeof(abi::LaunchMessage);
  packed.address = abi::LaunchMessageAddress(slot);
  abi::LaunchMessage message{};
  message.config_address = abi::kConfigRingAddress;
  message.program_id = world_.random();
  std::vector<std::byte> extra;
  for (const uint32_t xy : sub_device.workers) {
    const ByteSpan word = BytesOf(xy);
    extra.insert(extra.end(), word.begin(), word.end());
  }
  extra.resize(AlignUp(extra.size(), size_t{16}));
  const ByteSpan bytes = BytesOf(message);
  extra.insert(extra.end(), bytes.begin(), bytes.end());
  Dispatch(packed, extra);
}

void StreamQueue::SendGo() {
  if (sub_devices_.empty()) return Idle();
  const auto which = world_.Pick(0, static_cast<uint32_t>(sub_devices_.size()) - 1);
  const SubDevice& sub_device = sub_devices_[which];
  const uint32_t slot = world_.Pick(0, abi::kLaunchSlots - 1);
  const bool message = world_.OneIn(3);
  if (message) LaunchMessage(sub_device, slot);
  auto notify = Command<abi::NotifySubordinate>(abi::DispatchId::kNotifySubordinateGoSignal);
  notify.wait = message || world_.OneIn(2) ? 1 : 0;
  notify.index_bitmask = static_cast<uint16_t>(1u << sub_device.id);
  Dispatch(notify);

  auto go = Command<abi::SendGoSignal>(abi::DispatchId::kSendGoSignal);
  const uint32_t tile = world_.layout.dispatch_xy[queue_];
  go.go_signal = abi::GoWord(sub_device.id, hw::NocX(tile), hw::NocY(tile), slot);
  go.wait_stream = StreamOf(which);
  go.wait_count = carried_.expected[which];
  // The sub-device's own targets lie together in the table, if they are there.
  const auto& table = carried_.go_targets;
  const auto found =
      std::search(table.begin(), table.end(), sub_device.workers.begin(), sub_device.workers.end());
  if (found == table.end() || world_.OneIn(2)) {
    go.multicast_go_offset = static_cast<uint8_t>(sub_device.id);
    carried_.expected[which] += static_cast<uint32_t>(sub_device.workers.size());
  } else {
    const auto workers = static_cast<uint32_t>(sub_device.workers.size());
    const uint32_t first = world_.Pick(0, workers - 1);
    const uint32_t count = world_.Pick(1, workers - first);
    go.multicast_go_offset = abi::kNoMulticastGo;
    go.noc_data_start_index = static_cast<uint8_t>(found - table.begin() + first);
    go.num_unicast_txns = static_cast<uint8_t>(count);
    carried_.expected[which] += count;
  }
  DispatchS(go);
  if (world_.OneIn(3)) AwaitGos(which, world_.OneIn(3));
}

void StreamQueue::AwaitGos(size_t sub_device, bool clear) {
  auto wait = Command<abi::Wait>(abi::DispatchId::kWait);
  wait.flags = abi::kWaitStream;
  if (clear) wait.flags |= abi::kWaitClearStream;
  wait.stream = static_cast<uint16_t>(StreamOf(sub_device));
  wait.count = carried_.expected[sub_device];
  Dispatch(wait);
  if (clear) carried_.expected[sub_device] = 0;
}

// The counter jumps, often over its 17 bits.
void StreamQueue::AddToCounter() {
  if (sub_devices_.empty() || !world_.writes_registers) return Idle();
  const auto which = world_.Pick(0, static_cast<uint32_t>(sub_devices_.size()) - 1);
  AwaitGos(which, false);
  uint32_t value = world_.Pick(1, (1 << (hw::kStreamCounterBits - 1)) - 1);
  if (world_.OneIn(2)) {  // to just below the wrap, as far as one step goes
    const uint32_t gap = -carried_.expected[which] & hw::kStreamCounterMask;
    value = std::max(1u, std::min(value, gap - std::min(gap, world_.Pick(0, 4))));
  }
  AddToStream(StreamOf(which), value);
  carried_.expected[which] += value;
  AwaitGos(which, false);
}

// dispatch_s clears the counters it is given, so all answers have been waited for; a go shows that it is
// done before the dispatcher touches them.
void StreamQueue::SetWorkerStreams() {
  if (sub_devices_.empty()) return Idle();
  uint32_t most = 0;
  for (size_t i = 0; i < sub_devices_.size(); ++i) {
    AwaitGos(i, true);
    most = std::max(most, sub_devices_[i].id);
  }
  SyncPrefetch();
  auto sems = Command<abi::SetNumWorkerSems>(abi::DispatchId::kSetNumWorkerSems);
  sems.num = world_.Pick(most + 1, abi::kMaxSubDevices);
  DispatchS(sems);
  SendGo();
  for (size_t i = 0; i < sub_devices_.size(); ++i) AwaitGos(i, false);
}

}  // namespace ttfd::testing
