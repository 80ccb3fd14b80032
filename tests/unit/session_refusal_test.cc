// Every refusal: code, reason and field, with a sentence; nothing else changes.
#include <gmock/gmock.h>

#include "tests/support/core_fixture.h"

namespace ttfd::session_refusal_test {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint64_t kBuffer = 1;
constexpr uint64_t kKernel = 2;
constexpr uint64_t kProgram = 3;
constexpr uint64_t kBankBuffer = 4;
constexpr uint64_t kBufferBytes = 4096;

struct Case {
  const char* what;
  Request request;
  StatusCode code;
  const char* reason;
  const char* field;
};

template <typename T, typename Change>
Request With(T request, Change change) {
  change(request);
  return request;
}

LaunchRequest LaunchWith(ArgumentsRequest arguments) {
  LaunchRequest launch = Launch(kProgram);
  launch.arguments.push_back(std::move(arguments));
  return launch;
}

class SessionRefusal : public CoreTest {
 protected:
  void SetUp() override {
    options.limits.inline_bytes = 8192;
    options.limits.transfer_bytes = 1 << 20;
    options.limits.dram_bytes = 2 << 20;
    options.limits.l1_bytes = 64 << 10;
    options.limits.kernel_elf_bytes = 4096;
    Start();
    client = Connect();
    AllocateRequest bank = Allocate(kBankBuffer, 1024);
    bank.place = BufferPlace::kDramBank;
    client->Send(Allocate(kBuffer, kBufferBytes), InlineKernel(kKernel),
                 OneKernelProgram(kProgram, kKernel, {0, 0, 1, 0}), bank);
    client->Run();
    ASSERT_THAT(client->errors, IsEmpty());
  }

  // Each case on a queue that is clear, one after the other.
  void Expect(const std::vector<Case>& cases) {
    const uint64_t used = Memory(MemoryKind::kDram).used_bytes;
    const uint64_t handles = core->admin().ListSessions()[0].handles;
    for (const Case& one : cases) {
      BatchRequest batch;
      batch.clears_error = last_;
      batch.commands.push_back(one.request);
      batch.commands.push_back(BarrierRequest{});
      last_ = client->SendBatch(batch);
      client->Run();
      const ErrorReply error = client->ErrorOf(last_);
      EXPECT_EQ(error.code, one.code) << one.what << ": " << error.message;
      EXPECT_EQ(error.reason, one.reason) << one.what << ": " << error.message;
      EXPECT_EQ(error.field, one.field) << one.what << ": " << error.message;
      EXPECT_THAT(error.message, Not(IsEmpty())) << one.what;
      EXPECT_EQ(client->ErrorOf(last_ + 1).reason, "CAUSED_BY")
          << one.what << ": the queue has failed";
      if (error.code == StatusCode::kResourceExhausted) {
        EXPECT_FALSE(error.limit.empty()) << one.what;
        EXPECT_GT(error.limit_value, 0u) << one.what;
      }
      EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, used) << one.what << ": nothing was taken";
    }
    BatchRequest clear;
    clear.clears_error = last_;
    client->SendBatch(clear);
    EXPECT_EQ(core->admin().ListSessions()[0].handles, handles) << "nothing was made";
  }

  std::unique_ptr<TestClient> client;
  uint64_t last_ = 0;
};

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;
constexpr StatusCode kExhausted = StatusCode::kResourceExhausted;
constexpr StatusCode kUnimplemented = StatusCode::kUnimplemented;

