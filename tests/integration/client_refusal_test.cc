// Bad input through libttfd: each is a status with a sentence, and nothing else changes.
#include "tests/support/client_fixture.h"

namespace ttfd::client::client_refusal_test {
namespace {

using ttfd::testing::KernelPath;

// A refusal names the field and says what is allowed; afterwards both sessions work as before.
class ClientRefusal : public ttfd::testing::ClientFixture {
 protected:
  void ExpectRefused(const Status& status, Code code, const std::string& reason,
                     const std::string& field) {
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_EQ(status.reason(), reason) << status.ToString();
    EXPECT_EQ(status.error().field.substr(0, field.size()), field) << status.ToString();
    EXPECT_GT(status.message().size(), 10u) << status.ToString();
    EXPECT_TRUE(session_->status().ok());
    Result<Buffer> buffer = session_->AllocateDram(64);
    EXPECT_TRUE(buffer.ok()) << "after " << status.ToString() << ": " << buffer.status().ToString();
    EXPECT_TRUE(session_->queue().Fill(*buffer, 0, 64, 1).ok());
  }
};

TEST_F(ClientRefusal, OfBuffers) {
  ExpectRefused(session_->AllocateDram(0).status(), Code::kInvalidArgument, "INVALID",
                "allocate.size_bytes");
  ExpectRefused(session_->AllocateDram(4096, {.page_bytes = 0}).status(), Code::kInvalidArgument,
                "INVALID", "allocate.page_bytes");
  ExpectRefused(session_->AllocateDram(4096, {.bank = 99}).status(), Code::kInvalidArgument,
                "INVALID", "allocate.dram_bank");
  const Status too_large = session_->AllocateDram(uint64_t{1} << 50).status();
  ExpectRefused(too_large, Code::kResourceExhausted, "LIMIT", "allocate.size_bytes");
  EXPECT_FALSE(too_large.error().limit.empty());
  ExpectRefused(session_->AllocateL1(uint64_t{1} << 30).status(), Code::kResourceExhausted, "LIMIT",
                "allocate.size_bytes");
}

TEST_F(ClientRefusal, OfTransfers) {
  Result<Buffer> buffer = session_->AllocateDram(4096);
  ASSERT_TRUE(buffer.ok());
  Queue queue = session_->queue();
  const std::vector<std::byte> bytes(64);
  const std::vector<std::byte> large(1 << 20);
  std::vector<std::byte> into(64);
  ExpectRefused(queue.Write(*buffer, 3, bytes), Code::kInvalidArgument, "INVALID", "write.offset");
  ExpectRefused(queue.Write(*buffer, 4080, bytes), Code::kInvalidArgument, "INVALID", "write.");
  ExpectRefused(queue.Write(*buffer, uint64_t{1} << 62, bytes), Code::kInvalidArgument, "INVALID",
                "write.offset");
  ExpectRefused(queue.Write(*buffer, 0, large), Code::kInvalidArgument, "INVALID", "write.");
  ExpectRefused(queue.Write(*buffer, 0, {}), Code::kInvalidArgument, "INVALID", "write.size");
  ExpectRefused(queue.Read(*buffer, 4096, into), Code::kInvalidArgument, "INVALID", "read.");
  ExpectRefused(queue.Fill(*buffer, 1, 4, 0), Code::kInvalidArgument, "INVALID", "fill.");
}

TEST_F(ClientRefusal, OfHandlesThatAreUnknownOrOfAnotherSession) {
  Session other = Connect("other");
  Result<Buffer> theirs = other.AllocateDram(4096);
  Result<Buffer> more = other.AllocateDram(4096);
  ASSERT_TRUE(theirs.ok() && more.ok());
  const std::vector<std::byte> bytes(64);
  ExpectRefused(session_->queue().Write(*more, 0, bytes), Code::kNotFound, "UNKNOWN_HANDLE",
                "write.buffer");
  ExpectRefused(session_->queue().Launch(LaunchRequest(Program())), Code::kNotFound,
                "UNKNOWN_HANDLE", "launch.program");
  EXPECT_TRUE(other.queue().Write(*more, 0, bytes).ok());
}

TEST_F(ClientRefusal, OfKernels) {
  const std::vector<std::byte> garbage(1000, std::byte{0x5A});
  ExpectRefused(session_->LoadKernel(garbage, "garbage").status(), Code::kInvalidArgument,
                "KERNEL_REFUSED", "");
  ExpectRefused(session_->LoadKernel({}, "nothing").status(), Code::kInvalidArgument, "INVALID",
                "load_kernel.size");
  const std::vector<std::byte> huge(5 << 20);
  ExpectRefused(session_->LoadKernel(huge, "huge").status(), Code::kResourceExhausted, "LIMIT",
                "load_kernel.size");
}

TEST_F(ClientRefusal, OfPrograms) {
  Result<Kernel> kernel = session_->LoadKernelFile(KernelPath("empty"));
  ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
  const uint32_t x = session_->device().grid_x;
  const auto create = [&](CoreRange cores) {
    ProgramBuilder builder;
    builder.AddKernel(*kernel, Processor::kBrisc, {cores});
    return session_->CreateProgram(builder).status();
  };
  ExpectRefused(create({0, 0, x, 0}), Code::kInvalidArgument, "INVALID", "create_program.kernels");
  ExpectRefused(create({3, 3, 2, 2}), Code::kInvalidArgument, "INVALID", "create_program.kernels");
  ExpectRefused(session_->CreateProgram(ProgramBuilder()).status(), Code::kInvalidArgument,
                "INVALID", "create_program.kernels");
  ProgramBuilder twice;
  twice.AddKernel(*kernel, Processor::kBrisc, {CoreRange{}});
  twice.AddKernel(*kernel, Processor::kBrisc, {CoreRange{}});
  ExpectRefused(session_->CreateProgram(twice).status(), Code::kInvalidArgument, "INVALID", "");
  ProgramBuilder much;
  much.AddKernel(*kernel, Processor::kBrisc, {CoreRange{}});
  much.AddCircularBuffer(0, 1024, 64 << 10, {CoreRange{}});
  EXPECT_FALSE(session_->CreateProgram(much).ok());
}

TEST_F(ClientRefusal, OfArguments) {
  const Program program = MakeProgram(session_.get(), "empty", {CoreRange{0, 0, 1, 1}});
  Queue queue = session_->queue();
  LaunchRequest launch(program);
  launch.Common(0, std::vector<uint32_t>(100'000));
  ExpectRefused(queue.Launch(launch), Code::kInvalidArgument, "INVALID", "launch.arguments");
  launch = LaunchRequest(program);
  launch.PerCore(0, 2, {1, 2, 3});
  ExpectRefused(queue.Launch(launch), Code::kInvalidArgument, "INVALID", "launch.arguments");
  launch = LaunchRequest(program);
  launch.Common(7, {1});
  ExpectRefused(queue.Launch(launch), Code::kInvalidArgument, "INVALID", "launch.arguments");
  Result<Buffer> buffer = session_->AllocateDram(64);
  launch = LaunchRequest(program);
  launch.Address(0, 5, *buffer);
  ExpectRefused(queue.Launch(launch), Code::kInvalidArgument, "INVALID", "launch.arguments");
}

TEST_F(ClientRefusal, OfAnEnqueuedCommandFailsOnlyItsQueue) {
  Result<Buffer> buffer = session_->AllocateDram(4096);
  Queue queue = session_->queue();
  const std::vector<std::byte> bytes(64);
  const Result<Position> bad = queue.EnqueueWrite(*buffer, 1, bytes);
  const Result<Position> after = queue.EnqueueFill(*buffer, 0, 64, 1);
  ASSERT_TRUE(bad.ok() && after.ok());
  EXPECT_EQ(queue.Wait(*bad).code(), Code::kInvalidArgument);
  const Status aborted = queue.Wait(*after);
  EXPECT_EQ(aborted.code(), Code::kAborted) << aborted.ToString();
  EXPECT_EQ(aborted.reason(), "CAUSED_BY");
  EXPECT_EQ(aborted.error().cause, *bad);
  std::vector<std::byte> back(64, std::byte{9});
  EXPECT_EQ(queue.Read(*buffer, 0, back).code(), Code::kAborted);
  ASSERT_TRUE(queue.ClearError().ok());
  ASSERT_TRUE(queue.Read(*buffer, 0, back).ok());
  EXPECT_EQ(back, std::vector<std::byte>(64)) << "what followed the error was not executed";
}

}  // namespace
}  // namespace ttfd::client::client_refusal_test
