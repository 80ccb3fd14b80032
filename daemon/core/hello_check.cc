// Checks the Hello of a client.
#include "daemon/core/hello_check.h"

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"

namespace ttfd {
namespace {

constexpr uint32_t kMaxWeight = 1000;  // of any session: a share, not a way to exclude others

Status Unsupported(const char* field, const char* what) {
  return ToStatus(UnsupportedError(field, what));
}

// A share is taken from others: more than the administrator gives everybody is for those who may administer.
Status CheckShare(const SessionLimits& limits, const PeerIdentity& peer,
                  const HelloRequest& hello) {
  const uint32_t most = peer.may_raise ? kMaxWeight : limits.weight;
  const uint32_t weight = hello.weight.value_or(1);
  if (weight == 0) {
    return ToStatus(
        InvalidError("hello.weight", "weight 0; 1 to {} are allowed, unset is 1", most));
  }
  if (weight > most) {
    return ToStatus(LimitError("hello.weight", "weight", most, weight,
                               fmt::format("weight {}; {} is the highest{}", weight, most,
                                           peer.may_raise ? "" : " without the role admin")));
  }
  if (!hello.priority_known) {
    return Unsupported("hello.priority", "a priority is low, normal or high");
  }
  if (hello.priority > limits.priority && !peer.may_raise) {
    return ToStatus(
        LimitError("hello.priority", "priority", static_cast<uint64_t>(limits.priority),
                   static_cast<uint64_t>(hello.priority),
                   fmt::format("priority {}; {} is the highest without the role admin",
                               PriorityName(hello.priority), PriorityName(limits.priority))));
  }
  return OkStatus();
}

}  // namespace

Status CheckHello(const SessionLimits& limits, const PeerIdentity& peer,
                  const HelloRequest& hello) {
  if (hello.min_revision > kApiRevision || hello.max_revision < kApiRevision) {
    return WithReason(
        Error(StatusCode::kFailedPrecondition,
              "the client speaks revisions {} to {} of the API, this daemon revision {}",
              hello.min_revision, hello.max_revision, kApiRevision),
        reason::kUnsupported, "hello.min_revision");
  }
  // A session keeps what it was given when it began; where there is none any more, that is the answer.
  if (hello.attach == AttachKind::kResume) return OkStatus();
  if (hello.client_name.size() > limits.client_name_bytes) {
    return ToStatus(LimitError("hello.client_name", "client_name_bytes", limits.client_name_bytes,
                               0,
                               fmt::format("a client name of {} bytes", hello.client_name.size())));
  }
  if (const Refusal refusal = CheckName("hello.client_name", hello.client_name)) {
    return ToStatus(*refusal);
  }
  return CheckShare(limits, peer, hello);
}

}  // namespace ttfd
