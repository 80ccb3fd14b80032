// The profile that is being taken of the card, at most one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "daemon/session/slice.h"
#include "runtime/base/clock.h"
#include "runtime/card/card_probe.h"

namespace ttfd {

// Device thread.
class Profiler {
 public:
  // Profiles the card for so long, or until `cancelled`.
  struct Request {
    Duration duration{};
    ProfileOptions options;
    std::shared_ptr<const std::atomic<bool>> cancelled;
    std::function<void(StatusOr<ProfileResult>)> done;
  };

  // Both outlive it.
  Profiler(CardProbe& probe, Clock& clock) : probe_(probe), clock_(clock) {}

  bool active() const { return active_.has_value(); }
  // `card`: not OK if it cannot be profiled. False: `request.done` has the error.
  bool Start(Request request, const Status& card);
  // Ends the profile if its time is over, or it was cancelled.
  void Check();
  void End();
  // The slice's programs, which are about to run, have the names of their session.
  void NameProgramsOf(const Slice& slice);

 private:
  struct Active {
    TimePoint end;
    Request request;
    std::map<uint32_t, std::string> program_names;
  };

  CardProbe& probe_;
  Clock& clock_;
  std::optional<Active> active_;
};

}  // namespace ttfd
