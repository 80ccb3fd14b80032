// Events and data on their way to the host.
#include "tests/support/firmware_test.h"

namespace ttfd::testing::firmware_completion_test {
namespace {

class Completion : public FirmwareTest {};

TEST_F(Completion, AnEventIsOnePageAndThePointerCountsIt) {
  Start({});
  ASSERT_OK(bench_->SendAndRun(EntryBuilder().Dispatch(EventCommand(5))));
  const abi::CompletionPointer pointer = bench_->completion_pointer();
  EXPECT_EQ(pointer.pages_written, 1u);
  EXPECT_EQ(pointer.last_event, 5u);
  EXPECT_EQ(pointer.progress, 1u);
  const auto page = bench_->TakeCompletionPage();
  ASSERT_OK(page.status());
  const auto record = LoadAt<abi::EventRecord>(page->data());
  EXPECT_EQ(record.event, 5u);
  EXPECT_EQ(record.command[0], static_cast<uint8_t>(abi::DispatchId::kWriteLinearHHost));
  EXPECT_EQ(record.command[1], 1u);
  EXPECT_EQ(DispatchStatus().last_event, 5u);
  EXPECT_EQ(DispatchStatus().progress, 1u);
  EXPECT_EQ(PrefetchStatus().progress, 1u);
  ExpectAtRest();
}

}  // namespace
}  // namespace ttfd::testing::firmware_completion_test
