// libttfd's promises about sessions: connecting, resources, moving bytes, ending.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/ttfd.h"

namespace ttfd::client::client_session_test {
namespace {

using ttfd::testing::FakeOptions;
using ttfd::testing::FakeTtfdServer;

Session MustConnect(const FakeTtfdServer& server, ConnectOptions options = {}) {
  options.address = server.address();
  options.call_timeout = std::chrono::seconds(10);
  Result<Session> session = Session::Connect(options);
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return std::move(*session);
}

std::vector<std::byte> Pattern(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 31 + i / 251) & 0xFF);
  }
  return bytes;
}

TEST(SessionPort, TellsWhatTheDaemonSaidInItsWelcome) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  EXPECT_EQ(session.id(), 42u);
  EXPECT_EQ(session.daemon_version(), "fake");
  EXPECT_EQ(session.device().board, "p150");
  EXPECT_EQ(session.device().workers(), 130u);
  EXPECT_EQ(session.limits().inline_bytes, 64u << 10);
}

TEST(SessionPort, ConnectSaysWhereNobodyAnswers) {
  Result<Session> session = Session::Connect({.address = "/nonexistent/ttfd.sock"});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().code(), Code::kUnavailable);
  EXPECT_EQ(session.status().reason(), "UNREACHABLE");
  EXPECT_NE(session.status().message().find("unix:/nonexistent/ttfd.sock"), std::string::npos);
}

TEST(SessionPort, RefusedHelloComesBackWithItsReason) {
  FakeTtfdServer server(FakeOptions{.faults = {.refuse_hello = true}});
  Result<Session> session = Session::Connect({.address = server.address()});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().code(), Code::kUnimplemented);
  EXPECT_EQ(session.status().reason(), "UNSUPPORTED");
  EXPECT_EQ(session.status().error().field, "hello.max_revision");
}

TEST(SessionPort, WelcomeOfAnotherRevision_IsRefused) {
  FakeTtfdServer server(FakeOptions{.faults = {.welcome_revision = 2}});
  Result<Session> session = Session::Connect({.address = server.address()});
  ASSERT_FALSE(session.ok());
  EXPECT_NE(session.status().message().find("a Welcome of revision 2 where 1 was requested"),
            std::string::npos)
      << session.status().ToString();
}

TEST(SessionPort, BytesComeBackAsTheyWereWritten) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  for (const size_t size : {size_t{4}, size_t{64} << 10, (size_t{64} << 10) + 4, size_t{3} << 20}) {
    Result<Buffer> buffer = session.AllocateDram(size);
    ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
    const std::vector<std::byte> bytes = Pattern(size);
    ASSERT_TRUE(session.queue().Write(*buffer, 0, bytes).ok());
    std::vector<std::byte> back(size);
    const Status read = session.queue().Read(*buffer, 0, back);
    ASSERT_TRUE(read.ok()) << read.ToString();
    EXPECT_EQ(bytes, back) << size;
  }
}

TEST(SessionPort, KernelIsUploadedOnceAndFoundByItsHashAfterwards) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  const std::vector<std::byte> elf = Pattern(100'000);
  ASSERT_TRUE(session.LoadKernel(elf, "first").ok());
  const uint64_t sent = server.seen().payload_bytes;
  EXPECT_EQ(sent, elf.size());
  ASSERT_TRUE(session.LoadKernel(elf, "second").ok());
  EXPECT_EQ(server.seen().payload_bytes, sent);
}

TEST(SessionPort, KernelFileThatIsNotThereIsNamed) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  const Result<Kernel> kernel = session.LoadKernelFile("/nonexistent/kernel.elf");
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.status().code(), Code::kNotFound);
  EXPECT_NE(kernel.status().message().find("/nonexistent/kernel.elf"), std::string::npos);
}

// A folder with files k_trisc0.elf to k_trisc2.elf of different bytes; the path without what LoadKernels adds.
std::string ComputeFiles(int files) {
  const std::string folder = ::testing::TempDir() + "compute-" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  for (int i = 0; i < files; ++i) {
    std::ofstream(folder + "/k_trisc" + std::to_string(i) + ".elf") << "ELF of TRISC" << i;
  }
  return folder + "/k";
}

TEST(SessionPort, LoadKernels_LoadsOneFileForEachProcessor) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  const Result<ComputeKernel> kernels = session.LoadKernels(ComputeFiles(3));
  ASSERT_TRUE(kernels.ok()) << kernels.status().ToString();
  std::vector<std::string> loaded;
  for (const v1::Batch& batch : server.seen().batches) {
    for (const v1::Command& command : batch.commands()) {
      if (command.load_kernel().inline_().empty()) continue;
      ASSERT_EQ(command.load_kernel().handle(), kernels->kernels()[loaded.size()].handle());
      loaded.push_back(command.load_kernel().name() + ": " + command.load_kernel().inline_());
    }
  }
  EXPECT_EQ(loaded,
            (std::vector<std::string>{"k_trisc0.elf: ELF of TRISC0", "k_trisc1.elf: ELF of TRISC1",
                                      "k_trisc2.elf: ELF of TRISC2"}));
}

