// Commands of the far tile, and what shows that they have been carried out.
#include "runtime/fabric/remote_link.h"

#include <algorithm>
#include <array>

#include "runtime/base/bits.h"
#include "runtime/hw/ethernet.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

constexpr uint32_t kQueue = 1;
constexpr uint64_t kAnswerClocks = 100;  // between two looks for an answer

// Memory of both Ethernet tiles, at the same addresses. A link of kernels (runtime/abi/link.h) has its rings there:
// channels are for one or the other.
constexpr uint32_t kSlots = 0x58000;  // bytes of a write, one slot for each buffer
constexpr uint32_t kSlotBytes = hw::kNocMaxPacketBytes + 64;
constexpr uint32_t kWriteBuffers = hw::kNiuCommandBuffers;
// Near: lines of which a counter's copy replaces a word, and the one that shows the arrival of answers.
constexpr uint32_t kUnmarked = kSlots + kWriteBuffers * kSlotBytes;
constexpr uint32_t kMark = kUnmarked + 2 * 16;
// Answers end here; behind them the line that shows their arrival.
constexpr uint32_t kAnswersEnd = hw::kEthLinkFirmware - 64;
constexpr uint32_t kLine = 16;
static_assert(kMark + kLine + 2 * kLine + kSlotBytes <= kAnswersEnd && kAnswersEnd % 64 == 0);
constexpr uint32_t kArrived = kAnswersEnd;  // its mark
// Words of lines that have no copy yet. That one is used which the count is far from.
constexpr uint32_t kNoCopies[] = {~0u, ~0u >> 1};

constexpr uint32_t Buffer(uint32_t niu, uint32_t buffer) {
  return hw::kNiuAddress + niu * hw::kNiuStride + buffer * hw::kNiuCommandBufferStride;
}
// Writes take the buffers in turn, from 0 on after each confirmation. A read is behind one, and takes the last, which
// then often holds what it needs.
constexpr uint32_t WriteBuffer(uint32_t index) { return Buffer(1, index); }
constexpr uint32_t kReadBuffer = WriteBuffer(kWriteBuffers - 1);
constexpr uint32_t kAcknowledgedLine = Buffer(0, 1);
constexpr uint32_t kAnsweredLine = Buffer(0, 2);

constexpr uint32_t Counter(uint32_t index) {
  return hw::kNiuAddress + hw::kNiuStride + hw::kNocStatus + 4 * index;
}
constexpr uint32_t kAcknowledged = Counter(hw::kNocWriteAcks);
constexpr uint32_t kAnswered = Counter(hw::kNocReadResponses);
constexpr uint32_t kOutstanding = Counter(hw::kNocRequestsOutstanding);
constexpr uint32_t kAllTransactions = 0xFFFF;
// Answers after which a count that stays the same is that of commands that have ended.
constexpr uint32_t kSettledAnswers = 64;
constexpr uint32_t kMostAnswers = 4096;

constexpr uint32_t kRead =
    hw::kNocResponse | hw::kNocStaticVc | hw::kNocUnicastVc << hw::kNocVcShift;
constexpr uint32_t kWrite = kRead | hw::kNocWrite;
constexpr uint32_t kMulticast = hw::kNocWrite | hw::kNocResponse | hw::kNocMulticast |
                                hw::kNocPathReserve | hw::kNocStaticVc |
                                hw::kNocMulticastVc << hw::kNocVcShift;

constexpr uint32_t FarQueue(uint32_t offset) {
  return hw::kEthTransmit + kQueue * hw::kEthTransmitStride + offset;
}

}  // namespace

StatusOr<std::unique_ptr<RemoteLink>> RemoteLink::Open(EthernetEnd near, uint32_t far_xy) {
  std::unique_ptr<RemoteLink> link(new RemoteLink(std::move(near), far_xy));
  RETURN_IF_ERROR(link->Reopen());
  return link;
}

Status RemoteLink::Do(absl::FunctionRef<Status()> call) {
  if (lost_.ok() && near_.device().resets() != near_resets_) lost_ = BeginAfterReset();
  if (lost_.ok()) lost_ = call();
  return lost_;
}

