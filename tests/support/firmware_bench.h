// A test fixture that boots the real firmware on the device model and feeds it records by hand, with
// none of the runtime in between: what it finds wrong is the firmware's (or the model's).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firmware/images.h"
#include "runtime/abi/boot_block.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/launch.h"
#include "runtime/device/device.h"
#include "runtime/hw/noc.h"
#include "runtime/sim/chip.h"
#include "tests/support/bench_queue.h"
#include "tests/support/record_builder.h"
#include "tests/support/test_device.h"

namespace ttfd::testing {

struct BenchOptions : BenchRings {
  std::span<const FirmwareImage> images = FirmwareImages();
  std::string chip = "sim:board=p150";  // see OpenTestDevice
  hw::Coordinate worker_start = {1, 2};
  hw::Coordinate worker_end = {2, 3};
  uint32_t queues = 1;  // hardware queues
  // Added to the boot block's version: a host of another protocol.
  uint32_t version_skew = 0;
};

// The smallest rings the firmware accepts: everything wraps all the time.
BenchOptions TinyRings();

class FirmwareBench {
 public:
  // Of queue 0.
  static constexpr hw::Coordinate kPrefetchTile = BenchQueue::PrefetchTile(0);
  static constexpr hw::Coordinate kDispatchTile = BenchQueue::DispatchTile(0);

  // Opens the device, loads every image and its boot block; no hart is released.
  static StatusOr<std::unique_ptr<FirmwareBench>> Create(const BenchOptions& options);

  // Releases in the order of runtime/abi/README.md and waits for every hart to report.
  Status Boot();
  // The steps of Boot().
  Status Release(hw::Coordinate tile, uint32_t soft_reset);

  // Runs the device until nothing can happen without the host. An error if that takes too long.
  Status Run();

  // After an Advance: can nothing happen any more without the host? Where the device does not tell,
  // the firmware does: every hart waits, or has said nothing new for very long.
  StatusOr<bool> AtRest(const AdvanceResult& advanced);

  // Puts an entry into the issue ring of a queue, waiting for slot and ring space.
  Status Send(const EntryBuilder& entry, bool stall_after = false, uint32_t queue = 0);
  // Both.
  Status SendAndRun(const EntryBuilder& entry, bool stall_after = false, uint32_t queue = 0);

  // Reads completion pages that have become visible and gives them back. Nothing: the ring is empty.
  StatusOr<std::vector<std::byte>> TakeCompletionPage(uint32_t queue = 0);
  abi::CompletionPointer completion_pointer(uint32_t queue = 0);
  uint32_t completion_pages_taken(uint32_t queue = 0) const;

  Window& tile(hw::Coordinate at);
  uint32_t Word(hw::Coordinate at, uint64_t address);
  void SetWord(hw::Coordinate at, uint64_t address, uint32_t value);
  std::vector<std::byte> Bytes(hw::Coordinate at, uint64_t address, size_t size);
  void SetBytes(hw::Coordinate at, uint64_t address, ByteSpan bytes);
  abi::HartStatus status(hw::Coordinate at, uint32_t hart);
  uint32_t counter(hw::Coordinate at, size_t offset_in_control_block);
  uint64_t retired(hw::Coordinate at, uint32_t hart) const;

  hw::Coordinate WorkerTile(uint32_t index) const;
  // Bytes of an interleaved buffer in DRAM, over PCIe: page p in bank p % banks.
  void SetDramPages(uint32_t base, uint32_t page_size, uint32_t start_page, ByteSpan bytes);
  uint32_t worker_count() const { return block(0).worker_count; }
  uint32_t worker_rectangle() const {
    return hw::NocRectangle(block(0).worker_start_xy, block(0).worker_end_xy);
  }
  uint32_t queue_count() const { return options_.queues; }
  BenchQueue& queue(uint32_t index) { return *queues_[index]; }
  const abi::BootBlock& block(uint32_t queue = 0) const { return queues_[queue]->block(); }
  const abi::BankTable& banks() const { return banks_; }
  Device& device() { return *device_; }
  MutableByteSpan host_memory() { return queues_[0]->host_memory().bytes(); }
  // NoC address of byte `offset` of the host memory behind the completion ring, for tests' data.
  uint64_t host_data_address(uint64_t offset) const {
    return queues_[0]->host_memory().noc_address() + queues_[0]->host_data_offset() + offset;
  }
  MutableByteSpan host_data() { return host_memory().subspan(queues_[0]->host_data_offset()); }

 private:
  explicit FirmwareBench(const BenchOptions& options) : options_(options) {}
  Status Open();
  Status LoadTile(hw::Coordinate at, abi::Role role, const abi::BootBlock& of_queue);
  Status BootQueue(const BenchQueue& queue);
  StatusOr<bool> LookAround();
  Status AwaitReady(hw::Coordinate at, std::span<const uint32_t> harts);

  const BenchOptions options_;
  std::unique_ptr<Device> device_;
  sim::Chip* chip_ = nullptr;
  std::vector<std::unique_ptr<BenchQueue>> queues_;
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Window>> windows_;
  abi::BankTable banks_{};
  uint64_t fingerprint_ = 0;    // see LookAround
  uint64_t unchanged_for_ = 0;  // clocks
};

// The L1 image of a kernel for one hart: what a runtime's loader would write at `address`.
std::vector<std::byte> KernelImage(ByteSpan elf);

}  // namespace ttfd::testing
