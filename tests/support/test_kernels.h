// Kernels built for tests, read from the build folder (DISPATCH_KERNELS), and programs of them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "runtime/boot/kernel_elf.h"
#include "runtime/command/command.h"
#include "runtime/command/program.h"

namespace ttfd {

inline std::shared_ptr<const KernelImage> TestKernel(const std::string& name) {
  std::ifstream stream(std::string(DISPATCH_KERNELS) + "/" + name + ".elf", std::ios::binary);
  EXPECT_TRUE(stream.good()) << name;
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  auto image = LoadKernel({reinterpret_cast<const std::byte*>(text.data()), text.size()}, name);
  EXPECT_TRUE(image.ok()) << image.status().ToString();
  return image.ok() ? *image : nullptr;
}

inline std::shared_ptr<const Program> TestProgram(const ProgramSpec& spec, GridSize grid,
                                                  uint32_t id = 7) {
  auto program = BuildProgram(id, spec, grid);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return program.ok() ? *program : nullptr;
}

}  // namespace ttfd
