// The payload.
#include "runtime/device/problem.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"

namespace ttfd {
namespace {

constexpr char kProblemPayload[] = "ttfd/problem";

}  // namespace

Status WithProblem(Problem problem, Status status) {
  status.SetPayload(kProblemPayload, absl::Cord(std::to_string(static_cast<int>(problem))));
  return status;
}

Problem ProblemOf(const Status& status) {
  const auto payload = status.GetPayload(kProblemPayload);
  int number = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &number))
    return Problem::kNone;
  return static_cast<Problem>(number);
}

}  // namespace ttfd
