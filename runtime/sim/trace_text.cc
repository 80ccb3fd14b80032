// Columns of a fixed width, then what the event did.
#include "runtime/sim/trace_text.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "runtime/sim/disassemble.h"

namespace ttfd::sim {
namespace {

constexpr size_t kTileWidth = 8;
constexpr size_t kInstructionWidth = 28;

void Put(std::string_view text, fmt::memory_buffer* out) {
  out->append(text.data(), text.data() + text.size());
}

// At least one space, then up to the column.
void PadFrom(size_t start, size_t width, fmt::memory_buffer* out) {
  do {
    out->push_back(' ');
  } while (out->size() - start < width);
}

void PutHex(uint32_t value, fmt::memory_buffer* out) {
  char digits[8];
  for (int i = 7; i >= 0; --i, value >>= 4) digits[i] = "0123456789abcdef"[value & 15];
  Put({digits, sizeof(digits)}, out);
}

void PutNumber(uint64_t value, fmt::memory_buffer* out) {
  const fmt::format_int text(value);
  Put({text.data(), text.size()}, out);
}

void PutTile(hw::Coordinate tile, fmt::memory_buffer* out) {
  out->push_back('(');
  PutNumber(tile.x, out);
  out->push_back(',');
  PutNumber(tile.y, out);
  out->push_back(')');
}

// Clock, tile, who.
void PutPlace(uint64_t clock, hw::Coordinate tile, std::string_view who, fmt::memory_buffer* out) {
  const fmt::format_int number(clock);
  for (size_t i = number.size(); i < 10; ++i) out->push_back(' ');
  Put({number.data(), number.size()}, out);
  out->push_back(' ');
  const size_t tile_start = out->size();
  PutTile(tile, out);
  PadFrom(tile_start, kTileWidth, out);
  const size_t who_start = out->size();
  Put(who, out);
  PadFrom(who_start, 7, out);
}

void PutAccess(std::string_view what, const TraceAccess& access, fmt::memory_buffer* out) {
  if (access.bytes == 0) return;
  out->push_back(' ');
  Put(what, out);
  PutNumber(access.bytes, out);
  out->push_back(' ');
  PutHex(access.address, out);
  out->push_back('=');
  PutHex(access.value, out);
}

const char* EventName(NocEvent event) {
  switch (event) {
    case NocEvent::kIssued:
      return "issued";
    case NocEvent::kDelivered:
      return "delivered";
    case NocEvent::kCounted:
      return "counted";
  }
  return "";
}

void AppendNoc(const NocView& view, fmt::memory_buffer* out) {
  PutPlace(view.clock, view.source, view.niu == 0 ? "NOC0" : "NOC1", out);
  const auto to = std::back_inserter(*out);
  fmt::format_to(to, "{} {}: ", view.kind, EventName(view.event));
  const std::string_view kind = view.kind;
  std::string remote = fmt::format("({},{})", view.remote_start.x, view.remote_start.y);
  if (kind == "multicast") {
    remote += fmt::format("..({},{})", view.remote_end.x, view.remote_end.y);
  }
  const auto& source = view.source;
  if (kind == "read") {
    fmt::format_to(to, "{} {:#x} -> ({},{}) {:#x}, {} bytes", remote, view.remote, source.x,
                   source.y, view.local, view.length);
  } else if (kind == "inline") {
    fmt::format_to(to, "{:#010x} -> {} {:#x}", view.data, remote, view.remote);
  } else if (kind == "increment") {
    fmt::format_to(to, "{} {:#x} += {}, old value -> ({},{}) {:#x}", remote, view.remote, view.data,
                   source.x, source.y, view.local);
  } else {
    fmt::format_to(to, "({},{}) {:#x} -> {} {:#x}, {} bytes", source.x, source.y, view.local,
                   remote, view.remote, view.length);
  }
  if (view.event == NocEvent::kIssued) fmt::format_to(to, ", control {:#x}", view.control);
}

const char* StateName(HartState state) {
  switch (state) {
    case HartState::kHeld:
      return "in reset";
    case HartState::kRunnable:
      return "runs";
    case HartState::kParked:
      return "parked";
    case HartState::kFaulted:
      return "faulted";
  }
  return "";
}

}  // namespace

TraceText::TraceText() : known_(std::make_unique<std::array<Known, kKnown>>()) {}

void TraceText::Append(const TraceEvent& event, fmt::memory_buffer* out) {
  if (const auto* const instruction = std::get_if<TraceInstruction>(&event)) {
    AppendInstruction(*instruction, out);
  } else if (const auto* const view = std::get_if<NocView>(&event)) {
    AppendNoc(*view, out);
  } else if (const auto* const state = std::get_if<TraceState>(&event)) {
    PutPlace(state->clock, state->tile, HartName(state->hart), out);
    PutHex(state->pc, out);
    Put("           ", out);
    Put(StateName(state->state), out);
  } else if (const auto* const fault = std::get_if<Fault>(&event)) {
    PutPlace(fault->clock, fault->translated, HartName(fault->hart), out);
    PutHex(fault->pc, out);
    Put("           ", out);
    Put(StatusMessage(ToStatus(*fault)), out);
  } else {
    Put("# the chip was reset", out);
  }
  out->push_back('\n');
}

std::string_view TraceText::Disassembly(uint32_t pc, uint32_t word) {
  Known& known = (*known_)[pc / 4 % kKnown];
  if (known.length == 0 || known.pc != pc || known.word != word) {
    const std::string text = Disassemble(word, pc);
    known.pc = pc;
    known.word = word;
    known.length = static_cast<uint32_t>(std::min(text.size(), sizeof(known.text)));
    std::memcpy(known.text, text.data(), known.length);
  }
  return {known.text, known.length};
}

void TraceText::AppendInstruction(const TraceInstruction& event, fmt::memory_buffer* out) {
  PutPlace(event.clock, event.tile, HartName(event.hart), out);
  PutHex(event.pc, out);
  out->push_back(' ');
  PutHex(event.word, out);
  Put("  ", out);
  const size_t start = out->size();
  Put(Disassembly(event.pc, event.word), out);
  if (event.rd == 0 && event.load.bytes == 0 && event.store.bytes == 0) return;
  PadFrom(start, kInstructionWidth, out);
  if (event.rd != 0) {
    out->push_back(' ');
    Put(RegisterName(event.rd), out);
    out->push_back('=');
    PutHex(event.rd_value, out);
  }
  PutAccess("ld", event.load, out);
  PutAccess("st", event.store, out);
}

}  // namespace ttfd::sim
