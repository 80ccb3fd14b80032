// A folder of its own for a test, removed with it. In memory where the system has such a place: hang reports are
// synchronised to the disk, and no result may depend on how fast that is.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace ttfd {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(Parent() + "/ttfd-XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr) << path_;
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  static std::string Parent() {
    constexpr const char* kMemory = "/dev/shm";
    return access(kMemory, W_OK | X_OK) == 0 ? kMemory : ::testing::TempDir();
  }

  std::string path_;
};

}  // namespace ttfd