TEST_F(SessionRefusal, AllocationsOnCores) {
  AllocateRequest l1 = Allocate(50, 4096);
  l1.place = BufferPlace::kL1Interleaved;
  l1.cores = {{0, 0, 1, 0}};
  AllocateRequest sharded = l1;
  sharded.place = BufferPlace::kL1Sharded;
  sharded.row_pages = sharded.shard_row_pages = 2;
  sharded.shard_rows = 1;
  Expect({
      {"leaves the grid",
       With(l1,
            [](auto& r) {
              r.cores = {{0, 0, 4, 0}};
            }),
       kInvalid, "INVALID", "allocate.l1.cores"},
      {"overlap",
       With(l1,
            [](auto& r) {
              r.cores = {{0, 0, 1, 1}, {1, 1, 2, 1}};
            }),
       kInvalid, "INVALID", "allocate.l1.cores"},
      {"no cores", With(sharded, [](auto& r) { r.cores.clear(); }), kInvalid, "INVALID",
       "allocate.l1_sharded.cores"},
      {"no rows", With(sharded, [](auto& r) { r.row_pages = 0; }), kInvalid, "INVALID",
       "allocate.l1_sharded.row_pages"},
      {"flat shards", With(sharded, [](auto& r) { r.shard_rows = 0; }), kInvalid, "INVALID",
       "allocate.l1_sharded.shard_rows"},
      {"empty shards", With(sharded, [](auto& r) { r.shard_row_pages = 0; }), kInvalid, "INVALID",
       "allocate.l1_sharded.shard_row_pages"},
      {"shards wider than a row", With(sharded, [](auto& r) { r.shard_row_pages = 3; }), kInvalid,
       "INVALID", "allocate.l1_sharded.shard_row_pages"},
      {"more shards than cores", With(sharded, [](auto& r) { r.shard_row_pages = 1; }), kInvalid,
       "INVALID", "allocate.l1_sharded.cores"},
      {"absurd shards",
       With(sharded,
            [](auto& r) {
              r.row_pages = r.shard_rows = r.shard_row_pages = 0xFFFFFFFF;
              r.page_bytes = 0xFFFFFFC0;
            }),
       kExhausted, "LIMIT", "allocate.size_bytes"},
  });
}

TEST_F(SessionRefusal, Allocations) {
  const AllocateRequest good = Allocate(50, 4096);
  Expect({
      {"zero bytes", With(good, [](auto& r) { r.size_bytes = 0; }), kInvalid, "INVALID",
       "allocate.size_bytes"},
      {"zero page", With(good, [](auto& r) { r.page_bytes = 0; }), kInvalid, "INVALID",
       "allocate.page_bytes"},
      {"too large a page", With(good, [](auto& r) { r.page_bytes = 0xFFFFFFFF; }), kInvalid,
       "INVALID", "allocate.page_bytes"},
      {"handle 0", With(good, [](auto& r) { r.handle = 0; }), kInvalid, "INVALID",
       "allocate.handle"},
      {"huge handle", With(good, [](auto& r) { r.handle = uint64_t{1} << 53; }), kInvalid,
       "INVALID", "allocate.handle"},
      {"taken handle", With(good, [](auto& r) { r.handle = kKernel; }), StatusCode::kAlreadyExists,
       "INVALID", "allocate.handle"},
      {"no place", With(good, [](auto& r) { r.place = BufferPlace::kUnset; }), kUnimplemented,
       "UNSUPPORTED", "allocate.place"},
      {"cores of DRAM",
       With(good,
            [](auto& r) {
              r.cores = {{0, 0, 0, 0}};
            }),
       kInvalid, "INVALID", "allocate.dram.cores"},
      {"no such bank",
       With(good,
            [](auto& r) {
              r.place = BufferPlace::kDramBank;
              r.dram_bank = 4;
            }),
       kInvalid, "INVALID", "allocate.dram_bank"},
      {"over the session's DRAM", With(good, [](auto& r) { r.size_bytes = 3 << 20; }), kExhausted,
       "LIMIT", "allocate.size_bytes"},
      {"over the session's L1",
       With(good,
            [](auto& r) {
              r.place = BufferPlace::kL1Interleaved;
              r.size_bytes = 3 << 20;
            }),
       kExhausted, "LIMIT", "allocate.size_bytes"},
      {"absurd size", With(good, [](auto& r) { r.size_bytes = (uint64_t{1} << 53) - 1; }),
       kExhausted, "LIMIT", "allocate.size_bytes"},
  });
}

