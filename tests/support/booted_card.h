// An embedded device booted with our firmware, for tests that need the whole path.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/card/firmware_card.h"
#include "tests/support/test_device.h"

namespace ttfd {

class BootedCard {
 public:
  // `wrap`: puts another device around the one that is opened.
  using Wrap = std::function<std::unique_ptr<Device>(std::unique_ptr<Device>)>;
  explicit BootedCard(const char* board = "sim:board=p100a",
                      const CardOptions& options = CardOptions(), const Wrap& wrap = {},
                      Clock& clock = SteadyClock())
      : ring_bytes_(options.issue_ring_bytes) {
    auto opened = OpenTestDevice(board, &chip);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    device = *std::move(opened);
    if (wrap) device = wrap(std::move(device));
    auto created = FirmwareCard::Create(*device, clock, options);
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    card_ = *std::move(created);
    const Status booted = card_->Boot();
    EXPECT_TRUE(booted.ok()) << booted.ToString();
  }

  FirmwareCard& operator*() const { return *card_; }
  FirmwareCard* operator->() const { return card_.get(); }

  Status Poll() { return PollAlone(*card_, &output); }
  // Submits when there is room; polls until there is.
  Status Submit(const Command& command) { return Submit(Route(), command); }
  Status Submit(const Route& route, const Command& command, std::span<const Ticket> after = {}) {
    for (bool told = false;; told = true) {
      ASSIGN_OR_RETURN(const std::optional<uint64_t> ticket,
                       card_->TrySubmit(route, command, after));
      if (ticket.has_value()) return OkStatus();
      if (!told) RETURN_IF_ERROR(Event(route.hardware_queue));
      RETURN_IF_ERROR(Poll());
    }
  }
  // All segments of a trace, which lies at `address` of each DRAM bank.
  Status Record(const Route& route, const std::shared_ptr<Trace>& trace, uint32_t address) {
    const Region region{MemoryKind::kDram, -1, address, TracePageBytes(*trace), TraceBytes(*trace)};
    for (uint32_t segment = 0; segment < TraceSegments(*trace); ++segment) {
      RETURN_IF_ERROR(Submit(route, RecordTraceCommand{trace, region, segment}));
    }
    return OkStatus();
  }
  // `patches`: by launch.
  Status Replay(const Route& route, const std::shared_ptr<Trace>& trace,
                std::span<const TracePatch> patches = {}) {
    for (uint32_t segment = 0; segment < TraceSegments(*trace); ++segment) {
      const uint32_t end = TraceSegmentExtent(*trace, segment).end;
      ReplayTraceCommand replay{trace, {}, segment};
      for (; !patches.empty() && patches.front().launch < end; patches = patches.subspan(1)) {
        replay.patches.push_back(patches.front());
      }
      RETURN_IF_ERROR(Submit(route, replay));
    }
    return OkStatus();
  }
  // Asks for an event behind what was submitted last on a hardware queue; polls until there is space for it.
  Status Event(uint32_t queue = 0) {
    for (;;) {
      ASSIGN_OR_RETURN(const bool asked, card_->RequestEvent(Last(queue)));
      if (asked) return OkStatus();
      RETURN_IF_ERROR(Poll());
    }
  }
  // The command submitted last on a hardware queue.
  Ticket Last(uint32_t hardware_queue) const {
    return {hardware_queue, card_->submitted(hardware_queue)};
  }
  // Everything submitted so far is done.
  Status Finish() {
    for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
      RETURN_IF_ERROR(Event(queue));
    }
    while (!card_->idle()) RETURN_IF_ERROR(Poll());
    return OkStatus();
  }
  // Of one transfer: what the rings take, whatever the records of a page.
  uint64_t MostBytes(const Region& region) const {
    const uint64_t bytes = std::min<uint64_t>(kMaxTransferBytes, ring_bytes_ / 4);
    return std::min(bytes, ring_bytes_ / 512 * region.page_bytes);
  }
  Status Write(const Region& region, uint64_t offset, ByteSpan data) {
    while (!data.empty()) {
      const ByteSpan part = data.first(std::min<size_t>(data.size(), MostBytes(region)));
      RETURN_IF_ERROR(Submit(WriteCommand{region, offset, part}));
      offset += part.size();
      data = data.subspan(part.size());
    }
    return OkStatus();
  }
  StatusOr<std::vector<std::byte>> Read(const Region& region, uint64_t offset, uint64_t size) {
    std::vector<std::byte> data(size);
    for (uint64_t done = 0; done < size;) {
      const uint64_t part = std::min(size - done, MostBytes(region));
      ReadCommand read{region, offset + done, part, {}};
      read.sink = [&data, done](uint64_t at, ByteSpan bytes) {
        std::memcpy(data.data() + done + at, bytes.data(), bytes.size());
      };
      RETURN_IF_ERROR(Submit(read));
      done += part;
    }
    RETURN_IF_ERROR(Finish());
    return data;
  }

  std::unique_ptr<Device> device;
  sim::Chip* chip = nullptr;
  CardOutput output;  // of all that is polled here

 private:
  std::unique_ptr<FirmwareCard> card_;
  uint64_t ring_bytes_;
};

// Bytes that tell where they belong: equal seeds give equal bytes.
inline std::vector<std::byte> Pattern(size_t size, uint32_t seed) {
  std::vector<std::byte> bytes(size);
  uint32_t state = seed * 2654435761u + 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

}  // namespace ttfd
