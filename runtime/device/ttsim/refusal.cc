#include "runtime/device/ttsim/refusal.h"

namespace ttfd::ttsim {
namespace {

constexpr std::string_view kMark = "ERROR: ";

// Neither the host's access nor device code is at fault.
bool BlamesNobody(std::string_view category) {
  return category == "SystemError" || category == "ConfigurationError" ||
         category == "AssertionFailure";
}

}  // namespace

std::optional<RefusalLine> FindRefusal(std::string_view printed) {
  const size_t mark = printed.rfind(kMark);
  if (mark == printed.npos) return std::nullopt;
  std::string_view line = printed.substr(mark + kMark.size());
  line = line.substr(0, line.find('\n'));
  RefusalLine refusal;
  const size_t category_end = line.find(": ");
  refusal.category = line.substr(0, category_end);
  if (category_end != line.npos) refusal.text = line.substr(category_end + 2);
  const size_t line_start = printed.rfind('\n', mark);
  std::string_view head = printed.substr(line_start == printed.npos ? 0 : line_start + 1);
  head = head.substr(0, head.find(kMark));
  if (head.starts_with('[') && head.find(']') != head.npos) {
    refusal.clock = head.substr(1, head.find(']') - 1);
  }
  return refusal;
}

std::string FormatRefusal(std::string_view category, std::string_view text) {
  return fmt::format("{}{}: {}\n", kMark, category, text);
}

Status ToStatus(const RefusalLine& refusal, const Request& current) {
  std::string what = refusal.category;
  if (!refusal.text.empty()) what += ": " + refusal.text;
  if (current.kind == RequestKind::kStart) {
    return Error(StatusCode::kUnavailable, "the simulator does not start: {}", what);
  }
  if (BlamesNobody(refusal.category)) {
    return Error(StatusCode::kUnavailable, "the simulator gave up: {}", what);
  }
  if (current.kind == RequestKind::kClock) {
    return Error(StatusCode::kFailedPrecondition, "device fault: {} (clock {})", what,
                 refusal.clock.empty() ? "unknown" : refusal.clock);
  }
  return InvalidArgument("the simulator refused the host's {}: {}", Describe(current), what);
}

std::string Describe(const Request& request) {
  switch (request.kind) {
    case RequestKind::kStart:
      return "start";
    case RequestKind::kConfigRead:
      return fmt::format("read of configuration space at {:#x}", request.address);
    case RequestKind::kRead:
      return fmt::format("read of {} bytes at {:#x}", request.size, request.address);
    case RequestKind::kWrite:
      return fmt::format("write of {} bytes at {:#x}", request.size, request.address);
    case RequestKind::kMap:
      return fmt::format("mapping of {} bytes at {:#x}", request.length, request.address);
    case RequestKind::kUnmap:
      return fmt::format("unmapping at {:#x}", request.address);
    case RequestKind::kClock:
      return fmt::format("{} clocks", request.length);
    case RequestKind::kNone:
      break;
  }
  return "nothing";
}

}  // namespace ttfd::ttsim