TEST_F(SessionRefusal, Transfers) {
  const std::string bytes = Pattern(64);
  Expect({
      {"unknown handle", InlineWrite(77, 0, bytes), StatusCode::kNotFound, "UNKNOWN_HANDLE",
       "write.buffer"},
      {"wrong kind", InlineWrite(kKernel, 0, bytes), kInvalid, "INVALID", "write.buffer"},
      {"odd offset", InlineWrite(kBuffer, 8, bytes), kInvalid, "INVALID", "write.offset"},
      {"odd size", InlineWrite(kBuffer, 0, Pattern(60)), kInvalid, "INVALID", "write.size"},
      {"zero size", InlineWrite(kBuffer, 0, ""), kInvalid, "INVALID", "write.size"},
      {"beyond the end", InlineWrite(kBuffer, kBufferBytes - 32, bytes), kInvalid, "INVALID",
       "write.size"},
      {"offset beyond the end", InlineWrite(kBuffer, kBufferBytes + 16, bytes), kInvalid, "INVALID",
       "write.offset"},
      {"offset that wraps", InlineWrite(kBuffer, ~uint64_t{15}, bytes), kInvalid, "INVALID",
       "write.offset"},
      {"size is not the bytes", With(InlineWrite(kBuffer, 0, bytes), [](auto& r) { r.size = 128; }),
       kInvalid, "INVALID", "write.inline"},
      {"too much inline",
       With(InlineWrite(kBuffer, 0, bytes),
            [](auto& r) {
              r.inline_bytes = Pattern(16384);
              r.size = 4096;
            }),
       kExhausted, "LIMIT", "write.inline"},
      {"no source", With(InlineWrite(kBuffer, 0, bytes), [](auto& r) { r.is_inline = false; }),
       kUnimplemented, "UNSUPPORTED", "write.from"},
      {"streamed, to false",
       With(InlineWrite(kBuffer, 0, bytes),
            [](auto& r) {
              r.is_inline = false;
              r.unstreamed = true;
            }),
       kInvalid, "INVALID", "write.streamed"},
      {"too long", StreamedWrite(kBuffer, 0, 2 << 20), kExhausted, "LIMIT", "write.size"},
      {"read of nothing", Read(kBuffer, 0, 0), kInvalid, "INVALID", "read.size"},
      {"read beyond the end", Read(kBuffer, 1, kBufferBytes), kInvalid, "INVALID", "read.size"},
      {"read of an unknown handle", Read(78, 0, 1), StatusCode::kNotFound, "UNKNOWN_HANDLE",
       "read.buffer"},
      {"odd fill", FillRequest{kBuffer, 4, 64, 0}, kInvalid, "INVALID", "fill.offset"},
      {"fill of a program", FillRequest{kProgram, 0, 64, 0}, kInvalid, "INVALID", "fill.buffer"},
      {"odd copy", CopyRequest{kBuffer, 8, kBankBuffer, 0, 64}, kInvalid, "INVALID",
       "copy.from_offset"},
      {"copy beyond the end", CopyRequest{kBuffer, 0, kBankBuffer, 0, 2048}, kInvalid, "INVALID",
       "copy.size"},
      {"overlapping copy", CopyRequest{kBuffer, 0, kBuffer, 64, 128}, kInvalid, "INVALID",
       "copy.to_offset"},
  });
}

TEST_F(SessionRefusal, TransfersOfPagesThatAreNoMultipleOfAUnit) {
  client->Send(Allocate(70, 1000, 100), Allocate(71, 1000, 64));
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  last_ = client->Progress();
  const auto refused = [this](const Request& request, const char* field) {
    BatchRequest batch;
    batch.clears_error = last_;
    batch.commands.push_back(request);
    last_ = client->SendBatch(batch);
    client->Run();
    EXPECT_EQ(client->ErrorOf(last_).reason, "INVALID");
    EXPECT_EQ(client->ErrorOf(last_).field, field) << client->ErrorOf(last_).message;
  };
  refused(InlineWrite(70, 112, Pattern(16)), "write.offset");
  refused(InlineWrite(70, 100, Pattern(108)), "write.size");
  refused(FillRequest{70, 0, 112, 0}, "fill.size");
  refused(CopyRequest{70, 0, 71, 0, 400}, "copy.to_offset");
  refused(CopyRequest{70, 0, 70, 216, 116}, "copy.to_offset");
  BatchRequest batch;
  batch.clears_error = last_;
  batch.commands = {InlineWrite(70, 116, Pattern(84)), FillRequest{70, 300, 700, 7},
                    CopyRequest{70, 116, 71, 64, 64}, CopyRequest{70, 100, 70, 400, 300}};
  client->SendBatch(batch);
  client->Run();
  EXPECT_EQ(client->ErrorOf(last_ + 4).reason, "");
}

