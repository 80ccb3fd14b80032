// Booted cards on the chips of a cluster of the model, for tests and benchmarks of links.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/card/firmware_card.h"
#include "runtime/device/sim/sim_device.h"
#include "runtime/fabric/link_end.h"

namespace ttfd {

class LinkedCards {
 public:
  // `text`: of a cluster, as for ParseSimOptions.
  static StatusOr<std::unique_ptr<LinkedCards>> Open(const std::string& text);

  uint32_t size() const { return static_cast<uint32_t>(cards_.size()); }
  FirmwareCard& card(uint32_t chip) { return *cards_[chip]; }
  Device& device(uint32_t chip) { return *devices_[chip]; }
  const std::vector<sim::ChipLink>& links() const { return links_; }

  // The place of an end for ConnectLink: worker (0,0) of the chip.
  LinkPlace Place(sim::LinkEnd at, uint32_t end);
  // Connects the ends of a link: `end_a` of its chip a, `end_b` of its chip b.
  Status Connect(const sim::ChipLink& link, uint32_t end_a, uint32_t end_b) {
    return ConnectLink(Place(link.a, end_a), Place(link.b, end_b), SteadyClock());
  }

  // A launch of one chip.
  struct Launch {
    uint32_t chip;
    LaunchCommand command;
  };
  // Submits all of them, and waits for all.
  Status Run(const std::vector<Launch>& launches);

  // L1 of worker (0,0).
  Status Write(uint32_t chip, uint32_t address, ByteSpan bytes);
  StatusOr<std::vector<uint32_t>> ReadWords(uint32_t chip, uint32_t address, size_t count);
  // Instructions that a hart of worker (0,0) has executed.
  uint64_t Retired(uint32_t chip, uint32_t hart);

 private:
  hw::Coordinate Worker(uint32_t chip) const;

  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<FirmwareCard>> cards_;
  std::vector<sim::ChipLink> links_;
};

// A program of one kernel on worker (0,0), or of two, on different harts.
struct KernelOfALink {
  std::string name;                 // of firmware/kernel_elfs.h
  uint32_t hart;                    // hw::Hart
  std::vector<uint32_t> arguments;  // common
};
StatusOr<LaunchCommand> LaunchOf(const std::vector<KernelOfALink>& kernels, GridSize grid);

}  // namespace ttfd
