// The API's stable reason and field as payloads of a Status, for errors that end a call (a protocol
// error, a refused Hello, a failed admin call) and so have no ErrorReply of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/cord.h"
#include "runtime/base/status.h"

namespace ttfd {

inline constexpr char kReasonPayload[] = "ttfd/reason";
inline constexpr char kFieldPayload[] = "ttfd/field";

// `reason` is one of types.proto, Error.reason; `field` such as "hello.attach", may be empty.
inline Status WithReason(Status status, std::string_view reason, std::string_view field = "") {
  status.SetPayload(kReasonPayload, absl::Cord(std::string(reason)));
  if (!field.empty()) status.SetPayload(kFieldPayload, absl::Cord(std::string(field)));
  return status;
}

// The limit that a RESOURCE_EXHAUSTED is about.
struct LimitOfStatus {
  std::string limit;
  uint64_t value = 0;
  uint64_t used = 0;
};
Status WithLimit(Status status, const LimitOfStatus& limit);
std::optional<LimitOfStatus> LimitOf(const Status& status);

inline std::string PayloadOf(const Status& status, const char* payload) {
  const auto found = status.GetPayload(payload);
  return found.has_value() ? std::string(*found) : std::string();
}

}  // namespace ttfd