Status RemoteLink::Reopen() {
  // Nothing says of the commands of a link that was lost whether their buffers are free.
  if (!lost_.ok()) RETURN_IF_ERROR(near_.Settle());
  return lost_ = Begin();
}

Status RemoteLink::BeginAfterReset() {
  if (outstanding_ == 0 && near_.device().info().memory_survives_reset) return Begin();
  return Error(StatusCode::kUnavailable, "the neighbour of the link at {} was reset", near_.name());
}

Status RemoteLink::Begin() {
  near_resets_ = near_.device().resets();
  near_.DiscardQueueState();
  far_.clear();
  keeps_coordinates_ = false;
  outstanding_ = 0;
  bytes_ = false;
  multicast_ = false;
  for (uint32_t i = 0; i < std::size(kNoCopies); ++i) {
    std::array<uint32_t, kLine / 4> line;
    line.fill(kNoCopies[i]);
    RETURN_IF_ERROR(near_.window().Write(kUnmarked + i * kLine, std::as_bytes(std::span(line))));
  }
  // An answer to a command from before this has another mark.
  ASSIGN_OR_RETURN(arrived_mark_, near_.Read(kMark));
  ++arrived_mark_;
  RETURN_IF_ERROR(near_.Write(kMark, arrived_mark_));
  RETURN_IF_ERROR(SendBytes(kMark, kAnswersEnd, kLine));
  RETURN_IF_ERROR(AwaitEarlierCommands());
  ASSIGN_OR_RETURN(acknowledged_,
                   Fetch(kAcknowledgedLine, kAcknowledged, kAnswersEnd, kNoCopies[0]));
  ASSIGN_OR_RETURN(answered_, Fetch(kAnsweredLine, kAnswered, kAnswersEnd, kNoCopies[0]));
  uint32_t kept = 0;
  RETURN_IF_ERROR(ReadPart(far_xy_, kAcknowledgedLine + hw::kNocTargetHigh, MutableBytesOf(kept)));
  keeps_coordinates_ = kept == far_xy_;
  return OkStatus();
}

Status RemoteLink::AwaitEarlierCommands() {
  uint32_t last = 0;
  uint32_t unchanged = 0;
  for (uint32_t answers = 0; answers < kMostAnswers; ++answers) {
    ASSIGN_OR_RETURN(const uint32_t count,
                     Fetch(kAcknowledgedLine, kOutstanding, kAnswersEnd, kNoCopies[0]));
    if (count == 0) return OkStatus();
    unchanged = count == last ? unchanged + 1 : 0;
    if (unchanged == kSettledAnswers) return ClearOutstanding();
    last = count;
  }
  return Error(StatusCode::kUnavailable,
               "something else gives commands to the NIU at the far end of {}", near_.name());
}

Status RemoteLink::ClearOutstanding() {
  return Fire(hw::kNiuAddress + hw::kNiuStride + hw::kNocClearOutstanding, kAllTransactions);
}

Status RemoteLink::Read(uint32_t xy, uint64_t address, MutableByteSpan to) {
  return Do([&]() -> Status {
    RETURN_IF_ERROR(ConfirmAll());
    for (MutableByteSpan rest = to; !rest.empty();) {
      const size_t part = std::min<size_t>(rest.size(), hw::kNocMaxPacketBytes);
      RETURN_IF_ERROR(ReadPart(xy, address + (to.size() - rest.size()), rest.first(part)));
      rest = rest.subspan(part);
    }
    return OkStatus();
  });
}

Status RemoteLink::ReadPart(uint32_t xy, uint64_t address, MutableByteSpan to) {
  // Both ends of a read of DRAM are equal modulo 64 (hw::kDramAlignment); other tiles ask for less.
  const auto behind = static_cast<uint32_t>(address % hw::kDramAlignment);
  const auto bytes = static_cast<uint32_t>(to.size());
  const uint32_t begin =
      kAnswersEnd - static_cast<uint32_t>(AlignUp(behind + bytes, hw::kDramAlignment)) + behind;
  RETURN_IF_ERROR(Issue(kReadBuffer, {.target = address,
                                      .target_xy = xy,
                                      .return_address = begin,
                                      .return_xy = far_xy_,
                                      .control = kRead,
                                      .length = bytes}));
  RETURN_IF_ERROR(FetchAt(kAnsweredLine, kAnswered, ++answered_, begin));
  return near_.window().Read(begin, to);
}