TEST_F(SessionRefusal, Kernels) {
  LoadKernelRequest good = InlineKernel(60);
  Expect({
      {"not an ELF", InlineKernel(60, "nonsense"), kInvalid, "KERNEL_REFUSED", "load_kernel"},
      {"half a hash", With(good, [](auto& r) { r.sha256 = "abc"; }), kInvalid, "INVALID",
       "load_kernel.sha256"},
      {"another's hash", With(good, [](auto& r) { r.sha256 = std::string(32, 'x'); }), kInvalid,
       "KERNEL_REFUSED", "load_kernel"},
      {"streamed, to false", With(good, [](auto& r) { r.is_inline = false, r.unstreamed = true; }),
       kInvalid, "INVALID", "load_kernel.streamed"},
      {"neither bytes nor hash", With(good, [](auto& r) { r.is_inline = false; }), kInvalid,
       "INVALID", "load_kernel.from"},
      {"not cached",
       With(good,
            [](auto& r) {
              r.is_inline = false;
              r.sha256 = std::string(32, 'x');
            }),
       StatusCode::kNotFound, "KERNEL_NOT_CACHED", "load_kernel.sha256"},
      {"too large",
       With(good,
            [](auto& r) {
              r.is_inline = false;
              r.streamed = true;
              r.size = 1 << 20;
            }),
       kExhausted, "LIMIT", "load_kernel.size"},
      {"of no bytes",
       With(good,
            [](auto& r) {
              r.inline_bytes = "";
              r.size = 0;
            }),
       kInvalid, "INVALID", "load_kernel.size"},
      {"a long name", With(good, [](auto& r) { r.name = std::string(1000, 'n'); }), kInvalid,
       "INVALID", "load_kernel.name"},
      {"a name with a newline", With(good, [](auto& r) { r.name = "k\ninfo audit {}"; }), kInvalid,
       "INVALID", "load_kernel.name"},
      {"a name that is not UTF-8", With(good, [](auto& r) { r.name = "k\x80"; }), kInvalid,
       "INVALID", "load_kernel.name"},
      {"taken handle", InlineKernel(kBuffer), StatusCode::kAlreadyExists, "INVALID",
       "load_kernel.handle"},
  });
}

TEST_F(SessionRefusal, Programs) {
  const CreateProgramRequest good = OneKernelProgram(70, kKernel);
  const auto cores = [&good](CoreRange range) {
    return With(good, [range](auto& r) { r.kernels[0].cores = {range}; });
  };
  Expect({
      {"leaves the grid", cores({0, 0, 4, 0}), kInvalid, "INVALID",
       "create_program.kernels[0].cores"},
      {"backwards", cores({2, 0, 1, 0}), kInvalid, "INVALID", "create_program.kernels[0].cores"},
      {"no cores", With(good, [](auto& r) { r.kernels[0].cores.clear(); }), kInvalid, "INVALID",
       "create_program.kernels[0].cores"},
      {"no kernels", With(good, [](auto& r) { r.kernels.clear(); }), kInvalid, "INVALID",
       "create_program.kernels"},
      {"unknown processor", With(good, [](auto& r) { r.kernels[0].processor_known = false; }),
       kUnimplemented, "UNSUPPORTED", "create_program.kernels[0].processor"},
      {"built for another processor", With(good, [](auto& r) { r.kernels[0].hart = hw::kNcrisc; }),
       kInvalid, "KERNEL_REFUSED", "create_program.kernels[0].processor"},
      {"unknown kernel", With(good, [](auto& r) { r.kernels[0].kernel = 79; }),
       StatusCode::kNotFound, "UNKNOWN_HANDLE", "create_program.kernels.kernel"},
      {"two kernels on one hart", With(good, [](auto& r) { r.kernels.push_back(r.kernels[0]); }),
       kInvalid, "INVALID", "create_program"},
      {"a semaphore outside the grid",
       With(good,
            [](auto& r) {
              r.semaphores.push_back({0, 0, {{0, 10, 0, 10}}});
            }),
       kInvalid, "INVALID", "create_program.semaphores[0].cores"},
      {"circular buffers that do not fit",
       With(good,
            [](auto& r) {
              r.circular_buffers.push_back({0, 1024, 1024, {{0, 0, 0, 0}}});
            }),
       kInvalid, "INVALID", "create_program"},
      {"an unknown format",
       With(good,
            [](auto& r) {
              r.circular_buffers.push_back({0, 1, 2048, {{0, 0, 0, 0}}, 2});
            }),
       kUnimplemented, "UNSUPPORTED", "create_program"},
      {"a page that is no tile of its format",
       With(good,
            [](auto& r) {
              r.circular_buffers.push_back({0, 1, 1024, {{0, 0, 0, 0}}, 6});
            }),
       kInvalid, "INVALID", "create_program"},
  });
}

