// What libttfd keeps to send again: nothing is forgotten that the daemon may not have.
#include <gtest/gtest.h>

#include "client/cpp/src/sent_log.h"

namespace ttfd::client {
namespace {

constexpr uint64_t kPayload = 100;

v1::ClientMessage DataOf(uint64_t value, uint64_t offset) {
  v1::ClientMessage message;
  v1::Data* const data = message.add_data();
  data->set_value(value);
  data->set_offset(offset);
  data->set_payload(std::string(kPayload, 'x'));
  return message;
}

bool NoneHasEnded(Position) { return false; }

TEST(ClientSentLog, PayloadIsForgottenOnceItHasArrived) {
  SentLog log;
  for (uint64_t i = 0; i < 3; ++i) {
    const v1::ClientMessage message = DataOf(1, i * kPayload);
    log.Add(Stream::Encode(message), message, kPayload, (i + 1) * kPayload);
  }
  log.Forget(NoneHasEnded, 2 * kPayload - 1);
  EXPECT_EQ(log.size(), 2u);
  log.Forget(NoneHasEnded, 3 * kPayload);
  EXPECT_EQ(log.size(), 0u);
}

// The daemon counts what a connection brings, so what the one before brought says nothing of it.
TEST(ClientSentLog, WithAnotherConnectionNothingHasArrivedBeforeItIsSentAgain) {
  SentLog log;
  uint64_t sent = 0;
  for (uint64_t i = 0; i < 4; ++i) {
    const v1::ClientMessage message = DataOf(1, i * kPayload);
    sent += kPayload;
    log.Add(Stream::Encode(message), message, kPayload, sent);
  }
  log.Forget(NoneHasEnded, kPayload);
  ASSERT_EQ(log.size(), 3u);
  log.Rewind();
  sent = 0;
  log.Forget(NoneHasEnded, 4 * kPayload);
  EXPECT_EQ(log.size(), 3u) << "none of it has been sent again";
  ASSERT_NE(log.Next(&sent), nullptr);
  ASSERT_NE(log.Next(&sent), nullptr);
  EXPECT_EQ(sent, 2 * kPayload);
  log.Forget(NoneHasEnded, kPayload);
  EXPECT_EQ(log.size(), 2u);
  log.Forget(NoneHasEnded, 4 * kPayload);
  EXPECT_EQ(log.size(), 1u) << "the last one is still to be sent";
  ASSERT_NE(log.Next(&sent), nullptr);
  EXPECT_EQ(log.Next(&sent), nullptr);
  EXPECT_EQ(sent, 3 * kPayload);
  log.Forget(NoneHasEnded, 3 * kPayload);
  EXPECT_EQ(log.size(), 0u);
}

}  // namespace
}  // namespace ttfd::client
