#include "tests/support/running_standin.h"

#include <chrono>
#include <utility>

namespace ttfd {
namespace {

// Clocks between two calls of the host, at most.
constexpr uint64_t kSlice = 2'000;

}  // namespace

RunningStandin::RunningStandin(std::unique_ptr<KmdStandin> standin)
    : standin_(std::move(standin)), thread_([this] { Run(); }) {}

RunningStandin::~RunningStandin() {
  stop_ = true;
  thread_.join();
}

void RunningStandin::Run() {
  constexpr auto kPause = std::chrono::microseconds(50);
  while (!stop_) {
    const bool quiescent = With([](KmdStandin& standin) { return standin.LetTimePass(kSlice); });
    // Lets a host that calls have the lock.
    quiescent ? std::this_thread::sleep_for(kPause) : std::this_thread::yield();
  }
}

int RunningStandin::Open(const std::string& path) {
  return With([&](KmdStandin& standin) { return standin.Open(path); });
}
int RunningStandin::Close(int descriptor) {
  return With([&](KmdStandin& standin) { return standin.Close(descriptor); });
}
int RunningStandin::Ioctl(int descriptor, uint32_t request, void* argument) {
  return With([&](KmdStandin& standin) { return standin.Ioctl(descriptor, request, argument); });
}
int RunningStandin::Map(int descriptor, uint64_t offset, size_t size, kmd::Mapping* mapping) {
  return With([&](KmdStandin& standin) { return standin.Map(descriptor, offset, size, mapping); });
}
int RunningStandin::Unmap(const kmd::Mapping& mapping) {
  return With([&](KmdStandin& standin) { return standin.Unmap(mapping); });
}
std::optional<std::string> RunningStandin::ReadText(const std::string& path) {
  return With([&](KmdStandin& standin) { return standin.ReadText(path); });
}
std::vector<std::string> RunningStandin::List(const std::string& folder) {
  return With([&](KmdStandin& standin) { return standin.List(folder); });
}

bool RunningStandin::Load(const kmd::Mapping& mapping, uint64_t offset, uint32_t* value) {
  return With([&](KmdStandin& standin) { return standin.Load(mapping, offset, value); });
}
bool RunningStandin::Store(const kmd::Mapping& mapping, uint64_t offset, uint32_t value,
                           uint32_t width) {
  return With([&](KmdStandin& standin) { return standin.Store(mapping, offset, value, width); });
}
bool RunningStandin::StoreBulk(const kmd::Mapping& mapping, uint64_t offset, ByteSpan words) {
  return With([&](KmdStandin& standin) { return standin.StoreBulk(mapping, offset, words); });
}
void RunningStandin::StoreFence() {
  With([](KmdStandin& standin) { standin.StoreFence(); });
}

}  // namespace ttfd
