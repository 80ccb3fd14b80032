// The records of a launch, laid out once and patched in place: arguments, addresses, counts.
//
// Their layout depends on the program, on how many argument words its kernels get, and on whether the go
// is a multicast. Everything else is a patch at a place known from the layout.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/abi/launch.h"
#include "runtime/base/bytes.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/launch_config.h"
#include "runtime/command/program_layout.h"
#include "runtime/command/record_batch.h"

namespace ttfd {

// Everything of a launch that differs from one to the next but its arguments.
struct LaunchPlace {
  uint32_t hardware_queue = 0;
  uint32_t sub_device = 0;
  uint32_t slot = 0;
  uint32_t config_address = 0;
  std::vector<uint32_t> image_addresses;  // as Program::images
  bool new_code = false;                  // a tile has not run an image since it was written
  uint32_t wait_workers = 0;              // the go waits for this count, as records carry it
  uint8_t go_first = 0;                   // of a unicast go: its first word in the table of targets
  uint32_t print_tag = 0;                 // 0: nobody takes what it prints
};

// Constant after construction; shared by launches that look the same.
class LaunchRecords {
 public:
  // REQUIRES CheckArguments. Only the number of words matters of the arguments.
  LaunchRecords(const Program& program, std::span<const KernelArguments> arguments,
                bool multicast_go, const CardGeometry& card);

  uint32_t config_bytes() const { return config_.bytes; }
  uint32_t bytes() const { return static_cast<uint32_t>(template_.size()); }
  bool multicast_go() const { return multicast_go_; }
  // Do arguments of these sizes have this layout?
  bool Fits(std::span<const KernelArguments> arguments) const;
  bool FitsKernel(uint32_t kernel, const KernelArguments& arguments) const {
    return kernels_[kernel].common_words == arguments.common.size() &&
           kernels_[kernel].words_per_core == arguments.words_per_core;
  }

  // Copies the records to `to`, bytes() long, without place and arguments.
  void CopyTo(MutableByteSpan to) const;
  void PatchPlace(const LaunchPlace& place, const CardGeometry& card,
                  MutableByteSpan records) const;
  void PatchArguments(uint32_t kernel, const KernelArguments& arguments,
                      MutableByteSpan records) const;
  // The offsets of the words that are LaunchPlace::print_tag, which differs from replay to replay.
  template <typename Visit>
  void ForEachPrintTag(const Visit& visit) const {
    for (const MessagePatch& patch : messages_) {
      visit(patch.offset + uint32_t{offsetof(abi::LaunchMessage, print_tag)});
    }
  }
  // The bytes that new arguments of a kernel change: visit(offset in the records, the new bytes).
  template <typename Visit>
  void ForEachArgument(uint32_t kernel, const KernelArguments& arguments,
                       const Visit& visit) const {
    const auto list = [&visit](const std::vector<Words>& places,
                               const std::vector<uint32_t>& values) {
      for (const Words& words : places) {
        visit(words.offset, std::as_bytes(std::span(values).subspan(words.first, words.count)));
      }
    };
    list(kernels_[kernel].common, arguments.common);
    list(kernels_[kernel].per_core, arguments.per_core);
  }

  // Appends patched records, which may be more than fit one entry.
  void Append(const LaunchPlace& place, std::span<const KernelArguments> arguments,
              const CardGeometry& card, RecordBatch& batch) const;

 private:
  class Builder;

  struct Words {  // of an argument list, somewhere in the records
    uint32_t offset = 0;
    uint32_t first = 0;
    uint32_t count = 0;
  };
  struct KernelWords {
    uint32_t common_words = 0;
    uint32_t words_per_core = 0;
    std::vector<Words> common;
    std::vector<Words> per_core;
  };
  struct AddressPatch {
    uint32_t offset = 0;
    uint32_t delta = 0;  // from the configuration's address
  };
  struct MessagePatch {
    uint32_t offset = 0;
    std::array<int32_t, hw::kHarts> image;  // index into Program::images, or kNoKernel
    uint32_t enables = 0;
  };

  const LaunchConfig config_;
  const bool multicast_go_;
  std::vector<std::byte> template_;
  std::vector<uint32_t> entry_bytes_;  // how it is cut where one entry does not take it
  std::vector<AddressPatch> config_addresses_;
  std::vector<uint32_t> slot_addresses_;
  std::vector<MessagePatch> messages_;
  std::vector<uint32_t> callable_images_;  // as Program::callables
  std::vector<Words> callables_;           // where their addresses lie
  std::vector<KernelWords> kernels_;
  uint32_t notify_ = 0;  // offset of the NOTIFY command
  uint32_t go_ = 0;      // offset of the SEND_GO command
};

}  // namespace ttfd
