// Kernels built for tests, read from the build folder (DISPATCH_KERNELS), and programs of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
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

// The same with code of its own, which shares no place in L1 with other copies: `bytes` long, or a little longer than
// the original.
inline std::shared_ptr<const KernelImage> CopyOfTestKernel(const std::string& name,
                                                           size_t bytes = 0) {
  static uint32_t copies = 0;
  auto copy = std::make_shared<KernelImage>(*TestKernel(name));
  copy->bytes.resize(std::max(bytes, copy->bytes.size() + 16));
  StoreAt(copy->bytes.data() + copy->bytes.size() - sizeof(copies), ++copies);
  return copy;
}

}  // namespace ttfd
