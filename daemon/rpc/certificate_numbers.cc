// Gives names their numbers, and forgets names.
#include "daemon/rpc/certificate_numbers.h"

#include <utility>

namespace ttfd {
namespace {

// Linux gives users no numbers from 2^31 up. The last one is nobody's.
constexpr uint32_t kFirstNumber = 0xC000'0000;
constexpr uint32_t kNumbers = 0x3FFF'FFFF;

}  // namespace

StatusOr<uint32_t> CertificateNumbers::Of(const std::string& name) {
  MutexLock lock(&mu_);
  if (const auto found = names_.find(name); found != names_.end()) {
    heard_.splice(heard_.end(), heard_, found->second.place);
    return found->second.number;
  }
  if (next_ == kNumbers || (names_.size() >= most_names_ && !MakeRoom())) {
    return Error(StatusCode::kResourceExhausted,
                 "certificates with {} names have connections; no more are known apart",
                 names_.size());
  }
  const uint32_t number = kFirstNumber + next_++;
  names_.emplace(name, Known{number, heard_.insert(heard_.end(), name)});
  return number;
}

bool CertificateNumbers::MakeRoom() {
  const std::set<std::string> connected = connected_();
  for (auto name = heard_.begin(); name != heard_.end(); ++name) {
    if (connected.contains(*name)) continue;
    names_.erase(*name);
    heard_.erase(name);
    return true;
  }
  return false;
}

size_t CertificateNumbers::size() {
  MutexLock lock(&mu_);
  return names_.size();
}

}  // namespace ttfd