Status RemoteLink::Write(uint32_t xy, uint64_t address, ByteSpan from) {
  return Do([&]() -> Status {
    if (multicast_) RETURN_IF_ERROR(ConfirmAll());
    for (ByteSpan rest = from; !rest.empty();) {
      const size_t part = std::min<size_t>(rest.size(), hw::kNocMaxPacketBytes);
      RETURN_IF_ERROR(WritePart(address + (from.size() - rest.size()), rest.first(part), 1,
                                {.return_xy = xy, .control = kWrite}));
      rest = rest.subspan(part);
    }
    return OkStatus();
  });
}

Status RemoteLink::Multicast(hw::Coordinate start, hw::Coordinate end, uint32_t receivers,
                             uint64_t address, ByteSpan from) {
  return Do([&]() -> Status {
    // NoC 1 goes from high to low.
    const uint32_t rectangle =
        hw::NocRectangle(hw::NocXy(end.x, end.y), hw::NocXy(start.x, start.y));
    for (ByteSpan rest = from; !rest.empty();) {
      RETURN_IF_ERROR(ConfirmAll());
      multicast_ = true;
      const size_t part = std::min<size_t>(rest.size(), hw::kNocMaxPacketBytes);
      RETURN_IF_ERROR(WritePart(address + (from.size() - rest.size()), rest.first(part), receivers,
                                {.return_xy = rectangle, .control = kMulticast}));
      rest = rest.subspan(part);
    }
    return OkStatus();
  });
}

Status RemoteLink::WritePart(uint64_t address, ByteSpan from, uint32_t acknowledgements,
                             Command command) {
  RETURN_IF_ERROR(AwaitWriteBuffer());
  constexpr uint32_t kAlignment = 16;  // both ends of a write are equal modulo
  const auto behind = static_cast<uint32_t>(address % kAlignment);
  const auto bytes = static_cast<uint32_t>(from.size());
  const uint32_t slot = kSlots + outstanding_ * kSlotBytes;
  RETURN_IF_ERROR(near_.window().Write(slot + behind, from));
  RETURN_IF_ERROR(
      SendBytes(slot, slot, static_cast<uint32_t>(AlignUp(behind + bytes, kAlignment))));
  command.target = slot + behind;
  command.target_xy = far_xy_;
  command.return_address = address;
  command.length = bytes;
  bytes_ = true;
  return IssueWrite(acknowledgements, command);
}

Status RemoteLink::AwaitWriteBuffer() {
  return outstanding_ < kWriteBuffers ? OkStatus() : ConfirmAll();
}

Status RemoteLink::IssueWrite(uint32_t acknowledgements, const Command& command) {
  RETURN_IF_ERROR(Issue(WriteBuffer(outstanding_), command));
  acknowledged_ += acknowledgements;
  ++outstanding_;
  return OkStatus();
}

Status RemoteLink::WriteRegister(uint32_t xy, uint32_t address, uint32_t value) {
  return Do([&]() -> Status {
    // A write of a register may pass one of L1 in front of it.
    if (bytes_) RETURN_IF_ERROR(ConfirmAll());
    RETURN_IF_ERROR(AwaitWriteBuffer());
    return IssueWrite(1, {.target = address,
                          .target_xy = xy,
                          .return_xy = far_xy_,
                          .control = kWrite | hw::kNocInline,
                          .length = 0xFu << address % 16,  // byte enables
                          .data = value});
  });
}

Status RemoteLink::Confirm() {
  return Do([&] { return ConfirmAll(); });
}

Status RemoteLink::ConfirmAll() {
  if (outstanding_ == 0) return OkStatus();
  RETURN_IF_ERROR(FetchAt(kAcknowledgedLine, kAcknowledged, acknowledged_, kAnswersEnd));
  outstanding_ = 0;
  bytes_ = false;
  // A multicast counts as one request, and each of its answers.
  return std::exchange(multicast_, false) ? ClearOutstanding() : OkStatus();
}

Status RemoteLink::SendBytes(uint32_t from, uint32_t to, uint32_t bytes) {
  ++counts_.transfers;
  return near_.SendBytes(kQueue, from, to, bytes);
}

