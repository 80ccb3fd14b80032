// Packets that let the chip run or end the conversation, and how GDB hears that it stopped.
#include <array>
#include <vector>

#include "runtime/debug/gdb_session.h"
#include "runtime/debug/rsp_packet.h"

namespace ttfd::debug {
namespace {

using Action = DebugTarget::Action;
using Order = DebugTarget::Order;

// Numbers of GDB's own list of signals, which are those of Linux for these.
constexpr uint32_t kSigInt = 2;
constexpr uint32_t kSigIll = 4;
constexpr uint32_t kSigTrap = 5;
constexpr uint32_t kSigBus = 10;  // 7 on Linux
constexpr uint32_t kSigSegv = 11;
constexpr size_t kMaxActions = 1024;

uint32_t SignalOfFault(sim::FaultKind kind) {
  switch (kind) {
    case sim::FaultKind::kIllegalInstruction:
    case sim::FaultKind::kTensixInstruction:
    case sim::FaultKind::kUnsupportedInstruction:
    case sim::FaultKind::kUnsupportedCsr:
      return kSigIll;
    case sim::FaultKind::kInstructionFetch:
    case sim::FaultKind::kUnmapped:
      return kSigSegv;
    default:
      return kSigBus;
  }
}

uint32_t SignalOf(const Stop& stop) {
  if (stop.why == Stop::Why::kInterrupt) return kSigInt;
  return stop.why == Stop::Why::kFault ? SignalOfFault(stop.fault) : kSigTrap;
}

const char* WatchName(WatchKind kind) {
  switch (kind) {
    case WatchKind::kWrite:
      return "watch";
    case WatchKind::kRead:
      return "rwatch";
    case WatchKind::kAccess:
      return "awatch";
  }
  return "watch";
}

// One action of vCont: "c", "s", "Csig", "Ssig", "rFROM,TO", each with ":THREAD" or without. False:
// none of them.
bool ParseAction(std::string_view text, Order* order) {
  const std::string_view what = TakeUntil(&text, ':');
  if (!text.empty()) {
    const std::optional<Thread> thread = ParseThread(text);
    if (!thread.has_value()) return false;
    order->thread = *thread;
  }
  if (what.empty()) return false;
  std::string_view rest = what.substr(1);
  switch (what.front()) {
    case 'c':
    case 'C':  // there are no signals; one that GDB gives back is what it was told of a fault
      order->action = Action::kRun;
      return true;
    case 's':
    case 'S':
      order->action = Action::kStep;
      return true;
    case 'r': {
      const std::optional<uint64_t> from = TakeHex(&rest);
      if (!from.has_value() || rest.empty() || rest.front() != ',') return false;
      rest.remove_prefix(1);
      const std::optional<uint64_t> to = TakeHex(&rest);
      if (!to.has_value()) return false;
      order->action = Action::kStep;
      order->from = static_cast<uint32_t>(*from);
      order->to = static_cast<uint32_t>(*to);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

void GdbSession::Resume(std::span<const Order> orders) { target_.Resume(orders); }

bool GdbSession::HandleResume(std::string_view packet) {
  if (packet == "vCont?") {
    send_("vCont;c;C;s;S;r");
    return true;
  }
  if (packet.starts_with("vCont;")) return HandleMultiResume(packet.substr(6));
  if (packet.front() == 'D' || packet.front() == 'k' || packet.starts_with("vKill")) {
    // Killing a card means nothing: both leave it to run.
    if (packet.front() != 'k') send_("OK");
    ended_ = true;
    target_.Disconnect();
    return true;
  }
  constexpr std::string_view kResumes = "csCS";
  if (kResumes.find(packet.front()) == kResumes.npos) return false;
  const bool step = packet.front() == 's' || packet.front() == 'S';
  // A signal that is given back means no more than in vCont; then ";ADDRESS".
  std::string_view rest = packet.substr(1);
  if (packet.front() == 'C' || packet.front() == 'S') TakeUntil(&rest, ';');
  const Thread thread = target_.Exists(continued_) ? continued_ : Chosen();
  if (const std::optional<uint64_t> pc = TakeHex(&rest)) {
    if (*pc > ~0u || !target_.WriteRegister(thread, DebugTarget::kPc, static_cast<uint32_t>(*pc))) {
      send_("E02");
      return true;
    }
  }
  std::array<Order, 2> orders{};  // everybody runs, and one may step
  orders[1] = {step ? thread : 0, step ? Action::kStep : Action::kRun};
  Resume(std::span(orders).first(step ? 2 : 1));
  return true;
}

// The first action that fits a thread is its; so those with a thread go before the one for the rest.
bool GdbSession::HandleMultiResume(std::string_view actions) {
  std::vector<Order> orders;
  bool rest = false;
  while (!actions.empty()) {
    Order order;
    if (!ParseAction(TakeUntil(&actions, ';'), &order) || orders.size() == kMaxActions) {
      send_("E01");
      return true;
    }
    const bool known = std::any_of(orders.begin(), orders.end(), [&order](const Order& other) {
      return other.thread == order.thread;
    });
    if (!known && !rest) orders.push_back(order);
    rest |= order.thread == 0;
  }
  if (orders.empty()) {
    send_("E01");
  } else {
    Resume(orders);
  }
  return true;
}

void GdbSession::TellStop() {
  const std::optional<Stop> stop = target_.TakeStop();
  if (!stop.has_value()) return;
  stop_ = *stop;
  general_ = stop_.thread;
  send_(StopReply(stop_));
}

std::string GdbSession::StopReply(const Stop& stop) {
  constexpr uint32_t kExpedited[] = {2, 8, DebugTarget::kPc};  // sp, fp: what GDB asks for first
  std::string text = fmt::format("T{:02x}thread:{:x};", SignalOf(stop), stop.thread);
  for (const uint32_t number : kExpedited) {
    text += fmt::format("{:x}:{};", number, WordToHex(target_.ReadRegister(stop.thread, number)));
  }
  if (stop.why == Stop::Why::kBreakpoint) text += "swbreak:;";
  if (stop.why == Stop::Why::kWatch) {
    text += fmt::format("{}:{:x};", WatchName(stop.watch), stop.address);
  }
  return text;
}

}  // namespace ttfd::debug
