// Records between the hardware queues, and those that hand workers from one sub-device to another.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/record_batch.h"

namespace ttfd {

// On hardware queue `from`: tells `to` that it has come as far as event `event`. What that stands for has
// been waited for.
void EncodeQueueEvent(uint32_t event, uint32_t from, uint32_t to, const CardGeometry& card,
                      RecordBatch& batch);
// On the other queue: waits until `from` has told of event `event`.
void EncodeAwaitQueueEvent(uint32_t event, uint32_t from, RecordBatch& batch);

// Lets dispatch_s use the streams of all sub-devices, and clears them.
void EncodeStreams(RecordBatch& batch);

// Index of the go word of workers that belong to no sub-device.
inline constexpr uint32_t kNoSubDevice = abi::kGoWords - 1;

// Makes the workers in `rectangles` listen to the go word of a sub-device. They are idle. Goes may have
// been multicast past them meanwhile, so the words are cleared before one is listened to.
void EncodeListen(std::span<const CoreRange> rectangles, uint32_t sub_device, uint32_t generation,
                  const CardGeometry& card, RecordBatch& batch);

// Hands a sub-device to dispatch_s of a hardware queue (abi::SubDevice).
struct SubDeviceSettings {
  uint32_t generation = 0;
  uint32_t workers = 0;
  bool publishes = false;
};
void EncodeSubDevice(uint32_t hardware_queue, uint32_t sub_device,
                     const SubDeviceSettings& settings, const CardGeometry& card,
                     RecordBatch& batch);

}  // namespace ttfd
