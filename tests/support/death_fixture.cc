// See death_fixture.h.
#include "tests/support/death_fixture.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/random.h"
#include "ttfd/admin.h"

extern char** environ;

namespace ttfd::testing {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr auto kReconnectFor = std::chrono::seconds(20);

}  // namespace

ClientProcess::ClientProcess(const std::string& address, uint64_t seed, uint64_t steps,
                             bool lease) {
  std::vector<std::string> words = {TTFD_RANDOM_CLIENT, address, std::to_string(seed),
                                    std::to_string(steps)};
  if (lease) words.push_back("lease");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  EXPECT_EQ(posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ), 0);
}

void ClientProcess::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int ClientProcess::Ended() {
  int status = 0;
  if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
    pid_ = -1;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return code_;
}

Verifiers::Verifiers(const std::string& address, int count,
                     std::chrono::milliseconds reconnect_timeout) {
  for (int i = 0; i < count; ++i) {
    all_.push_back(std::make_unique<One>());
    One* const one = all_.back().get();
    one->thread = std::thread([this, one, address, reconnect_timeout, i] {
      RandomClient client(
          {.address = address, .client_name = "verifier", .reconnect_timeout = reconnect_timeout},
          static_cast<uint64_t>(i) + 1000);
      while (!stop_) {
        const client::Status status = client.Step();
        if (!status.ok()) {
          ADD_FAILURE() << "verifier " << i << ": " << status.ToString();
          return;
        }
        one->steps = client.steps();
        one->losses = client.losses();
      }
      const client::Status closed = client.Close();
      EXPECT_TRUE(closed.ok()) << closed.ToString();
    });
  }
}

void Verifiers::Stop() {
  stop_ = true;
  for (const auto& one : all_) {
    if (one->thread.joinable()) one->thread.join();
  }
}

bool Verifiers::AllGoOn(uint64_t steps) const {
  std::vector<uint64_t> before;
  for (const auto& one : all_) before.push_back(one->steps);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (size_t i = 0; i < all_.size(); ++i) {
    while (all_[i]->steps < before[i] + steps) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return true;
}

uint64_t Verifiers::steps() const {
  uint64_t sum = 0;
  for (const auto& one : all_) sum += one->steps;
  return sum;
}

uint64_t Verifiers::losses() const {
  uint64_t sum = 0;
  for (const auto& one : all_) sum += one->losses;
  return sum;
}

std::ostream& operator<<(std::ostream& out, const Leftovers& left) {
  return out << left.sessions << " sessions, " << left.memory_bytes << " bytes, " << left.leases
             << " leases, " << left.in_flight << " commands on the card";
}

Leftovers WaitForNothingLeft(const std::string& address) {
  client::Admin admin = client::Admin::Connect(address);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  Leftovers left;
  do {
    const auto status = admin.GetStatus();
    const auto leases = admin.ListLeases();
    left = Leftovers{.sessions = ~uint64_t{0}};
    if (status.ok() && leases.ok()) {
      left = {.sessions = status->sessions, .leases = leases->size()};
      for (const auto& device : status->devices) {
        for (const auto& memory : device.memory) left.memory_bytes += memory.used_bytes;
        for (const auto& queue : device.hardware_queues) left.in_flight += queue.in_flight;
      }
    }
    if (left == Leftovers{}) return left;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (std::chrono::steady_clock::now() < deadline);
  return left;
}

uint64_t OpenFiles(pid_t pid) {
  uint64_t count = 0;
  for ([[maybe_unused]] const auto& file :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    ++count;
  }
  return count;
}

uint64_t ResidentBytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  uint64_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void KillClients(int kills) {
  ClientDaemon daemon;
  Random random(11);
  {
    Verifiers verifiers(daemon.address(), 2, kReconnectFor);
    std::vector<std::unique_ptr<ClientProcess>> victims(3);
    for (int i = 0; i < kills; ++i) {
      auto& victim = victims[static_cast<size_t>(i) % victims.size()];
      victim = std::make_unique<ClientProcess>(daemon.address(), static_cast<uint64_t>(i), 0,
                                               /*lease=*/i % 4 == 3);
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 80));
    }
    victims.clear();
    EXPECT_TRUE(verifiers.AllGoOn(5)) << daemon.Log();
    EXPECT_EQ(verifiers.losses(), 0u);
  }
  EXPECT_EQ(WaitForNothingLeft(daemon.address()), Leftovers{});
  ::testing::Test::RecordProperty("points", kills);
}

void KillDaemon(int kills) {
  ClientDaemon daemon;
  Random random(12);
  Verifiers verifiers(daemon.address(), 3, kReconnectFor);
  for (int i = 0; i < kills; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 150));
    daemon.Kill();
    if (i % 3 == 2) {
      daemon.Spawn();
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
      daemon.Kill();
    }
    daemon.Spawn();
    ASSERT_TRUE(daemon.AwaitServing());
    ASSERT_TRUE(verifiers.AllGoOn(2)) << "after kill " << i << "\n" << daemon.Log();
  }
  verifiers.Stop();
  EXPECT_GE(verifiers.losses(), static_cast<uint64_t>(kills)) << "they were told";
  EXPECT_EQ(WaitForNothingLeft(daemon.address()), Leftovers{});
  ::testing::Test::RecordProperty("points", kills + kills / 3);
}

}  // namespace ttfd::testing
