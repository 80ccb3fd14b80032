// Reads a card and says what it shows, with the host's own records of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/boot/firmware_set.h"
#include "runtime/card/card_probe.h"
#include "runtime/card/card_queues.h"
#include "runtime/card/card_snapshot.h"
#include "runtime/card/code_map.h"
#include "runtime/card/launch_state.h"
#include "runtime/card/profile.h"
#include "runtime/card/snapshot_file.h"
#include "runtime/device/device.h"

namespace ttfd {

class CardInspector final : public CardProbe {
 public:
  // The parts of the card; all outlive this. `plans` are those of the booted card.
  struct Parts {
    Device& device;
    Clock& clock;
    const FirmwareSet& firmware;
    std::span<const BootPlan> plans;
    CardQueues& queues;
    const LaunchState& launches;
    const CodeMap& code;
  };
  explicit CardInspector(const Parts& parts) : parts_(parts) {}

  StatusOr<uint64_t> LookAt(uint32_t hardware_queue) override;
  StallReport Diagnose(uint32_t hardware_queue) override;
  std::vector<HartReport> Harts() override;
  HostQueueRecord HostRecord(uint32_t hardware_queue) override;
  std::vector<ResidentKernel> Kernels() const override;
  Status StartProfile(const ProfileOptions& options) override;
  ProfileResult StopProfile() override;

  // The host's records of each hardware queue.
  std::array<QueueState, kHardwareQueues> QueueStates() const;
  // Holds every hart of the dispatch tiles, and reads the card. Program counters are those before.
  CardSnapshot Halt();
  // Why the card is stalled, with all damage and harts. Takes what the card has completed. `boot_nonce`: of the last
  // boot. `stopped`: null, or receives what the report is made of.
  StallReport Examine(CardSnapshot card, uint32_t boot_nonce, StoppedCard* stopped);
  // Takes the samples of the profile under way, if there is one. Call before kernels are forgotten.
  void Sample() {
    if (profile_ != nullptr) profile_->Gather();
  }

 private:
  Status HoldDispatchTiles();

  const Parts parts_;
  std::unique_ptr<Profile> profile_;  // null: none is under way
};

}  // namespace ttfd
