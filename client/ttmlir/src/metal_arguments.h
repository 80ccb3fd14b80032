// The arguments of a kernel of a TTMetal program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/ttmlir/src/metal_launch.h"

namespace ttfd::ttmlir {

// The arguments of one kernel, in the words of the launch and in the text before its source.
class KernelArguments {
 public:
  KernelArguments(const Record& command, const MetalState& state, LaunchStep* launch,
                  const std::vector<client::CoreRange>& cores)
      : command_(command), state_(state), launch_(*launch), cores_(cores) {}

  // In this order, which is TT-Metalium's for the indices of semaphores. Problems of one leave those after it
  // unplanned.
  void AddCompileTime(const List& arguments);
  void AddCommon(const List& arguments);
  void AddRuntime(const List& arguments);

  const std::string& problem() const { return problem_; }
  std::vector<ArgumentWord> TakeWords() { return std::move(words_); }
  std::string Text() const;

 private:
  ArgumentWord WordOf(std::string_view kind, const Record& argument);
  ArgumentWord Buffer(const Record& argument);
  ArgumentWord Semaphore(int64_t initial);
  void AddWords(const List& arguments);
  void AddAccessor(const Record& argument);
  void AddNumber(uint32_t number);

  const Record& command_;
  const MetalState& state_;
  LaunchStep& launch_;
  const std::vector<client::CoreRange>& cores_;
  std::vector<ArgumentWord> words_;
  size_t first_common_ = 0;
  size_t first_runtime_ = 0;
  size_t numbers_ = 0;  // of compile-time arguments
  std::string text_;    // of compile-time arguments
  std::string names_;   // of those that have one
  std::string problem_;
};

}  // namespace ttfd::ttmlir
