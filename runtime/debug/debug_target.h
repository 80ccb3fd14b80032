// A chip as a debugger handles it: harts as threads, breakpoints, watchpoints, steps, memory.
//
// All-stop: the chip runs as a whole or stands still as a whole. Breakpoints are compared, not
// written into code: they disturb neither the instruction caches nor who reads the code. While there
// is none, no watchpoint and no step, the chip runs as fast as without a debugger. Device thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/debug/watchpoints.h"
#include "runtime/sim/chip.h"
#include "runtime/sim/hart.h"
#include "runtime/sim/inspector.h"

namespace ttfd::debug {

// A hart: 1 + index of its tile * hw::kHarts + hw::Hart. 0 is nobody.
using Thread = uint32_t;

// Why the chip stands still.
struct Stop {
  enum class Why { kInterrupt, kStep, kBreakpoint, kWatch, kFault };
  Why why = Why::kInterrupt;
  Thread thread = 0;                    // who did it
  WatchKind watch = WatchKind::kWrite;  // kWatch
  uint32_t address = 0;                 // kWatch: of the data
  sim::FaultKind fault = {};            // kFault
};

class DebugTarget final : public sim::Inspector {
 public:
  static constexpr size_t kMaxBreakpoints = 1024;

  // `chip` outlives the target. Nobody is attached yet: the chip runs.
  explicit DebugTarget(sim::Chip& chip);
  ~DebugTarget() override;

  // A debugger came: the chip stands still; from now on a fault stops it too, instead of being
  // reported to who runs it, until the chip is resumed.
  void Connect();
  // It went: no breakpoint is left, the chip runs.
  void Disconnect();

  // ---- harts

  bool Exists(Thread thread) const { return thread >= 1 && thread <= orders_.size(); }
  // Threads of the harts out of reset, in the order of their numbers.
  std::vector<Thread> Threads() const;
  bool IsAlive(Thread thread) const;
  const sim::Hart& hart(Thread thread) const;
  std::string NameOf(Thread thread) const;  // "(1,2) BRISC", translated
  // "running", "waits" with what for, "held in reset": what `info threads` adds.
  std::string StateOf(Thread thread) const;

  // x0 to x31 and, by number 32, the pc.
  static constexpr uint32_t kRegisters = 33;
  static constexpr uint32_t kPc = 32;
  uint32_t ReadRegister(Thread thread, uint32_t number) const;
  // A pc is a multiple of 4 inside L1.
  bool WriteRegister(Thread thread, uint32_t number, uint32_t value);

  // L1 and local RAM as the hart sees them, and registers whose reading changes nothing. How many
  // bytes could be read.
  size_t ReadMemory(Thread thread, uint32_t address, MutableByteSpan to);
  // L1 and local RAM, all or nothing.
  bool WriteMemory(Thread thread, uint32_t address, ByteSpan from);

  // ---- what stops the chip

  bool SetBreakpoint(uint32_t address);
  bool ClearBreakpoint(uint32_t address);
  bool SetWatchpoint(WatchKind kind, uint32_t address, uint32_t bytes, Thread thread);
  bool ClearWatchpoint(WatchKind kind, uint32_t address, uint32_t bytes);

  // ---- running

  enum class Action : uint8_t { kHold, kRun, kStep };
  struct Order {
    Thread thread = 0;  // 0: everybody else
    Action action = Action::kRun;
    uint32_t from = 0;  // kStep: goes on while the pc is in [from, to)
    uint32_t to = 0;
  };
  // Whoever is not named is held.
  void Resume(std::span<const Order> orders);
  void Interrupt(Thread preferred);
  bool running() const { return running_; }
  bool has_steps() const { return steps_ != 0; }
  // Why the chip stopped since the last call.
  std::optional<Stop> TakeStop();

  // Lets the chip run, if it does not stand still.
  StatusOr<sim::Chip::Progress> Advance(uint64_t clocks);

 private:
  struct HartOrder {
    bool step = false;
    bool begun = false;     // the first instruction was let pass
    uint64_t begun_at = 0;  // hart.time then: unchanged until it is executed
    uint32_t from = 0;
    uint32_t to = 0;
    bool look_again =
        false;  // it met a breakpoint; once it sleeps it is woken, in case its loop has it
  };

  // Inspector.
  bool BeforeInstruction(const sim::Hart& hart, uint32_t word) override;
  void OnLoad(const sim::Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) override;
  void OnStore(const sim::Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) override;
  void OnNoc(const sim::NocView& view) override;

  Thread ThreadOf(const sim::Hart& hart) const;
  sim::Hart& MutableHart(Thread thread);
  void Rouse(Thread thread);
  void StopWith(const Stop& stop);
  bool StepIsOver(const sim::Hart& hart, HartOrder& order);
  void GiveOrder(Thread thread, Action action, const Order& order);
  void WakeForBreakpoints();
  // Steps of harts that sleep or are held. True: the chip has to go on for them.
  bool AttendSteps();
  bool AttendSleepers();
  void Watch(bool on);
  bool IsBreakpoint(uint32_t pc) const {
    return (breakpoint_bits_[pc / 4 / 64] >> (pc / 4 % 64) & 1) != 0;
  }

  sim::Chip& chip_;
  bool connected_ = false;
  bool running_ = true;
  bool attached_ = false;                    // to the chip
  std::vector<HartOrder> orders_;            // by thread - 1
  size_t steps_ = 0;                         // harts with a step
  size_t look_again_ = 0;                    // harts with it
  std::vector<uint32_t> breakpoints_;        // sorted
  std::vector<uint32_t> known_breakpoints_;  // those the chip ran with, sorted
  std::vector<uint64_t> breakpoint_bits_;    // the same, a bit for each word of L1
  Watchpoints watchpoints_;
  std::optional<Stop> stop_;
  Stop last_;          // the stop before the chip was resumed
  Thread passes_ = 0;  // stopped at a breakpoint and goes on over it
  uint32_t passes_pc_ = 0;
};

}  // namespace ttfd::debug
