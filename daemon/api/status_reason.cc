// A limit as a Status's payload.
#include "daemon/api/status_reason.h"

#include <cstring>

namespace ttfd {
namespace {

constexpr char kLimitPayload[] = "ttfd/limit";

}  // namespace

// Value and use as they lie in memory, then the name.
Status WithLimit(Status status, const LimitOfStatus& limit) {
  const uint64_t numbers[] = {limit.value, limit.used};
  std::string text(sizeof(numbers), '\0');
  std::memcpy(text.data(), numbers, sizeof(numbers));
  status.SetPayload(kLimitPayload, absl::Cord(text + limit.limit));
  return status;
}

std::optional<LimitOfStatus> LimitOf(const Status& status) {
  const std::string text = PayloadOf(status, kLimitPayload);
  uint64_t numbers[2];
  if (text.size() < sizeof(numbers)) return std::nullopt;
  std::memcpy(numbers, text.data(), sizeof(numbers));
  return LimitOfStatus{text.substr(sizeof(numbers)), numbers[0], numbers[1]};
}

}  // namespace ttfd
