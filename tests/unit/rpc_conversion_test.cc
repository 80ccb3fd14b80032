// Protobuf to values and back: nothing is lost, nothing is judged, nothing grows beyond its limit.
#include <gtest/gtest.h>

#include "daemon/rpc/admin_conversion.h"
#include "daemon/rpc/reply_conversion.h"
#include "daemon/rpc/request_conversion.h"
#include "runtime/base/bytes.h"

namespace ttfd::rpc_conversion_test {
namespace {

MessageRequest Convert(v1::ClientMessage message, const SessionLimits& limits = {}) {
  const std::string bytes = message.SerializeAsString();
  const ByteSpan segment = std::as_bytes(std::span(bytes));
  const StatusOr<MessageScan> scan = ScanMessage({&segment, 1}, {1 << 20, 1 << 20});
  EXPECT_TRUE(scan.ok()) << scan.status();
  return MessageFromProto(message, *scan, limits);
}

template <typename T>
T Convert(const v1::Command& command) {
  v1::ClientMessage message;
  *message.add_batches()->add_commands() = command;
  MessageRequest request = Convert(std::move(message));
  EXPECT_EQ(request.batches.at(0).commands.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<T>(request.batches[0].commands[0]))
      << command.ShortDebugString();
  return std::get<T>(request.batches[0].commands[0]);
}

void AddRange(google::protobuf::RepeatedPtrField<v1::CoreRange>* to, uint32_t x0, uint32_t y0,
              uint32_t x1, uint32_t y1) {
  v1::CoreRange* const range = to->Add();
  range->set_x0(x0);
  range->set_y0(y0);
  range->set_x1(x1);
  range->set_y1(y1);
}

TEST(RequestConversion, BatchHeaderAndWaits) {
  v1::ClientMessage message;
  v1::Batch& batch = *message.add_batches();
  batch.set_queue(3);
  batch.set_first_value(9);
  batch.set_start_within_ms(7);
  batch.set_clears_error(5);
  v1::QueuePosition* const wait = batch.add_waits();
  wait->set_queue(1);
  wait->set_value(2);
  const BatchRequest request = Convert(message).batches.at(0);
  EXPECT_EQ(request.queue, 3u);
  EXPECT_EQ(request.first_value, 9u);
  EXPECT_EQ(request.start_within_ms, 7u);
  EXPECT_EQ(request.clears_error, 5u);
  EXPECT_EQ(request.waits, (std::vector<QueuePosition>{{1, 2}}));
  batch.clear_start_within_ms();
  EXPECT_FALSE(Convert(message).batches.at(0).start_within_ms.has_value()) << "unset is not 0";
}

TEST(RequestConversion, MessagesWithAllTheirParts) {
  v1::ClientMessage message;
  v1::OpenQueue* const open = message.add_open_queues();
  open->set_queue(4);
  open->set_device(1);
  open->set_kind(static_cast<v1::QueueKind>(9));
  AddRange(open->mutable_workers(), 1, 2, 3, 4);
  message.add_batches()->add_commands()->mutable_barrier();
  message.mutable_batches(0)->add_commands()->mutable_barrier();
  message.add_batches();
  message.add_batches()->add_commands();
  v1::Data* const data = message.add_data();
  data->set_queue(1);
  data->set_value(2);
  data->set_offset(3);
  data->set_payload("payload");
  v1::Cancel* const cancel = message.add_cancels();
  cancel->set_queue(5);
  cancel->set_from_value(6);
  const uint64_t bytes = message.ByteSizeLong();
  const MessageRequest request = Convert(message);
  EXPECT_EQ(request.open_queues.at(0).queue, 4u);
  EXPECT_EQ(request.open_queues[0].device, 1u);
  EXPECT_EQ(request.open_queues[0].kind, 9u) << "unknown kinds arrive as they are";
  EXPECT_EQ(request.open_queues[0].workers, (std::vector<CoreRange>{{1, 2, 3, 4}}));
  ASSERT_EQ(request.batches.size(), 3u);
  EXPECT_EQ(request.batches[0].costs,
            (std::vector<uint32_t>{6 + kCommandBytes, 4 + kCommandBytes}));
  EXPECT_TRUE(request.batches[1].costs.empty());
  EXPECT_EQ(request.batches[2].costs, (std::vector<uint32_t>{4 + kCommandBytes}));
  EXPECT_EQ(request.data.at(0).payload, "payload");
  EXPECT_EQ(request.data[0].cost, 2 + 3 * 2 + 9u);
  EXPECT_EQ(request.data[0].offset, 3u);
  EXPECT_EQ(request.cancels, (std::vector<QueuePosition>{{5, 6}}));
  EXPECT_EQ(request.cost, bytes + 3 * kCommandBytes);
  EXPECT_FALSE(request.finish || request.leave);
  message.mutable_finish();
  EXPECT_TRUE(Convert(message).finish);
  message.mutable_leave();
  EXPECT_TRUE(Convert(message).leave);
}

TEST(RequestConversion, EveryPlaceOfABuffer) {
  v1::Command command;
  v1::Allocate* const allocate = command.mutable_allocate();
  allocate->set_handle(11);
  allocate->set_size_bytes(4096);
  allocate->set_page_bytes(64);
  EXPECT_EQ(Convert<AllocateRequest>(command).place, BufferPlace::kUnset);
  allocate->mutable_dram();
  EXPECT_EQ(Convert<AllocateRequest>(command).place, BufferPlace::kDramInterleaved);
  AddRange(allocate->mutable_l1()->mutable_cores(), 1, 2, 3, 4);
  const auto l1 = Convert<AllocateRequest>(command);
  EXPECT_EQ(l1.place, BufferPlace::kL1Interleaved);
  EXPECT_EQ(l1.cores, (std::vector<CoreRange>{{1, 2, 3, 4}}));
  EXPECT_EQ(l1.handle, 11u);
  EXPECT_EQ(l1.size_bytes, 4096u);
  EXPECT_EQ(l1.page_bytes, 64u);
  v1::Sharded* const sharded = allocate->mutable_l1_sharded();
  AddRange(sharded->mutable_cores(), 1, 2, 3, 4);
  sharded->set_row_pages(5);
  sharded->set_shard_rows(6);
  sharded->set_shard_row_pages(7);
  const auto shards = Convert<AllocateRequest>(command);
  EXPECT_EQ(shards.place, BufferPlace::kL1Sharded);
  EXPECT_EQ(shards.cores, (std::vector<CoreRange>{{1, 2, 3, 4}}));
  EXPECT_EQ(shards.row_pages, 5u);
  EXPECT_EQ(shards.shard_rows, 6u);
  EXPECT_EQ(shards.shard_row_pages, 7u);
  allocate->set_dram_bank(6);
  EXPECT_EQ(Convert<AllocateRequest>(command).place, BufferPlace::kDramBank);
  EXPECT_EQ(Convert<AllocateRequest>(command).dram_bank, 6u);
}

TEST(RequestConversion, KernelsInlineStreamedOrByHash) {
  v1::Command command;
  v1::LoadKernel* const load = command.mutable_load_kernel();
  load->set_handle(1);
  load->set_sha256("hash");
  load->set_size(3);
  load->set_name("n");
  auto request = Convert<LoadKernelRequest>(command);
  EXPECT_FALSE(request.is_inline);
  EXPECT_FALSE(request.streamed);
  EXPECT_EQ(request.sha256, "hash");
  EXPECT_EQ(request.name, "n");
  load->set_inline_("elf");
  request = Convert<LoadKernelRequest>(command);
  EXPECT_TRUE(request.is_inline);
  EXPECT_EQ(request.inline_bytes, "elf");
  load->set_streamed(true);
  EXPECT_TRUE(Convert<LoadKernelRequest>(command).streamed);
  EXPECT_FALSE(Convert<LoadKernelRequest>(command).is_inline);
}

TEST(RequestConversion, StreamedThatIsFalse_IsNoSource) {
  v1::Command command;
  command.mutable_write()->set_streamed(false);
  EXPECT_TRUE(Convert<WriteRequest>(command).unstreamed);
  EXPECT_FALSE(Convert<WriteRequest>(command).streamed);
  command.mutable_write()->clear_streamed();
  EXPECT_FALSE(Convert<WriteRequest>(command).unstreamed);
  command.mutable_load_kernel()->set_streamed(false);
  EXPECT_TRUE(Convert<LoadKernelRequest>(command).unstreamed);
}

TEST(RequestConversion, ProgramsWithEveryProcessor) {
  v1::Command command;
  v1::CreateProgram* const program = command.mutable_create_program();
  program->set_handle(2);
  for (int processor = 0; processor <= 6; ++processor) {
    v1::KernelUse* const use = program->add_kernels();
    use->set_kernel(10 + static_cast<uint64_t>(processor));
    use->set_processor(static_cast<v1::Processor>(processor));
  }
  AddRange(program->mutable_kernels(1)->mutable_cores(), 0, 0, 12, 9);
  v1::CircularBuffer* const buffer = program->add_circular_buffers();
  buffer->set_index(4);
  buffer->set_pages(2);
  buffer->set_page_bytes(32);
  buffer->set_format(v1::DATA_FORMAT_BFP8_B);
  buffer->set_buffer(0);  // no handle, and not "none"
  program->add_circular_buffers();
  v1::Semaphore* const semaphore = program->add_semaphores();
  semaphore->set_index(3);
  semaphore->set_initial(8);
  const auto request = Convert<CreateProgramRequest>(command);
  ASSERT_EQ(request.kernels.size(), 7u);
  EXPECT_FALSE(request.kernels[0].processor_known) << "unspecified";
  EXPECT_FALSE(request.kernels[6].processor_known) << "a number of the future";
  const hw::Hart harts[] = {hw::kBrisc, hw::kNcrisc, hw::kTrisc0, hw::kTrisc1, hw::kTrisc2};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(request.kernels[i + 1].processor_known);
    EXPECT_EQ(request.kernels[i + 1].hart, harts[i]);
  }
  EXPECT_EQ(request.kernels[1].cores, (std::vector<CoreRange>{{0, 0, 12, 9}}));
  EXPECT_EQ(request.circular_buffers[0].index, 4u);
  EXPECT_EQ(request.circular_buffers[0].page_bytes, 32u);
  EXPECT_EQ(request.circular_buffers[0].format, 7u);
  EXPECT_EQ(request.circular_buffers[0].buffer, 0u);
  EXPECT_EQ(request.circular_buffers[1].buffer, std::nullopt);
  EXPECT_EQ(request.semaphores[0].initial, 8u);
}

TEST(RequestConversion, TransfersAndLaunches) {
  v1::Command command;
  command.mutable_write()->set_buffer(1);
  command.mutable_write()->set_offset(16);
  command.mutable_write()->set_size(3);
  command.mutable_write()->set_inline_("abc");
  EXPECT_EQ(Convert<WriteRequest>(command).inline_bytes, "abc");
  EXPECT_EQ(Convert<WriteRequest>(command).offset, 16u);
  command.mutable_write()->set_streamed(true);
  EXPECT_TRUE(Convert<WriteRequest>(command).streamed);
  EXPECT_FALSE(Convert<WriteRequest>(command).is_inline);
  command.mutable_read()->set_size(5);
  EXPECT_EQ(Convert<ReadRequest>(command).size, 5u);
  command.mutable_copy()->set_from(1);
  command.mutable_copy()->set_to(2);
  command.mutable_copy()->set_to_offset(64);
  EXPECT_EQ(Convert<CopyRequest>(command).to, 2u);
  EXPECT_EQ(Convert<CopyRequest>(command).to_offset, 64u);
  command.mutable_fill()->set_word(0xABCD);
  EXPECT_EQ(Convert<FillRequest>(command).word, 0xABCDu);
  command.mutable_free()->add_handles(4);
  EXPECT_EQ(Convert<FreeRequest>(command).handles, std::vector<uint64_t>{4});
  v1::Launch* const launch = command.mutable_launch();
  launch->set_program(5);
  launch->set_timeout_ms(6);
  v1::Arguments* const arguments = launch->add_arguments();
  arguments->set_kernel(1);
  arguments->add_common(7);
  arguments->add_per_core(8);
  arguments->add_per_core(9);
  arguments->set_words_per_core(2);
  arguments->add_buffers()->set_buffer(10);
  const auto request = Convert<LaunchRequest>(command);
  EXPECT_EQ(request.program, 5u);
  EXPECT_EQ(request.timeout_ms, 6u);
  EXPECT_EQ(request.arguments[0].common, std::vector<uint32_t>{7});
  EXPECT_EQ(request.arguments[0].per_core, (std::vector<uint32_t>{8, 9}));
  EXPECT_EQ(request.arguments[0].buffers[0].buffer, 10u);
  command.mutable_barrier();
  Convert<BarrierRequest>(command);
  v1::RecordTrace* record = command.mutable_record_trace();
  record->set_handle(3);
  record->set_more(true);
  record->add_launches()->set_program(8);
  record->add_launches()->add_arguments()->add_common(9);
  const auto recorded = Convert<RecordTraceRequest>(command);
  EXPECT_EQ(recorded.handle, 3u);
  EXPECT_TRUE(recorded.more);
  ASSERT_EQ(recorded.launches.size(), 2u);
  EXPECT_EQ(recorded.launches[0].program, 8u);
  EXPECT_EQ(recorded.launches[1].arguments[0].common, std::vector<uint32_t>{9});
  v1::ReplayTrace* replay = command.mutable_replay_trace();
  replay->set_trace(3);
  replay->add_patches()->set_launch(4);
  replay->mutable_patches(0)->mutable_arguments()->set_kernel(2);
  const auto replayed = Convert<ReplayTraceRequest>(command);
  EXPECT_EQ(replayed.trace, 3u);
  EXPECT_EQ(replayed.patches[0].launch, 4u);
  EXPECT_EQ(replayed.patches[0].arguments.kernel, 2u);
  command.Clear();
  Convert<UnknownRequest>(command);
}

TEST(RequestConversion, ConvertsOneElementPastALimitAndNoMore) {
  v1::ClientMessage message;
  v1::Batch& batch = *message.add_batches();
  for (int i = 0; i < 1000; ++i) {
    batch.add_commands()->mutable_barrier();
    batch.add_waits();
    batch.mutable_commands(0)->mutable_free()->add_handles(7);
  }
  message.add_batches()->add_commands()->mutable_barrier();
  SessionLimits limits;
  limits.commands_per_batch = 10;
  limits.waits_per_batch = 3;
  limits.handles = 20;
  const MessageRequest request = Convert(message, limits);
  ASSERT_EQ(request.batches.size(), 2u);
  const std::vector<Request>& commands = request.batches[0].commands;
  ASSERT_EQ(commands.size(), 1000u) << "each has its value";
  EXPECT_TRUE(std::holds_alternative<BarrierRequest>(commands[10]));
  EXPECT_TRUE(std::holds_alternative<UnknownRequest>(commands[11]));
  EXPECT_TRUE(std::holds_alternative<UnknownRequest>(commands[999]));
  EXPECT_EQ(request.batches[0].costs.size(), 1000u);
  EXPECT_EQ(request.batches[0].waits.size(), 4u);
  EXPECT_EQ(std::get<FreeRequest>(request.batches[0].commands[0]).handles.size(), 21u);
  EXPECT_EQ(request.batches[1].costs, (std::vector<uint32_t>{6 + kCommandBytes}))
      << "each has its own";
}

TEST(RequestConversion, EveryWayToAttach) {
  v1::Hello hello;
  hello.set_client_name("c");
  hello.set_weight(2);
  EXPECT_EQ(HelloFromProto(hello).attach, AttachKind::kNew);
  hello.mutable_resume();
  EXPECT_EQ(HelloFromProto(hello).attach, AttachKind::kResume);
  hello.mutable_lease();
  EXPECT_EQ(HelloFromProto(hello).attach, AttachKind::kLease);
  hello.set_lease_token("t");
  EXPECT_EQ(HelloFromProto(hello).attach, AttachKind::kLeaseToken);
  EXPECT_EQ(HelloFromProto(hello).client_name, "c");
  EXPECT_EQ(HelloFromProto(hello).weight, 2u);
  hello.clear_weight();
  EXPECT_FALSE(HelloFromProto(hello).weight.has_value());
  EXPECT_EQ(HelloFromProto(hello).priority, Priority::kNormal);
  hello.set_priority(v1::PRIORITY_HIGH);
  EXPECT_EQ(HelloFromProto(hello).priority, Priority::kHigh);
  hello.set_priority(v1::PRIORITY_LOW);
  EXPECT_EQ(HelloFromProto(hello).priority, Priority::kLow);
  EXPECT_TRUE(HelloFromProto(hello).priority_known);
  hello.set_priority(static_cast<v1::Priority>(7));
  EXPECT_FALSE(HelloFromProto(hello).priority_known);
}

TEST(ReplyConversion, MessagesHoldEverythingOfABatch) {
  SessionOutputBatch batch;
  batch.data.push_back({1, 2, 3, "payload"});
  for (int i = 0; i < 3; ++i) {
    CommandErrorReply& error = batch.errors.emplace_back();
    error.first_value = error.last_value = 4;
    error.error.message = std::string(100, 'x');
    error.error.execution_state = ExecutionState::kUnknown;
  }
  batch.progress.push_back({1, 2});
  batch.window_bytes = 99;
  batch.has_waiting = true;
  batch.waiting = {0, {{{4, "holder", "ann", 1000, 7}}, 2}, uint64_t{1} << 40};
  v1::ServerMessage message;
  ToProto(&batch, &message);
  EXPECT_EQ(message.data(0).payload(), "payload");
  EXPECT_EQ(message.errors_size(), 3);
  EXPECT_EQ(message.errors(0).last_value(), 4u);
  EXPECT_EQ(message.errors(0).execution_state(), v1::EXECUTION_STATE_UNKNOWN);
  EXPECT_EQ(message.progress(0).value(), 2u);
  EXPECT_EQ(message.window_bytes(), 99u);
  ASSERT_EQ(message.notices_size(), 1);
  const v1::LeaseWait& waiting = message.notices(0).waiting();
  ASSERT_EQ(waiting.holders_size(), 1);
  EXPECT_EQ(waiting.holders(0).client_name(), "holder");
  EXPECT_EQ(waiting.holders(0).pid(), 7u);
  EXPECT_EQ(waiting.more_holders(), 2u);
  EXPECT_EQ(message.notices(0).waiting().expected_wait_ms(), ~uint32_t{0});
  EXPECT_EQ(message.sequence(), 0u);
}

TEST(ReplyConversion, AProgressReplacesTheOneBefore) {
  ProgressReply waiting;
  waiting.left = 101;
  waiting.sessions.resize(2);
  waiting.sessions[0].session = 7;
  waiting.sessions[0].waits_for = SessionWait::kData;
  waiting.sessions[1].session = 8;
  waiting.sessions[1].waits_for = SessionWait::kOutput;
  v1::Progress progress;
  ToProto(waiting, &progress);
  EXPECT_EQ(progress.step(), v1::PROGRESS_STEP_WAITING);
  EXPECT_EQ(progress.left(), 101u);
  ASSERT_EQ(progress.sessions_size(), 2);
  EXPECT_EQ(progress.sessions(0).session(), 7u);
  EXPECT_EQ(progress.sessions(0).waits_for(), v1::SESSION_WAIT_DATA);
  EXPECT_EQ(progress.sessions(1).waits_for(), v1::SESSION_WAIT_OUTPUT);
  ToProto({ProgressStep::kDrained, 0, true}, &progress);
  EXPECT_EQ(progress.ShortDebugString(), "done: true step: PROGRESS_STEP_DRAINED");
}

TEST(ReplyConversion, APrintIsANoticeOfValidText) {
  SessionOutputBatch batch;
  KernelPrint print{2, 1, "name\xFF", 3, 4, hw::kTrisc1, "text\xFF"};
  batch.prints.push_back({{5, 6}, print, 7});
  v1::ServerMessage message;
  ToProto(&batch, &message);
  ASSERT_EQ(message.notices_size(), 1);
  EXPECT_EQ(message.notices(0).print().ShortDebugString(),
            "queue: 5 value: 6 x: 3 y: 4 processor: PROCESSOR_TRISC1 text: \"text?\" kernel: "
            "\"name?\" launch: 2 lost: 7");
}

}  // namespace
}  // namespace ttfd::rpc_conversion_test