// Buffers of the cases: on all workers, on the first three, and, sharded, on two of them.
TEST_F(SessionRefusal, CircularBuffersOnBuffers) {
  constexpr uint64_t kAll = 40, kThree = 41, kShards = 42;
  AllocateRequest all = Allocate(kAll, 40 * 2 * 1024);
  all.place = BufferPlace::kL1Interleaved;
  AllocateRequest three = Allocate(kThree, 3 * 1024);
  three.place = BufferPlace::kL1Interleaved;
  AllocateRequest shards = Allocate(kShards, 4 * 1024);
  shards.place = BufferPlace::kL1Sharded;
  shards.cores = {{1, 1, 1, 1}, {3, 2, 3, 2}, {0, 3, 0, 3}};
  shards.row_pages = 1, shards.shard_rows = 2, shards.shard_row_pages = 1;
  client->Send(all, three, shards);
  client->Run();
  ASSERT_THAT(client->errors, IsEmpty());

  CreateProgramRequest good = OneKernelProgram(70, kKernel);
  const auto on = [&good](uint64_t buffer, uint32_t pages, std::vector<CoreRange> cores) {
    CreateProgramRequest program = good;
    program.circular_buffers = {{0, pages, 1024, std::move(cores), 0, buffer}};
    return program;
  };
  constexpr const char* kField = "create_program.circular_buffers[0].buffer";
  Expect({
      {"unknown", on(90, 1, {{0, 0, 0, 0}}), StatusCode::kNotFound, "UNKNOWN_HANDLE", kField},
      {"handle 0", on(0, 1, {{0, 0, 0, 0}}), StatusCode::kNotFound, "UNKNOWN_HANDLE", kField},
      {"a kernel", on(kKernel, 1, {{0, 0, 0, 0}}), kInvalid, "INVALID", kField},
      {"in DRAM", on(kBuffer, 1, {{0, 0, 0, 0}}), kInvalid, "INVALID", kField},
      {"in a DRAM bank", on(kBankBuffer, 1, {{0, 0, 0, 0}}), kInvalid, "INVALID", kField},
      {"larger than a core's part", on(kAll, 3, {{0, 0, 3, 9}}), kInvalid, "INVALID", kField},
      {"larger than a shard", on(kShards, 3, {{1, 1, 1, 1}}), kInvalid, "INVALID", kField},
      {"more than 2^32 bytes", on(kAll, 1 << 22, {{0, 0, 0, 0}}), kInvalid, "INVALID", kField},
      {"a worker without a page", on(kThree, 1, {{0, 0, 3, 0}}), kInvalid, "INVALID", kField},
      {"a core without a shard", on(kShards, 1, {{1, 1, 1, 1}, {0, 1, 0, 1}}), kInvalid, "INVALID",
       kField},
      {"a core behind the last shard", on(kShards, 1, {{0, 3, 0, 3}}), kInvalid, "INVALID", kField},
      {"a page that is no multiple of 16",
       With(on(kAll, 1, {{0, 0, 0, 0}}), [](auto& r) { r.circular_buffers[0].page_bytes = 24; }),
       kInvalid, "INVALID", "create_program"},
      {"cores outside the grid", on(kAll, 1, {{4, 0, 4, 0}}), kInvalid, "INVALID",
       "create_program.circular_buffers[0].cores"},
  });
  BatchRequest clear;
  clear.clears_error = last_;
  clear.commands = {
      With(on(kAll, 2, {{0, 0, 3, 9}}), [](auto& r) { r.handle = 80; }),
      With(on(kThree, 1, {{0, 0, 2, 0}}), [](auto& r) { r.handle = 81; }),
      With(on(kShards, 2, {{1, 1, 1, 1}, {3, 2, 3, 2}}), [](auto& r) { r.handle = 82; })};
  const uint64_t value = client->SendBatch(clear);
  client->Run();
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(client->ErrorOf(value + i).message, "") << i;
}

