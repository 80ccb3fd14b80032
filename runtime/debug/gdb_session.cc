// Packets that look and change; gdb_resume_packets.cc has those that run.
#include "runtime/debug/gdb_session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/debug/gdb_text.h"
#include "runtime/debug/rsp_packet.h"

namespace ttfd::debug {
namespace {

constexpr char kOk[] = "OK";
// GDB shows no difference between error numbers.
constexpr char kBadPacket[] = "E01";
constexpr char kNotPossible[] = "E02";

// "ADDRESS,LENGTH" in front of `*text`, as 32 bits each.
bool TakeRange(std::string_view* text, uint32_t* address, uint32_t* length) {
  const std::optional<uint64_t> first = TakeHex(text);
  if (!first.has_value() || *first > ~0u || text->empty() || text->front() != ',') return false;
  text->remove_prefix(1);
  const std::optional<uint64_t> second = TakeHex(text);
  if (!second.has_value() || *second > ~0u) return false;
  *address = static_cast<uint32_t>(*first);
  *length = static_cast<uint32_t>(*second);
  return true;
}

std::optional<uint32_t> WordFromHex(std::string_view text) {
  const std::optional<std::string> bytes = BytesFromHex(text);
  if (!bytes.has_value() || bytes->size() != 4) return {};
  return LoadAt<uint32_t>(bytes->data());
}

// Takes "PREFIX" off.
bool Cut(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::optional<Thread> ParseThread(std::string_view text) {
  if (text == "-1") return 0;
  const std::optional<uint64_t> number = TakeHex(&text);
  if (!number.has_value() || !text.empty() || *number > ~0u) return {};
  return static_cast<Thread>(*number);
}

GdbSession::GdbSession(DebugTarget& target, std::function<void(std::string_view)> send,
                       Monitor monitor)
    : target_(target), send_(std::move(send)), monitor_(std::move(monitor)) {
  target_.Connect();
  const std::vector<Thread> threads = target_.Threads();
  stop_.thread = threads.empty() ? 1 : threads.front();
  general_ = stop_.thread;
}

// The hart that registers and memory are of. One that went into reset can still be looked at.
Thread GdbSession::Chosen() const { return target_.Exists(general_) ? general_ : stop_.thread; }

void GdbSession::Interrupt() {
  target_.Interrupt(stop_.thread);
  TellStop();
}

void GdbSession::Handle(std::string_view packet) {
  if (packet.empty()) return send_("");
  // Only Ctrl-C reaches a chip that runs.
  if (target_.running()) return;
  if (HandleResume(packet)) return;
  if (packet == "QStartNoAckMode") {
    send_(kOk);
    acknowledges_ = false;
    return;
  }
  send_(Answer(packet.front(), packet.substr(1)));
}

std::string GdbSession::Answer(char command, std::string_view rest) {
  switch (command) {
    case '?':
      return StopReply(stop_);
    case 'g':
      return ReadRegisters();
    case 'G':
      return WriteRegisters(rest);
    case 'p':
      return ReadRegister(rest);
    case 'P':
      return WriteRegister(rest);
    case 'm':
      return ReadMemory(rest);
    case 'M':
      return WriteMemory(rest, false);
    case 'X':
      return WriteMemory(rest, true);
    case 'Z':
      return Point(rest, true);
    case 'z':
      return Point(rest, false);
    case 'H':
      return ChooseThread(rest);
    case 'T': {
      const std::optional<Thread> thread = ParseThread(rest);
      return thread.has_value() && target_.IsAlive(*thread) ? kOk : kNotPossible;
    }
    case 'q':
      return Query(rest);
    default:
      return "";
  }
}

std::string GdbSession::Query(std::string_view packet) {
  std::string_view rest = packet;
  const std::string_view name = TakeUntil(
      &rest, packet.starts_with("Rcmd") || packet.starts_with("ThreadExtraInfo") ? ',' : ':');
  if (name == "Supported") {
    return fmt::format(
        "PacketSize={:x};QStartNoAckMode+;qXfer:features:read+;qXfer:threads:read+;swbreak+;"
        "hwbreak+;vContSupported+",
        kMaxPacketBytes);
  }
  if (name == "Xfer") return Transfer(rest);
  if (name == "Attached") return "1";
  if (name == "C") return fmt::format("QC{:x}", Chosen());
  if (name == "fThreadInfo") {
    std::vector<Thread> threads = target_.Threads();
    if (threads.empty()) threads.push_back(1);
    return fmt::format("m{:x}", fmt::join(threads, ","));
  }
  if (name == "sThreadInfo") return "l";
  if (name == "ThreadExtraInfo") {
    const std::optional<Thread> thread = ParseThread(rest);
    if (!thread.has_value() || !target_.Exists(*thread)) return kBadPacket;
    const std::string text = target_.NameOf(*thread) + " " + target_.StateOf(*thread);
    return ToHex(std::as_bytes(std::span(text)));
  }
  if (name == "Rcmd") return RunMonitor(rest);
  return "";
}

// "OBJECT:read:ANNEX:OFFSET,LENGTH"
std::string GdbSession::Transfer(std::string_view rest) {
  const std::string_view object = TakeUntil(&rest, ':');
  const std::string_view verb = TakeUntil(&rest, ':');
  const std::string_view annex = TakeUntil(&rest, ':');
  uint32_t offset = 0;
  uint32_t length = 0;
  const bool features = object == "features";
  if (verb != "read" || (!features && object != "threads")) return "";
  if (!TakeRange(&rest, &offset, &length)) return kBadPacket;
  if (features && annex != "target.xml") return "E00";
  if (!features && offset == 0) threads_ = ThreadsXml(target_);
  const std::string_view text = features ? TargetXml() : threads_;
  if (offset > text.size()) return kBadPacket;
  // One character says whether there is more.
  const size_t part = std::min<size_t>(length, kMaxPacketBytes - 1);
  const bool last = offset + part >= text.size();
  return (last ? "l" : "m") + std::string(text.substr(offset, part));
}

std::string GdbSession::ChooseThread(std::string_view rest) {
  if (rest.empty()) return kBadPacket;
  const std::optional<Thread> thread = ParseThread(rest.substr(1));
  if (!thread.has_value() || (*thread != 0 && !target_.Exists(*thread))) return kBadPacket;
  if (rest.front() == 'g') {
    if (*thread != 0) general_ = *thread;
  } else if (rest.front() == 'c') {
    continued_ = *thread;
  } else {
    return kBadPacket;
  }
  return kOk;
}

std::string GdbSession::ReadRegisters() const {
  std::string text;
  for (uint32_t i = 0; i < DebugTarget::kRegisters; ++i) {
    text += WordToHex(target_.ReadRegister(Chosen(), i));
  }
  return text;
}

std::string GdbSession::WriteRegisters(std::string_view rest) {
  constexpr size_t kDigits = 8;
  if (rest.size() != DebugTarget::kRegisters * kDigits) return kBadPacket;
  for (uint32_t i = 0; i < DebugTarget::kRegisters; ++i) {
    const std::optional<uint32_t> value = WordFromHex(rest.substr(i * kDigits, kDigits));
    if (!value.has_value()) return kBadPacket;
    if (!target_.WriteRegister(Chosen(), i, *value)) return kNotPossible;
  }
  return kOk;
}

std::string GdbSession::ReadRegister(std::string_view rest) const {
  const std::optional<uint64_t> number = TakeHex(&rest);
  if (!number.has_value() || *number >= DebugTarget::kRegisters) return kBadPacket;
  return WordToHex(target_.ReadRegister(Chosen(), static_cast<uint32_t>(*number)));
}

std::string GdbSession::WriteRegister(std::string_view rest) {
  const std::optional<uint64_t> number = TakeHex(&rest);
  if (!number.has_value() || *number >= DebugTarget::kRegisters || !Cut(&rest, "=")) {
    return kBadPacket;
  }
  const std::optional<uint32_t> value = WordFromHex(rest);
  if (!value.has_value()) return kBadPacket;
  const auto index = static_cast<uint32_t>(*number);
  return target_.WriteRegister(Chosen(), index, *value) ? kOk : kNotPossible;
}

std::string GdbSession::ReadMemory(std::string_view rest) {
  uint32_t address = 0;
  uint32_t length = 0;
  if (!TakeRange(&rest, &address, &length)) return kBadPacket;
  std::vector<std::byte> bytes(std::min<size_t>(length, kMaxPacketBytes / 2));
  const size_t got = target_.ReadMemory(Chosen(), address, bytes);
  if (got == 0 && length != 0) return kNotPossible;
  return ToHex(std::span(bytes).first(got));
}

std::string GdbSession::WriteMemory(std::string_view rest, bool binary) {
  uint32_t address = 0;
  uint32_t length = 0;
  if (!TakeRange(&rest, &address, &length) || !Cut(&rest, ":")) return kBadPacket;
  const std::optional<std::string> bytes = binary ? std::string(rest) : BytesFromHex(rest);
  if (!bytes.has_value() || bytes->size() != length) return kBadPacket;
  const ByteSpan from = std::as_bytes(std::span(*bytes));
  return target_.WriteMemory(Chosen(), address, from) ? kOk : kNotPossible;
}

// "TYPE,ADDRESS,KIND" of Z and z.
std::string GdbSession::Point(std::string_view rest, bool set) {
  const std::string_view type = TakeUntil(&rest, ',');
  uint32_t address = 0;
  uint32_t length = 0;
  if (!TakeRange(&rest, &address, &length)) return kBadPacket;
  if (type == "0" || type == "1") {
    // GDB may take away what it never set.
    if (!set) target_.ClearBreakpoint(address);
    return !set || target_.SetBreakpoint(address) ? kOk : kNotPossible;
  }
  if (type != "2" && type != "3" && type != "4") return "";
  const WatchKind kind = type == "2"   ? WatchKind::kWrite
                         : type == "3" ? WatchKind::kRead
                                       : WatchKind::kAccess;
  if (!set) target_.ClearWatchpoint(kind, address, length);
  return !set || target_.SetWatchpoint(kind, address, length, Chosen()) ? kOk : kNotPossible;
}

std::string GdbSession::RunMonitor(std::string_view hex) {
  const std::optional<std::string> words = BytesFromHex(hex);
  if (!words.has_value()) return kBadPacket;
  if (monitor_ == nullptr) return "";
  std::string text = monitor_(*words);
  if (text.size() > kMaxPacketBytes / 2) text.resize(kMaxPacketBytes / 2);
  return text.empty() ? kOk : ToHex(std::as_bytes(std::span(text)));
}

}  // namespace ttfd::debug
