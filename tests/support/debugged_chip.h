// A chip with a debugger's conversation on it, without sockets: packets as text, replies as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/debug/gdb_session.h"
#include "runtime/debug/rsp_packet.h"
#include "tests/support/sim_chip.h"

namespace ttfd {

class DebuggedChip {
 public:
  static constexpr hw::Coordinate kTile = SimChip::kTile;

  // The number of a hart of kTile, which is the first tile, or of the one below it.
  static debug::Thread ThreadOn(uint32_t tile, uint32_t hart) {
    return 1 + tile * hw::kHarts + hart;
  }

  void Connect(debug::GdbSession::Monitor monitor = {}) {
    session_ = std::make_unique<debug::GdbSession>(
        target_, [this](std::string_view data) { replies_.emplace_back(data); },
        std::move(monitor));
  }

  // The reply to a packet that has one at once.
  std::string Ask(std::string_view packet) {
    replies_.clear();
    session_->Handle(packet);
    EXPECT_EQ(replies_.size(), 1u) << packet;
    return replies_.empty() ? "" : replies_.back();
  }
  // Sends a packet that lets the chip run; the reply that says why it stopped, or "" if it did not.
  std::string Go(std::string_view packet, int turns = 100) {
    replies_.clear();
    session_->Handle(packet);
    for (int i = 0; i < turns && replies_.empty(); ++i) {
      const Status status = Turn().status();
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
    return replies_.empty() ? "" : replies_.back();
  }
  StatusOr<sim::Chip::Progress> Turn(uint64_t clocks = 1000) {
    StatusOr<sim::Chip::Progress> progress = target_.Advance(clocks);
    session_->TellStop();
    return progress;
  }
  std::string Interrupt() {
    replies_.clear();
    session_->Interrupt();
    return replies_.empty() ? "" : replies_.back();
  }

  uint32_t Register(uint32_t number) {
    const std::string reply = Ask(fmt::format("p{:x}", number));
    const std::optional<std::string> bytes = debug::BytesFromHex(reply);
    EXPECT_TRUE(bytes.has_value() && bytes->size() == 4) << reply;
    return bytes.has_value() && bytes->size() == 4 ? LoadAt<uint32_t>(bytes->data()) : ~0u;
  }
  uint32_t Pc() { return Register(debug::DebugTarget::kPc); }

  SimChip& chip() { return chip_; }
  debug::DebugTarget& target() { return target_; }
  debug::GdbSession& session() { return *session_; }

 private:
  SimChip chip_;
  debug::DebugTarget target_{chip_.chip()};
  std::vector<std::string> replies_;
  std::unique_ptr<debug::GdbSession> session_;
};

}  // namespace ttfd