TEST(SessionPort, LoadKernels_NamesTheFileThatFailed) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  const std::string path = ComputeFiles(2);
  const Status missing = session.LoadKernels(path).status();
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_NE(missing.message().find(path + "_trisc2.elf"), std::string::npos) << missing.message();
  ASSERT_TRUE(session.Close().ok());
  EXPECT_TRUE(server.live_handles().empty()) << "the two that were loaded are freed";
}

TEST(SessionPort, ResourcesAreFreedWhenTheyGoAway) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  {
    Result<Buffer> a = session.AllocateDram(64);
    Result<Buffer> b = session.AllocateDram(64);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(server.live_handles().size(), 2u);
    Buffer moved = std::move(*a);
    *b = std::move(moved);  // frees what b held
  }
  ASSERT_TRUE(session.AllocateDram(64).ok());
  ASSERT_TRUE(session.Close().ok());
  EXPECT_TRUE(server.live_handles().empty());
}

TEST(SessionPort, FreeThatFollowsAFailedCreationStillHappens) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  Result<Buffer> kept = session.AllocateDram(64);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(session.AllocateDram(1 << 30).status().code(), Code::kResourceExhausted);
  *kept = Buffer();
  ASSERT_TRUE(session.AllocateDram(64).ok());
  ASSERT_TRUE(session.Close().ok());
  EXPECT_TRUE(server.live_handles().empty());
}

TEST(SessionPort, Close_SendsFinishAndWaits) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(session.queue().EnqueueBarrier().ok());
  }
  EXPECT_TRUE(session.Close().ok());
  EXPECT_EQ(session.queue().completed(), 10u);
  EXPECT_TRUE(server.seen().finished);
  EXPECT_TRUE(server.seen().ended);
  EXPECT_FALSE(server.seen().left);
  EXPECT_FALSE(session.queue().EnqueueBarrier().ok());
}

TEST(SessionPort, QueuesWaitForOneAnother) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  Result<Queue> other = session.OpenQueue({.kind = QueueKind::kTransfer});
  ASSERT_TRUE(other.ok());
  const Result<Position> first = session.queue().EnqueueBarrier();
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(other->After(std::span(&*first, 1)).ok());
  const Result<Position> second = other->EnqueueBarrier();
  ASSERT_TRUE(second.ok());
  ASSERT_TRUE(other->Wait(*second).ok());
  const v1::Batch batch = server.seen().batches.back();
  ASSERT_EQ(batch.waits_size(), 1);
  EXPECT_EQ(batch.waits(0).queue(), first->queue);
  EXPECT_EQ(batch.waits(0).value(), first->value);
}

TEST(SessionPort, ProgressIsReportedOnTheThreadThatWaits) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  uint64_t seen = 0;
  std::thread::id where;
  session.OnProgress([&](Position position) {
    seen = position.value;
    where = std::this_thread::get_id();
  });
  const Result<Position> last = session.queue().EnqueueBarrier();
  ASSERT_TRUE(session.queue().Wait(*last).ok());
  EXPECT_EQ(seen, last->value);
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(SessionPort, TransfersReportHowFarTheyAre) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  uint64_t done = 0;
  uint64_t calls = 0;
  session.OnTransfer([&](uint64_t now, uint64_t) {
    done = now;
    ++calls;
  });
  const std::vector<std::byte> bytes = Pattern(1 << 20);
  Result<Buffer> buffer = session.AllocateDram(bytes.size());
  ASSERT_TRUE(session.queue().Write(*buffer, 0, bytes).ok());
  EXPECT_EQ(done, bytes.size());
  EXPECT_EQ(calls, 16u);
}

TEST(SessionPort, BackgroundThreadMovesTheStreamWithoutACall) {
  FakeTtfdServer server;
  Session session = MustConnect(server, {.background_thread = true});
  std::atomic<uint64_t> seen = 0;
  session.OnProgress([&](Position position) { seen = position.value; });
  ASSERT_TRUE(session.queue().EnqueueBarrier().ok());
  ASSERT_TRUE(session.queue().Flush().ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (seen != 1 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(seen, 1u);
  Result<Buffer> buffer = session.AllocateDram(64);
  EXPECT_TRUE(buffer.ok());
}

TEST(SessionPort, ManyThreadsMayUseOneSession) {
  FakeTtfdServer server;
  Session session = MustConnect(server);
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&session, &failures] {
      for (int i = 0; i < 50; ++i) {
        Result<Buffer> buffer = session.AllocateDram(4096);
        const std::vector<std::byte> bytes = Pattern(4096);
        std::vector<std::byte> back(4096);
        if (!buffer.ok() || !session.queue().Write(*buffer, 0, bytes).ok() ||
            !session.queue().Read(*buffer, 0, back).ok() || back != bytes) {
          ++failures;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(failures, 0);
}

TEST(ClientTypes, FirstCoresAreWholeRowsAndARest) {
  EXPECT_EQ(FirstCores(13, 0).size(), 0u);
  EXPECT_EQ(FirstCores(13, 13), (std::vector<CoreRange>{{0, 0, 12, 0}}));
  EXPECT_EQ(FirstCores(13, 3), (std::vector<CoreRange>{{0, 0, 2, 0}}));
  EXPECT_EQ(FirstCores(13, 30), (std::vector<CoreRange>{{0, 0, 12, 1}, {0, 2, 3, 2}}));
}

}  // namespace
}  // namespace ttfd::client::client_session_test
