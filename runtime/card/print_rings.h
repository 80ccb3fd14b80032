// Prints of kernels: the rings of the workers, emptied while launches that print are on the card, and each record
// given to the launch it belongs to.
//
// A launch that prints gets a tag, which its harts put into their records. Whoever prints nothing costs nothing: no
// ring is looked at without a launch in flight whose kernels print.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/abi/print_ring.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/card/card_output.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/program_layout.h"
#include "runtime/device/device.h"

namespace ttfd {

class PrintRings {
 public:
  // A launch that is about to be sent.
  struct Launch {
    std::shared_ptr<const Program> program;
    std::vector<uint32_t> image_addresses;  // as Program::images
    uint32_t number = 0;                    // in its trace
  };

  // `device`, `clock` and `card` outlive this.
  PrintRings(Device& device, Clock& clock, const CardGeometry& card);

  // As after a boot: the rings are empty, nothing is in flight.
  void Restart();

  // The tag of the first of so many launches that are expected next, the others have those behind it. Not 0.
  uint32_t NextTag(size_t launches) const;
  // The launches of `ticket` are about to be sent, with the tags from `tag` on: NextTag of as many. 0: takes nothing.
  void Expect(const Ticket& ticket, uint32_t tag, std::vector<Launch> launches);
  bool active() const { return !runs_.empty(); }

  // Takes what is in the rings; false if there was nothing.
  StatusOr<bool> Drain();
  // The same, unless it was done a moment ago.
  StatusOr<bool> DrainIfDue();
  // Takes the last prints of what is done and forgets it.
  Status Ended(const std::function<bool(const Ticket&)>& is_done);
  // Nothing in flight will be heard of again.
  void Forget() { runs_.clear(); }
  // Appends what was read from the rings since the last call: at most kMostPrints, the first. All rings hold a third of
  // that, so only kernels that print through a whole shutdown reach it.
  static constexpr size_t kMostPrints = 65'536;
  void TakePrints(std::vector<CardOutput::Print>* prints);

 private:
  struct Run {
    Ticket ticket;
    uint32_t first_tag = 0;
    std::vector<Launch> launches;
    TileSet tiles;  // that may print
  };
  using Positions = std::array<uint32_t, hw::kHarts>;

  StatusOr<bool> DrainTile(uint32_t worker);
  Status DrainHart(uint32_t worker, uint32_t hart, uint32_t written);
  void Deliver(uint32_t worker, uint32_t hart, std::span<const uint32_t> record);
  // Says to who printed last from there that its ring has been written over.
  void DeliverBroken(uint32_t worker, uint32_t hart);
  // A printing kernel on a worker: its hart, and its index in its program.
  struct Printer {
    uint32_t hart = 0;
    uint32_t kernel = 0;
  };
  void Say(const Run& run, uint32_t launch, uint32_t worker, Printer printer, std::string text);

  Device& device_;
  Clock& clock_;
  const CardGeometry& card_;
  std::vector<CardOutput::Print> prints_;  // read and not taken
  std::deque<Run> runs_;                   // in the order of their tags
  uint32_t next_tag_ = 1;
  TimePoint due_{};
  std::vector<std::unique_ptr<Window>> windows_;  // by worker, opened when needed
  std::vector<Positions> read_;                   // by worker: what was taken from each ring
  std::vector<uint32_t> ready_;                   // words of a ring, while they are looked at
};

}  // namespace ttfd
