// A daemon, a session and the demo's kernels, for tests of libttfd against the real daemon.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/client_daemon.h"
#include "ttfd/ttfd.h"

namespace ttfd::testing {

inline std::vector<std::byte> Pattern(size_t size, uint32_t seed = 1) {
  std::vector<std::byte> bytes(size);
  uint32_t random = seed;
  for (std::byte& byte : bytes) {
    random = random * 1664525 + 1013904223;
    byte = static_cast<std::byte>(random >> 24);
  }
  return bytes;
}

class ClientFixture : public ::testing::Test {
 protected:
  void SetUp() override { session_ = std::make_unique<client::Session>(Connect("test")); }

  client::Session Connect(const std::string& name) {
    client::Result<client::Session> session =
        client::Session::Connect({.address = daemon_.address(), .client_name = name});
    EXPECT_TRUE(session.ok()) << session.status().ToString() << "\n" << daemon_.Log();
    if (!session.ok()) {
      std::abort();  // nothing of the test can go on
    }
    return std::move(*session);
  }

  // One kernel on `cores`, with `pages` of scratch in circular buffer 0.
  static client::Program MakeProgram(client::Session* session, const std::string& kernel_name,
                                     const std::vector<client::CoreRange>& cores,
                                     uint32_t pages = 0, uint32_t page_bytes = 0) {
    client::Result<client::Kernel> kernel = session->LoadKernelFile(KernelPath(kernel_name));
    EXPECT_TRUE(kernel.ok()) << kernel.status().ToString();
    if (!kernel.ok()) {
      return {};
    }
    client::ProgramBuilder builder;
    builder.AddKernel(*kernel, client::Processor::kBrisc, cores);
    if (pages != 0) {
      builder.AddCircularBuffer(0, pages, page_bytes, cores);
    }
    client::Result<client::Program> program = session->CreateProgram(builder);
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return program.ok() ? std::move(*program) : client::Program();
  }

  // c = a + b of `pages` pages on `tiles` tiles, through the whole path; compares with the host.
  static client::Status AddVectors(client::Session* session, uint32_t pages, uint32_t tiles,
                                   uint32_t seed) {
    using client::Buffer;
    using client::Status;
    constexpr uint32_t kPageBytes = 2048;
    constexpr uint32_t kScratchPages = 4;
    const size_t bytes = size_t{pages} * kPageBytes;
    std::vector<client::Result<Buffer>> buffers;
    for (int i = 0; i < 3; ++i) {
      buffers.push_back(session->AllocateDram(bytes, {.page_bytes = kPageBytes}));
      if (!buffers.back().ok()) {
        return buffers.back().status();
      }
    }
    const std::vector<std::byte> a = Pattern(bytes, seed);
    const std::vector<std::byte> b = Pattern(bytes, seed + 1);
    const client::Program program =
        MakeProgram(session, "vector_add", client::FirstCores(session->device().grid_x, tiles),
                    kScratchPages, kPageBytes);
    client::LaunchRequest launch(program);
    std::vector<uint32_t> shares;
    for (uint32_t tile = 0, first = 0; tile < tiles; ++tile) {
      const uint32_t count = pages / tiles + (tile < pages % tiles ? 1 : 0);
      shares.push_back(first);
      shares.push_back(count);
      first += count;
    }
    launch.Common(0, {0, 0, 0, kPageBytes}).PerCore(0, 2, shares);
    for (uint32_t i = 0; i < 3; ++i) {
      launch.Address(0, i, *buffers[i]);
    }
    client::Queue queue = session->queue();
    std::vector<std::byte> c(bytes);
    for (const Status& status :
         {queue.EnqueueWrite(*buffers[0], 0, a).status(),
          queue.EnqueueWrite(*buffers[1], 0, b).status(), queue.EnqueueLaunch(launch).status(),
          queue.EnqueueRead(*buffers[2], 0, c).status(), queue.Finish()}) {
      if (!status.ok()) {
        return status;
      }
    }
    for (size_t at = 0; at < bytes; at += sizeof(uint32_t)) {
      uint32_t x = 0;
      uint32_t y = 0;
      uint32_t z = 0;
      std::memcpy(&x, &a[at], sizeof x);
      std::memcpy(&y, &b[at], sizeof y);
      std::memcpy(&z, &c[at], sizeof z);
      if (z != x + y) {
        return Status(client::Code::kDataLoss, "wrong sum at byte " + std::to_string(at));
      }
    }
    return Status();
  }

  ClientDaemon daemon_;
  std::unique_ptr<client::Session> session_;
};

}  // namespace ttfd::testing
