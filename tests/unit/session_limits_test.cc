// Every limit that is counted, of a session and of a user: refused with its name, its value and the use, shown as used,
// and given back.
#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include "daemon/api/status_reason.h"
#include "daemon/session/usage.h"
#include "tests/support/core_fixture.h"

namespace ttfd::session_limits_test {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SessionLimitsTest : public CoreTest {
 protected:
  // Used of a limit by a session, or with 0 by the user of test sessions.
  uint64_t Used(const std::string& limit, uint64_t session) {
    for (const LimitUsageReply& uses : core->admin().GetLimits().usage) {
      if (uses.session != session || uses.uid != 1000) continue;
      for (const LimitUseReply& use : uses.uses) {
        if (use.name == limit) return use.used;
      }
    }
    return 0;
  }
  // All that a session has, its handles but for that of the failed command, and the card's memory.
  std::vector<uint64_t> Everything(uint64_t session) {
    std::vector<uint64_t> all;
    for (const LimitUsageReply& uses : core->admin().GetLimits().usage) {
      if (uses.session != session) continue;
      for (const LimitUseReply& use : uses.uses) {
        if (use.name != "handles") all.push_back(use.used);
      }
    }
    const StatusReply status = core->admin().GetStatus();
    for (const MemoryUseReply& memory : status.devices[0].memory) all.push_back(memory.used_bytes);
    return all;
  }
  static uint64_t IdOf(TestClient& client) { return client.id(); }
  static void ExpectRefused(const ErrorReply& error, const std::string& limit, uint64_t value,
                            uint64_t used) {
    EXPECT_EQ(error.code, StatusCode::kResourceExhausted) << limit << ": " << error.message;
    EXPECT_EQ(error.reason, "LIMIT") << limit;
    EXPECT_EQ(error.limit, limit);
    EXPECT_EQ(error.limit_value, value) << limit;
    EXPECT_EQ(error.limit_used, used) << limit;
    EXPECT_THAT(error.message, HasSubstr(limit + " is " + std::to_string(value)));
  }
};

// One thing of each kind; `number` makes handles and queues of their own.
struct Kind {
  const char* name;  // of the session's limit; of the user's with "_per_user"
  void (*limit)(SessionLimits*, bool of_user, uint64_t value);
  uint64_t amount;  // that one takes
  uint64_t (*make)(TestClient*, uint64_t number);
  void (*free)(TestClient*, uint64_t number);  // null: nothing frees it but the session's end
  uint64_t before = 0;                         // that every session uses from the start
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

template <auto OfSession, auto OfUser>
void SetLimit(SessionLimits* limits, bool of_user, uint64_t value) {
  using SessionValue = std::remove_reference_t<decltype(limits->*OfSession)>;
  using UserValue = std::remove_reference_t<decltype(limits->*OfUser)>;
  if (of_user) {
    limits->*OfUser = static_cast<UserValue>(value);
  } else {
    limits->*OfSession = static_cast<SessionValue>(value);
  }
}

uint64_t MakeBuffer(TestClient* client, uint64_t number) {
  return client->Send(Allocate(number, 4096));
}
uint64_t MakeL1(TestClient* client, uint64_t number) {
  AllocateRequest request = Allocate(number, 1024, 64);
  request.place = BufferPlace::kL1Interleaved;
  return client->Send(request);
}
uint64_t MakeKernel(TestClient* client, uint64_t number) {
  return client->Send(InlineKernel(number));
}
uint64_t MakeProgram(TestClient* client, uint64_t number) {
  return client->Send(OneKernelProgram(number, 999));
}
// The error of a queue has value 0 and the queue's number.
uint64_t MakeQueue(TestClient* client, uint64_t number) {
  client->OpenQueue(ComputeQueue(static_cast<uint32_t>(number)));
  return 0;
}
void FreeOne(TestClient* client, uint64_t number) { client->Send(Free({number})); }

const Kind kKinds[] = {
    {"handles", SetLimit<&SessionLimits::handles, &SessionLimits::handles_per_user>, 1, MakeBuffer,
     FreeOne},
    {"buffers", SetLimit<&SessionLimits::buffers, &SessionLimits::buffers_per_user>, 1, MakeBuffer,
     FreeOne},
    {"kernels", SetLimit<&SessionLimits::kernels, &SessionLimits::kernels_per_user>, 1, MakeKernel,
     FreeOne},
    {"programs", SetLimit<&SessionLimits::programs, &SessionLimits::programs_per_user>, 1,
     MakeProgram, FreeOne},
    {"queues", SetLimit<&SessionLimits::queues, &SessionLimits::queues_per_user>, 1, MakeQueue,
     nullptr, 1},
    {"dram_bytes", SetLimit<&SessionLimits::dram_bytes, &SessionLimits::dram_bytes_per_user>, 4096,
     MakeBuffer, FreeOne},
    {"l1_bytes", SetLimit<&SessionLimits::l1_bytes, &SessionLimits::l1_bytes_per_user>, 64, MakeL1,
     FreeOne},
};

class EveryLimit : public SessionLimitsTest, public ::testing::WithParamInterface<Kind> {
 protected:
  static constexpr uint64_t kMost = 3;  // that fit the limit

