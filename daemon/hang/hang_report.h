// Report of a hang or fault of the card, in the order in which it was learnt: first what the host had on
// record, then what the card showed, then what came of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/hang/session_client.h"
#include "runtime/card/card.h"

namespace ttfd {

// The outcome of a slice that was on the card when that was reset.
enum class SliceOutcome {
  kUndecided,
  kCompleted,  // it had completed, though the card had not said so yet
  kRequeued,   // runs again, from the beginning or for the first time; its client receives nothing
  kAborted,    // ABORTED: the offender, it hung or faulted
  kInterrupted,  // UNAVAILABLE, retryable: it was at work, or what it read is not there any more
};
std::string_view SliceOutcomeName(SliceOutcome outcome);
std::string_view ExecutionStateName(ExecutionState state);

// A slice as the host knows it.
struct HangSlice {
  uint32_t hardware_queue = 0;
  uint64_t ticket = 0;   // 0: it had not been submitted
  uint64_t turn = 0;     // of its submission, over all hardware queues
  SessionClient client;  // of a launch that ended last: the session alone
  uint32_t queue = 0;
  uint64_t value = 0;
  std::string command;               // "launch of program 7 (vector_add)", "write of 4096 bytes"
  std::vector<std::string> kernels;  // of a launch: their names
  uint64_t timeout_ms = 0;
  std::vector<uint32_t> programs;
  std::vector<Ticket> after;
  ExecutionState state = ExecutionState::kUnknown;  // once the card has been looked at
  SliceOutcome outcome = SliceOutcome::kUndecided;
  std::string why;  // of the outcome
};

struct HangReport {
  std::string id;       // a number: "7"
  uint32_t device = 0;  // the card's number
  std::chrono::system_clock::time_point time;
  std::string reason;   // HANG or DEVICE_FAULT, as the error of its owner has it
  std::string trigger;  // why the device thread gave the card up

  // By the host's own records.
  std::vector<HangSlice> slices;  // in the order of their submission
  std::vector<HostQueueRecord> queues;
  std::vector<HangSlice>
      recent;  // launches that ended last, the newest first: one of them may have left damage behind
  std::vector<std::string> log;

  // As the card showed.
  StallReport stall;
  std::string
      headline;  // what happened to which kernel, at which line: for the owner and administrators
  std::string summary;  // one sentence, without names of anybody's code
  std::string places;   // where the harts stand

  // Outcome of the hang.
  std::optional<size_t> offender;  // index into slices; none: no launch is proven to be the cause
  std::optional<size_t>
      suspect;  // then: the first that had not completed; none: of no slice on the card
  bool recovered = false;
  std::string recovery;    // how it went, or why not
  double recovery_ms = 0;  // from the decision that the card hangs until it was found to work again
  uint32_t boot_attempts = 0;

  const HangSlice* offending() const { return offender ? &slices[*offender] : nullptr; }
  const HangSlice* suspected() const { return suspect ? &slices[*suspect] : nullptr; }
};

// Keeps reports. Called on the device thread, in this order, so that what is known is kept before the next thing is
// asked for: a crash in between leaves the earlier part. False: some of it could not be kept (a full disk), and the log
// says why; the rest goes on.
class HangKeeper {
 public:
  virtual ~HangKeeper() = default;
  // An id for a report, above all that are kept or were given since the start. Touches no disk.
  virtual std::string NewId() = 0;
  // Before the card is looked at.
  virtual bool KeepHostSide(const HangReport& report) = 0;
  // Before the card is reset.
  virtual bool KeepDeviceSide(const HangReport& report) = 0;
  // When the card is ready again, or lost. Keeps nothing if nothing of the report was kept before.
  virtual void KeepOutcome(const HangReport& report) = 0;
  // Whether some of the report is kept, or waits to be: an id is told to others only then. Touches no disk.
  virtual bool Holds(const std::string& id) = 0;
  // Any thread: the daemon stops, and none of the above is to wait beyond this.
  virtual void WaitNoLongerThan(TimePoint /*deadline*/) {}
};

}  // namespace ttfd
