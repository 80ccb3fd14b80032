// A session and the client behind it, as administrators and other clients see them (types.proto, SessionClient).
#pragma once

#include <cstdint>
#include <string>

namespace ttfd {

struct SessionClient {
  uint64_t session = 0;
  std::string name;  // of the client, as its Hello has it
  std::string user;
  uint32_t uid = 0;
  uint32_t pid = 0;  // that opened the session; 0: not known

  // "session 3 (client 'train', user ann, pid 77)"
  std::string Text() const;
  bool operator==(const SessionClient&) const = default;
};

}  // namespace ttfd
