// The numbers that stand for client certificates as users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <set>
#include <string>
#include <unordered_map>

#include "runtime/base/mutex.h"
#include "runtime/base/status.h"

namespace ttfd {

// A name keeps its number as long as it is known: what its connections, sessions and limits count for is that number.
// When there are more names than may be kept, those without a connection go, the one not heard of for longest first;
// if one of them comes again it is a new user, who does not find a session of before, even within its reconnect
// timeout. No number is given twice, so nobody comes by what another has left. Thread-safe.
class CertificateNumbers {
 public:
  static constexpr size_t kMostNames = 4096;

  // `connected`: the names that have a connection now.
  explicit CertificateNumbers(std::function<std::set<std::string>()> connected,
                              size_t most_names = kMostNames)
      : connected_(std::move(connected)), most_names_(most_names) {}

  // RESOURCE_EXHAUSTED where so many names have connections, or there are no more numbers.
  StatusOr<uint32_t> Of(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  size_t size() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Known {
    uint32_t number;
    std::list<std::string>::iterator place;
  };

  bool MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::function<std::set<std::string>()> connected_;
  const size_t most_names_;
  Mutex mu_;
  uint32_t next_ ABSL_GUARDED_BY(mu_) = 0;
  std::list<std::string> heard_ ABSL_GUARDED_BY(mu_);  // the one not heard of for longest first
  std::unordered_map<std::string, Known> names_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
