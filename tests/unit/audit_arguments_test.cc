// Requests in the audit trail: JSON objects whatever they hold, and never large.
#include "daemon/rpc/audit_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "ttfd/v1/admin.pb.h"

namespace ttfd::audit_arguments_test {
namespace {

using Json = nlohmann::json;

TEST(AuditArguments, Fields_KeepTheirJsonForm) {
  v1::TerminateSessionRequest end;
  end.set_session(3);
  end.set_reason("a \"b\"\n\x1B");
  EXPECT_EQ(AuditArguments(end), R"({"session":"3","reason":"a \"b\"\u000a\u001b"})");
  v1::SetTimeoutsRequest timeouts;
  timeouts.mutable_timeouts()->set_kernel_ms(55);
  EXPECT_EQ(AuditArguments(timeouts), R"({"timeouts":{"kernel_ms":55}})");
  v1::ProfileRequest profile;
  profile.set_idle(true);
  profile.add_cores()->set_x1(3);
  profile.add_cores();
  EXPECT_THAT(AuditArguments(profile), ::testing::HasSubstr(R"("idle":true)"));
  EXPECT_EQ(Json::parse(AuditArguments(profile))["cores"], Json::parse(R"([{"x1":3},{}])"));
  EXPECT_EQ(AuditArguments(v1::DrainRequest()), "{}");
}

TEST(AuditArguments, LongStrings_AreCutInTheirPlace) {
  v1::TerminateSessionRequest end;
  end.set_session(3);
  end.set_reason(std::string(8 << 20, '"'));
  const Json arguments = Json::parse(AuditArguments(end));
  EXPECT_TRUE(arguments.is_object());
  EXPECT_EQ(arguments["session"], "3");
  EXPECT_EQ(arguments["reason"], std::string(kAuditStringBytes, '"'));
  EXPECT_EQ(arguments["cut"], true);
}

TEST(AuditArguments, LongLists_AreCut) {
  v1::ProfileRequest profile;
  for (int i = 0; i < 1'000'000; ++i) profile.add_cores();
  const std::string text = AuditArguments(profile);
  EXPECT_LT(text.size(), kAuditArgumentBytes + 100);
  EXPECT_EQ(Json::parse(text)["cut"], true);
}

}  // namespace
}  // namespace ttfd::audit_arguments_test