  // Of the thing with this number, whose command has this value.
  static ErrorReply ErrorOf(TestClient& client, uint64_t value, uint64_t number) {
    if (GetParam().make == MakeQueue) return client.ErrorOf(0, static_cast<uint32_t>(number));
    return client.ErrorOf(value);
  }
  // A program needs a kernel, which is no limit's business here but that of handles and kernels.
  void Prepare(TestClient* client) {
    if (GetParam().make != MakeProgram) return;
    client->Send(InlineKernel(999));
    client->Run();
  }
};

TEST_P(EveryLimit, OfASessionIsRefusedShownAndGivenBack) {
  const Kind& kind = GetParam();
  kind.limit(&options.limits, false, kMost * kind.amount + kind.before);
  Start();
  auto client = Connect();
  Prepare(client.get());
  auto other = Connect();
  for (uint64_t number = 1; number <= kMost; ++number) {
    const uint64_t value = kind.make(client.get(), number);
    client->Run();
    EXPECT_EQ(ErrorOf(*client, value, number).code, StatusCode::kOk);
    EXPECT_EQ(Used(kind.name, IdOf(*client)), number * kind.amount + kind.before);
  }
  const std::vector<uint64_t> before = Everything(IdOf(*client));
  const uint64_t value = kind.make(client.get(), kMost + 1);
  client->Run();
  EXPECT_EQ(Everything(IdOf(*client)), before) << "nothing of it is left half done";
  ExpectRefused(ErrorOf(*client, value, kMost + 1), kind.name, kMost * kind.amount + kind.before,
                kMost * kind.amount + kind.before);
  Prepare(other.get());
  const uint64_t others = kind.make(other.get(), 1);
  other->Run();
  EXPECT_EQ(ErrorOf(*other, others, 1).code, StatusCode::kOk) << "another session has its own";
  if (kind.free == nullptr) return;
  BatchRequest clear;
  clear.clears_error = value;
  clear.commands.push_back(Request(BarrierRequest{}));
  client->SendBatch(std::move(clear));
  kind.free(client.get(), 1);
  client->Run();
  EXPECT_EQ(Used(kind.name, IdOf(*client)), (kMost - 1) * kind.amount + kind.before);
  const uint64_t again = kind.make(client.get(), kMost + 2);
  client->Run();
  EXPECT_EQ(client->ErrorOf(again).code, StatusCode::kOk) << client->ErrorOf(again).message;
}

TEST_P(EveryLimit, OfAUserIsThatOfAllItsSessions) {
  const Kind& kind = GetParam();
  const std::string name = std::string(kind.name) + "_per_user";
  const uint64_t most = kMost * kind.amount + 2 * kind.before +
                        (kind.make == MakeProgram && name.starts_with("handles") ? 2 : 0);
  kind.limit(&options.limits, true, most);
  Start();
  auto first = Connect();
  auto second = Connect();
  Prepare(first.get());
  Prepare(second.get());
  kind.make(first.get(), 1);
  kind.make(first.get(), 2);
  first->Run();
  kind.make(second.get(), 1);
  second->Run();
  EXPECT_EQ(Used(name, 0), most);
  const uint64_t value = kind.make(second.get(), 2);
  second->Run();
  ExpectRefused(ErrorOf(*second, value, 2), name, most, most);
  auto stranger = Connect(2000);
  Prepare(stranger.get());
  const uint64_t strangers = kind.make(stranger.get(), 1);
  stranger->Run();
  EXPECT_EQ(ErrorOf(*stranger, strangers, 1).code, StatusCode::kOk) << "another user has its own";
  first.reset();
  RunAll();
  EXPECT_EQ(Used(name, 0), kind.amount + kind.before) << "the refused one counts for nothing";
  auto third = Connect();
  Prepare(third.get());
  const uint64_t again = kind.make(third.get(), 1);
  third->Run();
  EXPECT_EQ(ErrorOf(*third, again, 1).code, StatusCode::kOk);
}

INSTANTIATE_TEST_SUITE_P(Counted, EveryLimit, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST_F(SessionLimitsTest, KernelImagesCountAsLongAsAProgramKeepsThem) {
  Start();
  auto client = Connect();
  client->Send(InlineKernel(1));
  client->Run();
  const uint64_t one = Used("kernel_bytes", IdOf(*client));
  ASSERT_GT(one, 0u);
  client->Send(OneKernelProgram(2, 1), Free({1}));
  client->Run();
  EXPECT_EQ(Used("kernel_bytes", IdOf(*client)), one) << "the program keeps it";
  client->Send(Free({2}));
  client->Run();
  EXPECT_EQ(Used("kernel_bytes", IdOf(*client)), 0u);
}

TEST_F(SessionLimitsTest, KernelImagesAreRefusedBeyondTheLimitsOfSessionAndUser) {
  Start();
  auto probe = Connect();
  probe->Send(InlineKernel(1));
  probe->Run();
  const uint64_t one = Used("kernel_bytes", IdOf(*probe));
  probe.reset();
  for (const bool of_user : {false, true}) {
    SetLimit<&SessionLimits::kernel_bytes, &SessionLimits::kernel_bytes_per_user>(&options.limits,
                                                                                  of_user, 2 * one);
    core.reset();
    Start();
    auto client = Connect();
    client->Send(InlineKernel(1, "elf 1"), InlineKernel(2, "elf 2"));
    const uint64_t value = client->Send(InlineKernel(3, "elf 3"));
    client->Run();
    ExpectRefused(client->ErrorOf(value), of_user ? "kernel_bytes_per_user" : "kernel_bytes",
                  2 * one, 2 * one);
    client.reset();
    options.limits = SessionLimits();
  }
}

TEST_F(SessionLimitsTest, TracesAreRefusedBeyondTheLimitsOfSessionAndUser) {
  for (const bool of_user : {false, true}) {
    SetLimit<&SessionLimits::trace_bytes, &SessionLimits::trace_bytes_per_user>(&options.limits,
                                                                                of_user, 16 << 10);
    core.reset();
    Start();
    auto first = Connect();
    auto second = Connect();
    for (TestClient* client : {first.get(), second.get()}) {
      client->Send(InlineKernel(2), OneKernelProgram(3, 2));
      client->Run();
    }
    uint64_t handle = 10;
    ErrorReply error;
    for (; error.reason.empty(); ++handle) {
      ASSERT_LT(handle, 40u);
      TestClient* const client = of_user && handle % 2 == 1 ? second.get() : first.get();
      const uint64_t used =
          Used(of_user ? "trace_bytes_per_user" : "trace_bytes", of_user ? 0 : IdOf(*client));
      const std::vector<uint64_t> before = Everything(IdOf(*client));
      RecordTraceRequest record;
      record.handle = handle;
      record.launches = {Launch(3)};
      const uint64_t value = client->Send(std::move(record));
      client->Run();
      error = client->ErrorOf(value);
      if (error.reason.empty()) continue;
      ExpectRefused(error, of_user ? "trace_bytes_per_user" : "trace_bytes", 16 << 10, used);
      EXPECT_EQ(Everything(IdOf(*client)), before) << "nothing of it is left half done";
    }
    EXPECT_GT(handle, 12u) << "some fit";
    first.reset();
    second.reset();
    options.limits = SessionLimits();
  }
}

TEST_F(SessionLimitsTest, SessionsOfAUserAreRefusedByNameToo) {
  options.limits.sessions_per_user = 1;
  Start();
  auto client = Connect();
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  TestClient second(*core);
  const std::optional<LimitOfStatus> limit = LimitOf(second.Open(hello));
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->limit, "sessions_per_user");
  EXPECT_EQ(limit->value, 1u);
  EXPECT_EQ(limit->used, 1u);
}

TEST_F(SessionLimitsTest, SessionsOfAUserSideBySideDoNotPassItsBytes) {
  SessionLimits limits;
  limits.dram_bytes_per_user = 1000;
  const auto user = std::make_shared<UserUse>();
  std::atomic<uint64_t> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      SessionUse use(limits, user);
      for (int n = 0; n < 1000; ++n) {
        if (!use.Take(Resource::kDramBytes, 1, "size", "a byte")) ++taken;
      }
      use.Set(Resource::kDramBytes, 0);
      EXPECT_LE(user->used(Resource::kDramBytes), 1000u);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(taken, 1000u);
  EXPECT_EQ(user->used(Resource::kDramBytes), 0u) << "all is given back";
}

TEST_F(SessionLimitsTest, ASessionThatIsIdleForTooLongEndsAndABusyOneDoesNot) {
  options.limits.idle_ms = 1000;
  Start();
  auto idle = Connect();
  auto busy = Connect();
  busy->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2));
  busy->Run();
  card->hold = true;
  busy->Send(Launch(3));
  core->RunOnce();
  clock.Advance(milliseconds(999));
  core->RunOnce();
  EXPECT_THAT(core->admin().ListSessions(), SizeIs(2));
  clock.Advance(milliseconds(1));
  core->RunOnce();
  Status status;
  ASSERT_TRUE(idle->Ended(&status));
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(PayloadOf(status, kReasonPayload), "LIMIT");
  EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr("idle_ms is 1000, 1000 in use"));
  EXPECT_FALSE(busy->Ended(&status));
  card->hold = false;
  busy->Run();
  clock.Advance(milliseconds(999));
  busy->Run();
  EXPECT_FALSE(busy->Ended(&status)) << "from the end of its last command";
  clock.Advance(milliseconds(1001));
  busy->Run();
  EXPECT_TRUE(busy->Ended(&status));
}