Status RemoteLink::SetFar(uint32_t address, uint32_t value) {
  const auto [held, inserted] = far_.try_emplace(address, value);
  if (!inserted && held->second == value) return OkStatus();
  held->second = value;
  return Fire(address, value);
}

Status RemoteLink::Fire(uint32_t address, uint32_t command) {
  ++counts_.register_writes;
  return near_.SendRegister(kQueue, address, command);
}

Status RemoteLink::Issue(uint32_t buffer, const Command& command) {
  const auto high = [](uint64_t address) { return static_cast<uint32_t>(address >> 32); };
  const std::pair<uint32_t, uint32_t> words[] = {
      {hw::kNocTargetLow, static_cast<uint32_t>(command.target)},
      {hw::kNocTargetMid, high(command.target)},
      {hw::kNocTargetHigh, command.target_xy},
      {hw::kNocReturnLow, static_cast<uint32_t>(command.return_address)},
      {hw::kNocReturnMid, high(command.return_address)},
      {hw::kNocReturnHigh, command.return_xy},
      {hw::kNocPacketTag, 0},
      {hw::kNocControl, command.control},
      {hw::kNocLength, command.length}};
  for (const auto& [offset, value] : words) RETURN_IF_ERROR(SetFar(buffer + offset, value));
  if ((command.control & hw::kNocInline) != 0) {
    RETURN_IF_ERROR(SetFar(buffer + hw::kNocData, command.data));
  }
  if (!keeps_coordinates_) {
    far_.erase(buffer + hw::kNocTargetHigh);
    far_.erase(buffer + hw::kNocReturnHigh);
  }
  return Fire(buffer + hw::kNocCommand, 1);
}

StatusOr<uint32_t> RemoteLink::Fetch(uint32_t line_buffer, uint32_t counter, uint32_t begin,
                                     uint32_t no_copy) {
  const uint32_t front = begin / kLine * kLine - kLine;
  const uint32_t copy = front + counter % kLine;
  RETURN_IF_ERROR(SendBytes(kUnmarked + (no_copy == kNoCopies[0] ? 0 : kLine), front, kLine));
  RETURN_IF_ERROR(Issue(line_buffer, {.target = counter,
                                      .target_xy = far_xy_,
                                      .return_address = copy,
                                      .return_xy = far_xy_,
                                      .control = kRead,
                                      .length = 4}));
  RETURN_IF_ERROR(SetFar(FarQueue(hw::kEthTransmitStart), front));
  RETURN_IF_ERROR(SetFar(FarQueue(hw::kEthTransmitSize), kAnswersEnd + kLine - front));
  RETURN_IF_ERROR(SetFar(FarQueue(hw::kEthTransmitDestination), front));
  uint32_t count = no_copy;
  // One answer after the other, until one has the copy: the line's buffer is free then.
  const auto has_copy = [&]() -> StatusOr<bool> {
    RETURN_IF_ERROR(near_.Write(kArrived, ~arrived_mark_));
    RETURN_IF_ERROR(Fire(FarQueue(hw::kEthTransmitCommand), hw::kEthWriteL1));
    ++counts_.answers;
    RETURN_IF_ERROR(near_.Await(kAnswerClocks, [&]() -> StatusOr<bool> {
      ASSIGN_OR_RETURN(const uint32_t mark, near_.Read(kArrived));
      return mark == arrived_mark_;
    }));
    ASSIGN_OR_RETURN(count, near_.Read(copy));
    return count != no_copy;
  };
  RETURN_IF_ERROR(near_.Await(0, has_copy));
  return count;
}

Status RemoteLink::FetchAt(uint32_t line_buffer, uint32_t counter, uint32_t value, uint32_t begin) {
  // Until it has the value the count is a little less.
  const bool middle = value - (1u << 30) < 1u << 31;
  const uint32_t no_copy = kNoCopies[middle ? 0 : 1];
  return near_.Await(0, [&]() -> StatusOr<bool> {
    ASSIGN_OR_RETURN(const uint32_t count, Fetch(line_buffer, counter, begin, no_copy));
    return count == value;
  });
}

}  // namespace ttfd
