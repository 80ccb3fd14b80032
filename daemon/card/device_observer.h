// The daemon as the device thread sees it.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/api/device_state.h"
#include "runtime/base/clock.h"

namespace ttfd {

class Session;

// Called on the device thread (kBooting and the first kReady: on the thread that boots). Must not block.
class DeviceObserver {
 public:
  virtual ~DeviceObserver() = default;
  // `why`: what made the card be reset, or why it is lost for good.
  virtual void DeviceStateChanged(uint32_t device, DeviceState state, const std::string& why) = 0;
  // A launch of this session hung or faulted; its command has failed.
  virtual void SessionHung(Session& /*session*/, const std::string& /*report*/) {}
  // Handles some of what clients have sent; at the start of each round, and again and again while the card is waited
  // for. True: there was some. The thread that adds input calls DeviceThread::Wake.
  virtual bool HandleInput() { return false; }
  // Publishes what has changed for clients since it was called last: at the end of each round, and after HandleInput
  // while the card is waited for. Not `all`: another round follows, so what clients need not learn at once may wait
  // for it. False: nothing was published.
  virtual bool Publish(bool /*all*/) { return false; }
  // When HandleInput is to be called at the latest. TimePoint::min(): there is input, the device thread does not sleep.
  virtual TimePoint InputDue() const { return TimePoint::max(); }
  bool has_input() const { return InputDue() == TimePoint::min(); }
};

}  // namespace ttfd