// Acknowledgements, which libraries send by themselves, are no use of the card.
TEST_F(SessionLimitsTest, MessagesWithoutACommandKeepNoSessionFromBeingIdle) {
  options.limits.idle_ms = 1000;
  Start();
  auto client = Connect();
  client->Send(Allocate(1, 4096));
  client->Run();
  Status status;
  for (int i = 0; i < 4; ++i) {
    clock.Advance(milliseconds(200));
    ASSERT_TRUE(client->Accept({}).ok());
    ASSERT_TRUE(client->Cancel({0, 1}).ok());
    ASSERT_TRUE(client->Submit(BatchRequest()).ok());
    client->Run();
    EXPECT_FALSE(client->Ended(&status));
  }
  client->Send(BarrierRequest{});
  clock.Advance(milliseconds(800));
  client->Run();
  EXPECT_FALSE(client->Ended(&status)) << "a barrier is a command";
  clock.Advance(milliseconds(200));
  client->Run();
  ASSERT_TRUE(client->Ended(&status));
  EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr("idle_ms is 1000, 1000 in use"));
}

TEST_F(SessionLimitsTest, EveryLimitIsShownOnceWithItsValue) {
  options.limits.buffers = 77;
  options.limits.window_bytes = 5 << 20;
  Start();
  std::map<std::string, uint64_t> shown;
  for (const LimitInfoReply& limit : core->admin().GetLimits().limits) {
    EXPECT_TRUE(shown.emplace(limit.name, limit.value).second) << limit.name;
    EXPECT_FALSE(limit.description.empty()) << limit.name;
  }
  EXPECT_EQ(shown["buffers"], 77u);
  EXPECT_EQ(shown["window_bytes"], 5u << 20);
  EXPECT_EQ(shown["sessions_per_user"], options.limits.sessions_per_user);
  EXPECT_EQ(shown["message_bytes"], options.limits.message_bytes);
  EXPECT_EQ(shown["reconnect_timeout_ms"], options.limits.reconnect_timeout_ms);
  EXPECT_EQ(shown.size(), 40u);
}

// Handles of commands that failed stay known, so they count.
TEST_F(SessionLimitsTest, HandlesOfFailedCommands_AreWithinTheUsersLimit) {
  options.limits.handles_per_user = 10;
  Start();
  auto client = Connect();
  client->OpenQueue({5, 0, 9, {}});
  for (uint64_t handle = 1; handle <= 50; ++handle) client->SendOn(5, {}, Allocate(handle, 64));
  client->Run();
  uint64_t used = 0;
  for (const LimitUsageReply& usage : core->admin().GetLimits().usage) {
    for (const LimitUseReply& use : usage.uses) {
      if (usage.session == 0 && use.name == "handles_per_user") used = use.used;
      if (usage.session == 0 && use.name == "handles") used = use.used;
    }
  }
  EXPECT_GT(used, 0u);
  EXPECT_LE(used, 10u);
}

}  // namespace
}  // namespace ttfd::session_limits_test
