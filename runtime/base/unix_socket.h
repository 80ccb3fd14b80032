// A unix socket of ours and its file.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {

class UnixSocket {
 public:
  // Binds a non-blocking stream socket to `path`, for its owner alone. A socket file that nobody listens on is
  // replaced; one with a listener, and any other file, is refused. `way_out` ends the sentence that says so:
  // "choose ...".
  static StatusOr<std::unique_ptr<UnixSocket>> Bind(const std::string& path,
                                                    std::string_view way_out);
  ~UnixSocket();  // removes the file, unless somebody else has put another there

  int fd() const { return fd_.get(); }

 private:
  UnixSocket(UniqueFd fd, std::string path);

  const UniqueFd fd_;
  const std::string path_;
  ino_t inode_ = 0;
};

}  // namespace ttfd
