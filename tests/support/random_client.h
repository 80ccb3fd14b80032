// A client that does whatever it may, drawn from a seed, and checks every answer: bytes, sums, errors. It loses its
// session and goes on.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ttfd/ttfd.h"

namespace ttfd::testing {

// Used by one thread.
class RandomClient {
 public:
  RandomClient(client::ConnectOptions options, uint64_t seed);

  // One thing drawn by lot. OK also if the session was lost; else what went wrong: DATA_LOSS if an answer was wrong.
  client::Status Step();
  // Ends the session in good order.
  client::Status Close();

  uint64_t steps() const { return steps_; }  // that went well
  uint64_t losses() const { return losses_; }
  uint64_t reconnects() const;
  const std::string& last_loss() const { return last_loss_; }

 private:
  struct Held {
    client::Buffer buffer;
    std::vector<std::byte> bytes;  // what it holds
  };

  struct Done {
    uint64_t drawn;
    uint64_t first_value;  // the next of queue 1 when it began
  };

  uint64_t Draw(uint64_t below);
  std::vector<std::byte> Bytes(size_t size);
  client::Status Connect();
  client::Status Play();
  client::Status Do(uint64_t drawn);
  client::Status Allocate();
  client::Status Write(Held& held);
  client::Status Check(const Held& held);
  client::Status CopyBetween(Held& from, Held& to);
  client::Status Count();
  client::Status Replay();
  client::Status Err(Held& held);
  client::Status OtherQueue(Held& held);
  client::Status CheckSum();
  client::LaunchRequest Add(uint32_t value) const;
  void Forget();
  // `status` with all that explains it: the first error of the queue, and what was done last.
  client::Status Explained(const client::Status& status);

  const client::ConnectOptions options_;
  const client::CoreRange tiles_;  // those it works on
  uint64_t state_;
  uint64_t steps_ = 0;
  uint64_t losses_ = 0;
  uint64_t reconnects_ = 0;
  std::string last_loss_;
  std::deque<Done> done_;  // the last ones
  std::optional<client::Session> session_;
  std::deque<Held> held_;
  client::Program program_;
  client::Buffer counter_;
  uint32_t sum_ = 0;
  client::Trace trace_;
  uint32_t trace_adds_ = 0;
};

}  // namespace ttfd::testing
