// Launches through the booted firmware: what runs where, with which arguments, in which order.
#include <gtest/gtest.h>

#include <chrono>

#include "firmware/kernel_elfs.h"
#include "runtime/boot/kernel_elf.h"
#include "tests/support/booted_card.h"

namespace ttfd {
namespace {

std::shared_ptr<const KernelImage> Kernel(const char* name) {
  auto image = LoadKernel(KernelElf(name), name);
  EXPECT_TRUE(image.ok()) << image.status().ToString();
  return image.ok() ? *image : nullptr;
}

std::shared_ptr<const Program> Build(const BootedCard& card, const ProgramSpec& spec) {
  auto program = BuildProgram(7, spec, card.dispatcher->card().grid);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return program.ok() ? *program : nullptr;
}

TEST(DispatchLaunch, RunsAnEmptyKernelOnEveryTile) {
  BootedCard card("sim:board=p150");
  ProgramSpec spec;
  spec.kernels.push_back({Kernel("empty"), hw::kBrisc, {{0, 0, 11, 9}}});
  const auto program = Build(card, spec);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(card.Submit(LaunchCommand{program, {KernelArguments{}}}).ok());
  }
  const Status done = card.Finish();
  EXPECT_TRUE(done.ok()) << done.ToString();
  EXPECT_EQ(card.dispatcher->completed(), 20u);
}

}  // namespace
}  // namespace ttfd
