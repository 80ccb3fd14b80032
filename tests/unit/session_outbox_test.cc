// What a session has for its client: in order, progress after what it covers, in messages of bounded size, counted.
#include <gmock/gmock.h>

#include "daemon/api/errors.h"
#include "daemon/session/output_buffer.h"
#include "tests/support/random.h"

namespace ttfd::session_outbox_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ErrorReply LongError(size_t bytes) {
  return InvalidError("write.offset", "{}", std::string(bytes, 'e'));
}

TEST(OutputBuffer, Take_MovesEverythingOut) {
  OutputBuffer outbox;
  EXPECT_TRUE(outbox.empty());
  EXPECT_TRUE(outbox.Take(1000).empty());
  outbox.AddData({0, 1, 0, "bytes"});
  outbox.AddError(0, 2, 2, LongError(10));
  outbox.SetProgress(0, 2);
  EXPECT_TRUE(outbox.has_results());
  EXPECT_GT(outbox.data_bytes(), 5u);
  EXPECT_GT(outbox.text_bytes(), 10u);
  const SessionOutputBatch batch = outbox.Take(1000);
  EXPECT_THAT(batch.data, SizeIs(1));
  EXPECT_THAT(batch.errors, SizeIs(1));
  EXPECT_THAT(batch.progress, ElementsAre(QueuePosition{0, 2}));
  EXPECT_TRUE(outbox.empty());
  EXPECT_FALSE(outbox.has_results());
  EXPECT_EQ(outbox.data_bytes(), 0u);
  EXPECT_EQ(outbox.text_bytes(), 0u);
  EXPECT_TRUE(outbox.Take(1000).empty());
}

TEST(OutputBuffer, Progress_IsCoalesced) {
  OutputBuffer outbox;
  for (uint64_t value = 1; value <= 100; ++value) {
    outbox.SetProgress(0, value);
    outbox.SetProgress(1, 2 * value);
  }
  EXPECT_THAT(outbox.Take(1).progress, ElementsAre(QueuePosition{0, 100}, QueuePosition{1, 200}));
  outbox.SetProgress(1, 201);
  EXPECT_THAT(outbox.Take(1).progress, ElementsAre(QueuePosition{1, 201}));
}

TEST(OutputBuffer, Progress_FollowsDataAndErrors) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    OutputBuffer outbox;
    std::vector<uint64_t> ended(3);
    std::vector<uint64_t> taken(3);
    for (int step = 0; step < 100; ++step) {
      const uint32_t queue = random() % 3;
      if (random() % 3 > 0) {
        const uint64_t value = ++ended[queue];
        for (uint32_t i = random() % 3; i > 0; --i) {
          outbox.AddData({queue, value, 0, std::string(random() % 100, 'd')});
        }
        if (random() % 3 == 0) outbox.AddError(queue, value, value, LongError(100));
        outbox.SetProgress(queue, value);
        continue;
      }
      const SessionOutputBatch batch = outbox.Take(random() % 300);
      for (const DataChunk& chunk : batch.data) ASSERT_GT(chunk.value, taken[chunk.queue]);
      for (const CommandErrorReply& error : batch.errors) {
        ASSERT_GT(error.first_value, taken[error.queue]);
      }
      for (const QueuePosition& position : batch.progress) {
        ASSERT_GT(position.value, taken[position.queue]);
        taken[position.queue] = position.value;
      }
    }
    while (!outbox.empty()) {
      for (const QueuePosition& position : outbox.Take(300).progress) {
        taken[position.queue] = position.value;
      }
    }
    ASSERT_EQ(taken, ended) << "all progress is taken in the end";
  }
}

TEST(OutputBuffer, Errors_AreTakenInBoundedMessages) {
  OutputBuffer outbox;
  constexpr uint64_t kErrors = 2000;
  for (uint64_t value = 1; value <= kErrors; ++value) {
    outbox.AddError(0, value, value, LongError(1000));
  }
  outbox.SetProgress(0, kErrors);
  const uint64_t bytes = outbox.text_bytes();
  EXPECT_GT(bytes, kErrors * 1000);
  uint64_t next = 1;
  int messages = 0;
  while (!outbox.empty()) {
    const SessionOutputBatch batch = outbox.Take(1 << 20);
    uint64_t size = 0;
    for (const CommandErrorReply& error : batch.errors) {
      EXPECT_EQ(error.first_value, next++);
      size += error.error.message.size();
    }
    EXPECT_LT(size, 600u << 10);
    EXPECT_THAT(batch.progress, ElementsAre(QueuePosition{0, next - 1})) << "what was taken";
    ++messages;
  }
  EXPECT_EQ(next, kErrors + 1);
  EXPECT_GE(messages, 4);
  EXPECT_EQ(outbox.text_bytes(), 0u);
}

TEST(OutputBuffer, OpenErrors_AreOneOfEachQueue) {
  OutputBuffer outbox;
  for (int i = 0; i < 1000; ++i) {
    outbox.SetOpenError(5, LongError(10));
    outbox.SetOpenError(6, LongError(20));
  }
  EXPECT_TRUE(outbox.has_results());
  const SessionOutputBatch batch = outbox.Take(1);
  ASSERT_THAT(batch.errors, SizeIs(2));
  EXPECT_EQ(batch.errors[0].queue, 5u);
  EXPECT_EQ(batch.errors[0].first_value, 0u);
  EXPECT_EQ(batch.errors[0].last_value, 0u);
  EXPECT_TRUE(outbox.empty());
}

TEST(OutputBuffer, Welcome_ComesAlone) {
  OutputBuffer outbox;
  outbox.SetWaiting({1, {}, 5});
  outbox.SetWelcome("secret");
  const SessionOutputBatch batch = outbox.Take(1000);
  EXPECT_TRUE(batch.has_welcome);
  EXPECT_EQ(batch.lease_token, "secret");
  EXPECT_FALSE(batch.has_waiting) << "it waits no more";
  EXPECT_TRUE(outbox.empty());
}

}  // namespace
}  // namespace ttfd::session_outbox_test
