// A stand-in for the driver whose chip runs by itself, on a thread of its own, as a card does. Calls of any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/kmd_standin.h"

namespace ttfd {

class RunningStandin final : public kmd::Kernel, public kmd::Files, public kmd::Bus {
 public:
  explicit RunningStandin(std::unique_ptr<KmdStandin> standin);
  ~RunningStandin() override;

  kmd::System system() { return {this, this, standin_->system().memory, this}; }
  // What is done to the driver and the card in a test.
  template <typename Act>
  auto With(Act act) {
    const std::lock_guard<std::mutex> lock(mu_);
    return act(*standin_);
  }

  int Open(const std::string& path) override;
  int Close(int descriptor) override;
  int Ioctl(int descriptor, uint32_t request, void* argument) override;
  int Map(int descriptor, uint64_t offset, size_t size, kmd::Mapping* mapping) override;
  int Unmap(const kmd::Mapping& mapping) override;
  std::optional<std::string> ReadText(const std::string& path) override;
  std::vector<std::string> List(const std::string& folder) override;

  bool Load(const kmd::Mapping& mapping, uint64_t offset, uint32_t* value) override;
  bool Store(const kmd::Mapping& mapping, uint64_t offset, uint32_t value, uint32_t width) override;
  bool StoreBulk(const kmd::Mapping& mapping, uint64_t offset, ByteSpan words) override;
  void StoreFence() override;

 private:
  void Run();

  std::mutex mu_;
  const std::unique_ptr<KmdStandin> standin_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace ttfd
