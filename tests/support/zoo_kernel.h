// The kernels of tests/fault/hang_zoo, which bring a card down. HANG_ZOO: the folder of their files.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "daemon/api/request.h"

namespace ttfd {

inline LoadKernelRequest ZooKernel(uint64_t handle, const std::string& name) {
  std::ifstream file(std::string(HANG_ZOO "/") + name + ".elf", std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  LoadKernelRequest request;
  request.handle = handle;
  request.name = name;
  request.inline_bytes.assign(std::istreambuf_iterator<char>(file), {});
  request.size = request.inline_bytes.size();
  request.is_inline = true;
  return request;
}

}  // namespace ttfd
