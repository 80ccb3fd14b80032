// A test fixture that boots the real firmware on the device model and feeds it records by hand, with
// none of the runtime in between: what it finds wrong is the firmware's (or the model's).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "firmware/images.h"
#include "runtime/abi/boot_block.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/launch.h"
#include "runtime/device/device.h"
#include "runtime/device/sim/sim_device.h"
#include "runtime/hw/noc.h"
#include "runtime/sim/chip.h"
#include "tests/support/record_builder.h"

namespace ttfd::testing {

struct BenchOptions {
  std::span<const FirmwareImage> images = FirmwareImages();
  SimOptions chip = sim::DefaultOptions(sim::Board::kP150);
  hw::Coordinate worker_start = {1, 2};
  hw::Coordinate worker_end = {2, 3};
  uint32_t issue_ring_bytes = 64 * 1024;
  uint32_t fetch_queue_entries = 16;
  uint32_t command_ring_bytes = 32 * 1024;
  uint32_t scratch_bytes = 16 * 1024;
  uint32_t ringbuffer_bytes = 16 * 1024;
  uint32_t dispatch_ring_pages = 16;
  uint32_t dispatch_s_ring_pages = 8;
  uint32_t completion_ring_pages = 16;
  // Added to the boot block's version: a host of another protocol.
  uint32_t version_skew = 0;
};

// The smallest rings the firmware accepts: everything wraps all the time.
BenchOptions TinyRings();

class FirmwareBench {
 public:
  static constexpr hw::Coordinate kPrefetchTile = {16, 2};
  static constexpr hw::Coordinate kDispatchTile = {16, 3};
  static constexpr uint32_t kHardwareQueue = 0;

  // Opens the device, loads every image and its boot block; no hart is released.
  static StatusOr<std::unique_ptr<FirmwareBench>> Create(const BenchOptions& options);

  // Releases in the order of runtime/abi/README.md and waits for every hart to report.
  Status Boot();
  // The steps of Boot().
  Status Release(hw::Coordinate tile, uint32_t soft_reset);

  // Runs the device until nothing can happen without the host. An error if that takes too long.
  Status Run();

  // Puts an entry into the issue ring and its fetch slot, waiting for slot and ring space.
  Status Send(const EntryBuilder& entry, bool stall_after = false);
  // Both.
  Status SendAndRun(const EntryBuilder& entry, bool stall_after = false);

  // Reads completion pages that have become visible and gives them back. Nothing: the ring is empty.
  StatusOr<std::vector<std::byte>> TakeCompletionPage();
  abi::CompletionPointer completion_pointer();
  uint32_t completion_pages_taken() const { return completion_taken_; }

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
  uint32_t worker_count() const { return block_.worker_count; }
  uint32_t worker_rectangle() const {
    return hw::NocRectangle(block_.worker_start_xy, block_.worker_end_xy);
  }
  const abi::BootBlock& block() const { return block_; }
  const abi::BankTable& banks() const { return banks_; }
  Device& device() { return *device_; }
  MutableByteSpan host_memory() { return host_->bytes(); }
  // NoC address of byte `offset` of the host memory behind the completion ring, for tests' data.
  uint64_t host_data_address(uint64_t offset) const {
    return host_->noc_address() + host_data_offset_ + offset;
  }
  MutableByteSpan host_data() { return host_->bytes().subspan(host_data_offset_); }

 private:
  explicit FirmwareBench(const BenchOptions& options) : options_(options) {}
  Status Open();
  Status LoadTile(hw::Coordinate at, abi::Role role);
  Status AwaitReady(hw::Coordinate at, std::span<const uint32_t> harts);
  Status AwaitSlot(uint32_t bytes);

  const BenchOptions options_;
  std::unique_ptr<Device> device_;
  const sim::Chip* chip_ = nullptr;
  std::unique_ptr<HostMemory> host_;
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Window>> windows_;
  abi::BootBlock block_{};
  abi::BankTable banks_{};
  uint64_t completion_offset_ = 0;
  uint64_t host_data_offset_ = 0;
  uint32_t issue_position_ = 0;
  uint32_t entries_sent_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> in_flight_;  // [begin, end) of entries not yet fetched
  uint32_t completion_taken_ = 0;
};

// The L1 image of a kernel for one hart: what a runtime's loader would write at `address`.
std::vector<std::byte> KernelImage(ByteSpan elf);

}  // namespace ttfd::testing
