// Records between the hardware queues, and those that hand workers over.
#include "runtime/command/queue_encoder.h"

#include <array>

#include "runtime/abi/control_block.h"
#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/l1_map.h"
#include "runtime/command/packed_writes.h"
#include "runtime/command/record_writer.h"

namespace ttfd {
namespace {

uint32_t LastEventOffset(uint32_t from) {
  return uint32_t{offsetof(abi::ControlBlock, last_event)} + from * uint32_t{sizeof(abi::Counter)};
}

// To `offset` of the control block on the dispatch tile of a hardware queue.
template <typename Words>
void WriteControlBlock(uint32_t hardware_queue, uint32_t offset, PackedType type,
                       const Words& words, const CardGeometry& card, RecordBatch& batch) {
  const hw::Coordinate tile = card.dispatch_tile(hardware_queue);
  const PackedTarget target = {hw::NocXy(tile.x, tile.y), 0};
  PackedEach(type, abi::kControlBlockAddress + offset, sizeof(words), std::span(&target, 1), card,
             batch, [&words](MutableByteSpan to, size_t) { StoreAt(to.data(), words); });
}

}  // namespace

void EncodeQueueEvent(uint32_t event, uint32_t from, uint32_t to, const CardGeometry& card,
                      RecordBatch& batch) {
  WriteControlBlock(to, LastEventOffset(from), kPackedEvent, abi::Counter{event, {}}, card, batch);
}

void EncodeAwaitQueueEvent(uint32_t event, uint32_t from, RecordBatch& batch) {
  const MutableByteSpan memory = batch.Append(InlineRecordBytes(sizeof(abi::Wait)));
  RecordWriter writer(memory);
  abi::Wait wait{};
  wait.id = abi::DispatchId::kWait;
  wait.flags = abi::kWaitMemory;
  wait.address = abi::kControlBlockAddress + LastEventOffset(from);
  wait.count = event;
  writer.Dispatch(wait);
}

void EncodeStreams(RecordBatch& batch) {
  const MutableByteSpan memory = batch.Append(InlineRecordBytes(sizeof(abi::SetNumWorkerSems)));
  RecordWriter writer(memory);
  abi::SetNumWorkerSems streams{};
  streams.id = abi::DispatchId::kSetNumWorkerSems;
  streams.num = abi::kMaxSubDevices;
  writer.DispatchS(streams);
}

void EncodeListen(std::span<const CoreRange> rectangles, uint32_t sub_device, uint32_t generation,
                  const CardGeometry& card, RecordBatch& batch) {
  // The worker polls the index and the word it names: the words are zero before it looks at them.
  constexpr uint32_t kTailOffset = offsetof(abi::GoArea, index) / 16 * 16;
  static_assert(kTailOffset % abi::kPackedDataAlignment == 0 &&
                offsetof(abi::GoArea, index) == kTailOffset + 12);
  const std::array<std::byte, kTailOffset> zeros{};
  PackedShared(kPackedGoIndex, abi::kGoAreaAddress, zeros, rectangles, card, batch);
  const MutableByteSpan memory = batch.Append(InlineRecordBytes(sizeof(abi::Wait)));
  RecordWriter writer(memory);
  abi::Wait barrier{};
  barrier.id = abi::DispatchId::kWait;
  barrier.flags = abi::kWaitBarrier;
  writer.Dispatch(barrier);
  const std::array<uint32_t, 4> tail = {0, 0, 0, abi::GoWordIndex(sub_device, generation)};
  PackedShared(kPackedGoIndex, abi::kGoAreaAddress + kTailOffset, BytesOf(tail), rectangles, card,
               batch);
}

void EncodeSubDevice(uint32_t hardware_queue, uint32_t sub_device,
                     const SubDeviceSettings& settings, const CardGeometry& card,
                     RecordBatch& batch) {
  abi::SubDevice words{};
  words.word = settings.workers | abi::GoWordIndex(0, settings.generation)
                                      << abi::kSubDeviceGenerationShift;
  if (settings.publishes) words.word |= abi::kPublishGos;
  WriteControlBlock(hardware_queue,
                    uint32_t{offsetof(abi::ControlBlock, sub_devices)} +
                        sub_device * uint32_t{sizeof(abi::SubDevice)},
                    kPackedGoIndex, words, card, batch);
}

}  // namespace ttfd
