// google.rpc.Status and its details as a Status of libttfd.
#include <gtest/gtest.h>

#include "client/cpp/src/admin_convert.h"
#include "client/cpp/src/convert.h"
#include "google/rpc/error_details.pb.h"
#include "tests/support/fake_ttfd_link.h"

namespace ttfd::client::client_convert_test {
namespace {

using ttfd::testing::FakeError;

TEST(ClientConvert, Details_FillEveryField) {
  v1::CommandError error;
  *error.mutable_status() = FakeError(8, "LIMIT", "too many handles",
                                      {{"field", "allocate.handle"},
                                       {"cause_queue", "3"},
                                       {"cause_value", "18446744073709551615"},
                                       {"limit", "handles"},
                                       {"limit_value", "10"},
                                       {"limit_used", "11"},
                                       {"hang_report", "r-1"}},
                                      /*retryable=*/true);
  error.set_execution_state(v1::EXECUTION_STATE_UNKNOWN);
  const ErrorInfo info = FromProto(error).error();
  EXPECT_EQ(info.code, Code::kResourceExhausted);
  EXPECT_EQ(info.message, "too many handles");
  EXPECT_EQ(info.reason, "LIMIT");
  EXPECT_EQ(info.field, "allocate.handle");
  EXPECT_EQ(info.cause, (Position{3, UINT64_MAX}));
  EXPECT_EQ(info.limit, "handles");
  EXPECT_EQ(info.limit_value, 10u);
  EXPECT_EQ(info.limit_used, 11u);
  EXPECT_EQ(info.hang_report, "r-1");
  EXPECT_TRUE(info.retryable);
  EXPECT_EQ(info.execution_state, ExecutionState::kUnknown);
}

TEST(ClientConvert, Progress_HasTheSessionsLeft) {
  v1::Progress proto;
  proto.set_step(v1::PROGRESS_STEP_WAITING);
  proto.set_left(101);
  proto.add_sessions()->set_session(7);
  proto.mutable_sessions(0)->set_waits_for(v1::SESSION_WAIT_OUTPUT);
  const Progress progress = FromProto(proto);
  EXPECT_EQ(progress.step, ProgressStep::kWaiting);
  EXPECT_EQ(progress.left, 101u);
  EXPECT_FALSE(progress.done);
  ASSERT_EQ(progress.sessions.size(), 1u);
  EXPECT_EQ(progress.sessions[0].session, 7u);
  EXPECT_EQ(progress.sessions[0].waits_for, SessionWait::kOutput);
}

TEST(ClientConvert, NoRetryInfo_IsNotRetryable) {
  EXPECT_FALSE(FromProto(FakeError(13, "DEVICE_FAULT", "fault")).retryable());
}

TEST(ClientConvert, BadNumbers_AreZero) {
  const Status status = FromProto(FakeError(
      8, "LIMIT", "", {{"cause_value", "12x"}, {"limit_value", ""}, {"limit_used", "-1"}}));
  EXPECT_EQ(status.error().cause.value, 0u);
  EXPECT_EQ(status.error().limit_value, 0u);
  EXPECT_EQ(status.error().limit_used, 0u);
}

TEST(ClientConvert, QuotaFailure_NamesLimitAlone) {
  google::rpc::Status status;
  status.set_code(8);
  google::rpc::QuotaFailure quota;
  quota.add_violations()->set_subject("handles");
  status.add_details()->PackFrom(quota);
  EXPECT_EQ(FromProto(status).error().limit, "handles");
}

TEST(ClientConvert, ForeignDetails_AreIgnored) {
  google::rpc::Status status;
  status.set_code(14);
  google::rpc::ErrorInfo info;
  info.set_domain("example.org");
  info.set_reason("OTHER");
  status.add_details()->PackFrom(info);
  status.add_details()->set_type_url("type.googleapis.com/no.such.Type");
  status.add_details()->PackFrom(info);
  status.mutable_details(2)->set_value("\xff");
  const Status converted = FromProto(status);
  EXPECT_EQ(converted.code(), Code::kUnavailable);
  EXPECT_EQ(converted.reason(), "");
}

TEST(ClientConvert, CodeZero_IsStillAnError) {
  EXPECT_EQ(FromProto(google::rpc::Status()).code(), Code::kUnknown);
}

TEST(ClientConvert, UnknownEnumNumbers_BecomeUnspecified) {
  EXPECT_EQ(EnumOf<Backend>(258), Backend::kUnspecified);
  EXPECT_EQ(EnumOf<Backend>(-1), Backend::kUnspecified);
  EXPECT_EQ(FromProto(v1::PRIORITY_UNSPECIFIED), Priority::kNormal);
}

TEST(ClientConvert, UnsetLimits_StayUnset) {
  v1::Limits limits;
  limits.set_lease_ms(0);
  EXPECT_EQ(FromProto(limits).lease_ms, 0u);
  EXPECT_EQ(FromProto(limits).idle_ms, std::nullopt);
}

}  // namespace
}  // namespace ttfd::client::client_convert_test
