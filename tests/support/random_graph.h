// Random task graphs of firmware/kernels/task_mix.cc, compared with the host.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "ttfd/graph/graph.h"

namespace ttfd::testing {

class RandomGraph {
 public:
  static constexpr uint32_t kPageBytes = 64;
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  static constexpr uint32_t kMostRead = 4;

  // Tasks read up to four of the `near` tasks before them, and are numbered in no order.
  RandomGraph(client::Session& session, const client::Kernel& mix, uint32_t tasks,
              std::mt19937* random, graph::GraphOptions options = {}, uint32_t near = 1000)
      : session_(session), graph_(session, std::move(options)), tasks_(tasks) {
    auto values = session.AllocateDram(uint64_t{tasks} * kPageBytes, {.page_bytes = kPageBytes});
    EXPECT_TRUE(values.ok()) << values.status().ToString();
    values_ = std::move(*values);
    const graph::Function function = graph_.AddFunction("mix", mix, {.on = {}, .host = Mix});
    std::vector<uint32_t> names(tasks);
    for (uint32_t i = 0; i < tasks; ++i) names[i] = i;
    std::shuffle(names.begin(), names.end(), *random);
    std::vector<std::vector<uint32_t>> before(tasks);
    for (uint32_t i = 1; i < tasks; ++i) {
      const uint32_t first = i > near ? i - near : 0;
      for (uint64_t k = (*random)() % (kMostRead + 1); k != 0; --k) {
        before[names[i]].push_back(names[first + (*random)() % (i - first)]);
      }
    }
    for (uint32_t task = 0; task < tasks; ++task) {
      std::vector<graph::Argument> arguments = {values_, task};
      for (const uint32_t one : before[task]) arguments.emplace_back(one);
      arguments.resize(2 + kMostRead, kNone);
      graph_.Add(function, arguments);
    }
    for (uint32_t task = 0; task < tasks; ++task) {
      for (const uint32_t one : before[task]) graph_.AddEdge({one}, {task});
    }
    expected_.resize(uint64_t{tasks} * kPageBytes);
    graph::HostMemory memory;
    memory.Bind(values_, expected_);
    const client::Status status = graph_.RunOnHost(memory);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  graph::Graph& graph() { return graph_; }

  void RunAndCheck() {
    client::Queue queue = session_.queue();
    ASSERT_TRUE(queue.Fill(values_, 0, values_.size_bytes(), 0).ok());
    const client::Status status = graph_.Run(queue);
    ASSERT_TRUE(status.ok()) << status.ToString();
    std::vector<std::byte> values(values_.size_bytes());
    ASSERT_TRUE(queue.Read(values_, 0, values).ok());
    uint32_t wrong = 0;
    for (uint32_t task = 0; task < tasks_; ++task) {
      wrong += std::memcmp(&values[task * kPageBytes], &expected_[task * kPageBytes], 4) != 0;
    }
    EXPECT_EQ(wrong, 0u) << "of " << tasks_ << " values";
  }

 private:
  static uint32_t Hash(uint32_t value) {
    value ^= value >> 16;
    value *= 0x7feb352du;
    value ^= value >> 15;
    return value;
  }
  static void Mix(std::span<const graph::HostArgument> arguments) {
    const std::span<std::byte> values = arguments[0].buffer;
    const uint32_t number = arguments[1].word;
    uint32_t value = number + 1;
    for (uint32_t i = 0; i < kMostRead && arguments[2 + i].word != kNone; ++i) {
      uint32_t read = 0;
      std::memcpy(&read, &values[uint64_t{arguments[2 + i].word} * kPageBytes], sizeof(read));
      value = Hash(value + read);
    }
    std::memcpy(&values[uint64_t{number} * kPageBytes], &value, sizeof(value));
  }

  client::Session& session_;
  graph::Graph graph_;
  const uint32_t tasks_;
  client::Buffer values_;
  std::vector<std::byte> expected_;
};

}  // namespace ttfd::testing