TEST_F(SessionRefusal, CircularBuffersOnMoreBuffersThanAProgramMayUse) {
  CreateProgramRequest program = OneKernelProgram(70, kKernel);
  for (uint32_t i = 0; i <= abi::kMaxCircularBuffers; ++i) {
    AllocateRequest buffer = Allocate(100 + i, 40 * 64, 64);  // a page a worker
    buffer.place = BufferPlace::kL1Interleaved;
    client->Send(buffer);
    const uint32_t index = i % abi::kMaxCircularBuffers;
    const uint32_t row = i / abi::kMaxCircularBuffers;
    program.circular_buffers.push_back({index, 1, 64, {{0, row, 0, row}}, 0, 100 + i});
  }
  client->Run();
  ASSERT_THAT(client->errors, IsEmpty());
  Expect(
      {{"one more", program, kInvalid, "INVALID", "create_program.circular_buffers[32].buffer"}});
  program.circular_buffers.back().buffer = 100;  // the first one again, which is no other buffer
  const uint64_t value = client->Send(program);
  client->Run();
  EXPECT_EQ(client->ErrorOf(value).message, "");
}

TEST_F(SessionRefusal, Launches) {
  ArgumentsRequest good;
  good.common = {1, 2, 3};
  Expect({
      {"unknown program", Launch(88), StatusCode::kNotFound, "UNKNOWN_HANDLE", "launch.program"},
      {"a buffer is no program", Launch(kBuffer), kInvalid, "INVALID", "launch.program"},
      {"no words", LaunchWith({}), kInvalid, "INVALID", "launch.arguments[0]"},
      {"no such kernel", LaunchWith({1, {1, 2, 3}, {}, 0, {}}), kInvalid, "INVALID",
       "launch.arguments[0].kernel"},
      {"too many words", LaunchWith([&] {
         auto a = good;
         a.common.resize(257);
         return a;
       }()),
       kInvalid, "INVALID", "launch.arguments[0].common"},
      {"too many words per core", LaunchWith([&] {
         auto a = good;
         a.words_per_core = 257;
         return a;
       }()),
       kInvalid, "INVALID", "launch.arguments[0].words_per_core"},
      {"words for one core of two", LaunchWith([&] {
         auto a = good;
         a.words_per_core = 4;
         a.per_core.resize(4);
         return a;
       }()),
       kInvalid, "INVALID", "launch.arguments[0].per_core"},
      {"an address into no word", LaunchWith([&] {
         auto a = good;
         a.buffers.push_back({3, kBuffer, 0});
         return a;
       }()),
       kInvalid, "INVALID", "launch.arguments[0].buffers.word"},
      {"an address inside an interleaved buffer", LaunchWith([&] {
         auto a = good;
         a.buffers.push_back({0, kBuffer, 64});
         return a;
       }()),
       kInvalid, "INVALID", "launch.arguments[0].buffers.offset"},
      {"an address behind a buffer", LaunchWith([&] {
         auto a = good;
         a.buffers.push_back({0, kBankBuffer, 1024});
         return a;
       }()),
       kInvalid, "INVALID", "launch.arguments[0].buffers.offset"},
      {"an unknown buffer", LaunchWith([&] {
         auto a = good;
         a.buffers.push_back({0, 90, 0});
         return a;
       }()),
       StatusCode::kNotFound, "UNKNOWN_HANDLE", "launch.arguments.buffers.buffer"},
      {"arguments twice",
       With(LaunchWith(good), [](auto& r) { r.arguments.push_back(r.arguments[0]); }), kInvalid,
       "INVALID", "launch.arguments[1].kernel"},
  });
}

TEST_F(SessionRefusal, TheRest) {
  std::vector<Case> cases = {
      {"free of the unknown", Free({91}), StatusCode::kNotFound, "UNKNOWN_HANDLE", "free.handles"},
      {"free of nothing", Free({}), kInvalid, "INVALID", "free.handles"},
      {"free twice", Free({kBuffer, kBuffer}), kInvalid, "INVALID", "free.handles"},
      {"nothing known", UnknownRequest{}, kUnimplemented, "UNSUPPORTED", "command.op"},
  };
  Expect(cases);
}

