#include "runtime/base/status.h"

#include <cerrno>
#include <cstring>

namespace ttfd {

Status MakeStatus(StatusCode code, std::string_view message) {
  return Status(code, absl::string_view(message.data(), message.size()));
}

std::string_view StatusMessage(const Status& status) {
  return {status.message().data(), status.message().size()};
}

Status Annotate(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  Status annotated =
      MakeStatus(status.code(), fmt::format("{}: {}", context, StatusMessage(status)));
  status.ForEachPayload([&annotated](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

Status SystemError(std::string_view what) {
  return Error(StatusCode::kFailedPrecondition, "{}: {}", what, std::strerror(errno));
}

}  // namespace ttfd
