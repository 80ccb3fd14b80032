// The go signals of each sub-device: how many were sent, and which of them all workers have answered. Where the host
// asks for it, the answered ones are published: it needs neither an event, for which the dispatcher would wait, nor a
// PCIe read.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/cq/dispatch_s/go_sender.h"
#include "runtime/abi/control_block.h"
#include "runtime/hw/stream.h"

namespace ttfd::firmware::dispatch_s {

class GoCounts {
 public:
  // `sender` outlives this.
  GoCounts(GoSender& sender, uint32_t first_stream)
      : sender_(sender), first_stream_(first_stream) {}

  uint32_t sent(uint32_t sub_device) const { return sent_[sub_device]; }

  // The next go is about to be sent: all before it are answered. It counts as sent from now on, so that the host never
  // counts a launch as not started that may have started.
  void Sends(uint32_t sub_device) {
    for (uint32_t i = 0; i != unanswered_; ++i) {
      if (waits_[i].sub_device == sub_device) {
        Answered(i);
        break;
      }
    }
    Store(kGosSent + 4 * sub_device, ++sent_[sub_device]);
  }

  // It is sent. It is answered when the sub-device's stream shows `count`.
  void Sent(uint32_t sub_device, uint32_t count, bool publish) {
    if (publish) [[unlikely]] {
      waits_[unanswered_++] = {
          hw::StreamRegister(first_stream_ + sub_device, hw::kStreamSpaceAvailable),
          count & hw::kStreamCounterMask, sub_device};
    }
    if (!all_published() || stored_ != 0) [[unlikely]] {
      PublishNews();  // also of others: there may be nothing to wait for, from here to the next go
    }
  }

  // Have all go signals that are to be published been answered, and the host notified?
  bool all_published() const { return unanswered_ == 0; }

  // Publishes the go signals that have been answered since this was called last. No more answers come than were asked
  // for: the counter stops at the count that is waited for.
  [[gnu::noinline]] void PublishNews() {
    for (uint32_t i = 0; i != unanswered_;) {
      if (Load(waits_[i].counter) == waits_[i].count) {
        Answered(i);
      } else {
        ++i;
      }
    }
    if (stored_ != 0) {
      sender_.SendCounts(stored_);
      stored_ = 0;
    }
  }

 private:
  static constexpr uint32_t kGosSent =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, gos_sent);

  struct Wait {
    uint32_t counter;  // address
    uint32_t count;
    uint32_t sub_device;
  };

  // The words may be under way to the host: each of them is true whenever it is read.
  void Answered(uint32_t i) {
    const uint32_t sub_device = waits_[i].sub_device;
    stored_ = kGosAnswered + 4 * sub_device;
    Store(stored_, sent_[sub_device]);
    waits_[i] = waits_[--unanswered_];
  }

  GoSender& sender_;
  const uint32_t first_stream_;
  uint32_t sent_[abi::kMaxSubDevices] = {};
  Wait waits_[abi::kMaxSubDevices];  // for the go that was sent last to a sub-device that publishes
  uint32_t unanswered_ = 0;          // of them
  uint32_t stored_ = 0;              // the last word that changed since the host was told; 0: none
};

}  // namespace ttfd::firmware::dispatch_s