TEST_F(SessionRefusal, OpenQueue_RefusalsNameTheField) {
  struct QueueCase {
    const char* what;
    OpenQueueRequest request;
    StatusCode code;
    const char* field;
  };
  const QueueCase cases[] = {
      {"queue 0 again", {0, 0, 0, {}}, StatusCode::kAlreadyExists, "open_queue.queue"},
      {"workers the card does not have", {3, 0, 0, {{0, 0, 4, 0}}}, kInvalid, "open_queue.workers"},
      {"a worker twice", {3, 0, 0, {{0, 0, 1, 1}, {1, 1, 2, 2}}}, kInvalid, "open_queue.workers"},
      {"an unknown kind", {4, 0, 3, {}}, kUnimplemented, "open_queue.kind"},
      {"another device", {5, 1, 0, {}}, StatusCode::kNotFound, "open_queue.device"},
  };
  for (const QueueCase& one : cases) {
    client->errors.clear();
    client->OpenQueue(one.request);
    client->Take();
    const ErrorReply error = client->ErrorOf(0, one.request.queue);
    EXPECT_EQ(error.code, one.code) << one.what << ": " << error.message;
    EXPECT_EQ(error.field, one.field) << one.what;
    EXPECT_EQ(error.execution_state, ExecutionState::kNotStarted);
  }
}

TEST_F(SessionRefusal, AHandleOfAnotherSessionIsUnknown) {
  auto other = Connect(1001);
  other->Send(Read(kBuffer, 0, 16));
  other->Run();
  EXPECT_EQ(other->ErrorOf(1).reason, "UNKNOWN_HANDLE");
  client->Send(Read(kBuffer, 0, 16));
  client->Run();
  EXPECT_EQ(client->Data(5).size(), 16u) << "the owner does not notice";
}

TEST_F(SessionRefusal, OutOfMemoryNamesTheMemoryAndItsUse) {
  // The limits of a session are not reached; the card's are.
  auto one = Connect();
  one->Send(Allocate(1, 2 << 20));
  auto two = Connect();
  two->Send(Allocate(1, 2 << 20));
  two->Run();
  const ErrorReply error = two->ErrorOf(1);
  EXPECT_EQ(error.code, kExhausted);
  EXPECT_EQ(error.limit, "device_dram_bytes");
  EXPECT_EQ(error.limit_value, 4u << 20);
  EXPECT_GE(error.limit_used, 2u << 20);
}

TEST_F(SessionRefusal, QueuesAndHandlesHaveLimits) {
  options.limits.queues = 2;
  options.limits.handles = 3;
  client.reset();
  Start();
  client = Connect();
  client->OpenQueue(ComputeQueue(1));
  client->OpenQueue(ComputeQueue(2));
  client->Run();
  EXPECT_EQ(client->ErrorOf(0, 2).limit, "queues");
  EXPECT_EQ(client->ErrorOf(0, 2).limit_used, 2u);
  client->SendOn(2, {}, BarrierRequest{});
  client->Run();
  EXPECT_EQ(client->ErrorOf(1, 2).cause, (QueuePosition{2, 0})) << "the queue was not opened";
  client->SendOn(1, {}, Allocate(1, 64, 64), Allocate(2, 64, 64), Allocate(3, 64, 64),
                 Allocate(4, 64, 64));
  client->Run();
  EXPECT_EQ(client->ErrorOf(4, 1).limit, "handles");
}

TEST_F(SessionRefusal, BatchesHaveLimits) {
  BatchRequest waits;
  waits.waits.assign(options.limits.waits_per_batch + 1, {0, 1});
  waits.commands.assign(2, BarrierRequest{});
  const uint64_t first = client->SendBatch(waits);
  client->Run();
  EXPECT_EQ(client->ErrorOf(first).limit, "waits_per_batch");
  EXPECT_EQ(client->ErrorOf(first + 1).reason, "CAUSED_BY");

  BatchRequest commands;
  commands.clears_error = first;
  commands.commands.assign(options.limits.commands_per_batch + 1, BarrierRequest{});
  const uint64_t second = client->SendBatch(commands);
  client->Run();
  EXPECT_EQ(client->ErrorOf(second).limit, "commands_per_batch");
  EXPECT_EQ(client->Progress(), second + options.limits.commands_per_batch);
}

TEST_F(SessionRefusal, AWaitForWhatWasNotSentIsRefused) {
  client->SendOn(0, {{0, 100}}, BarrierRequest{});
  client->Run();
  EXPECT_EQ(client->ErrorOf(5).code, kInvalid);
  EXPECT_EQ(client->ErrorOf(5).field, "batch.waits");
  BatchRequest own;
  own.clears_error = 5;
  own.waits = {{0, 6}};  // itself
  own.commands.push_back(BarrierRequest{});
  client->SendBatch(own);
  client->Run();
  EXPECT_EQ(client->ErrorOf(6).field, "batch.waits");
}

}  // namespace
}  // namespace ttfd::session_refusal_test
