// Errors of wrong calls.
#pragma once

#include <string>
#include <utility>

#include "ttfd/status.h"

namespace ttfd::mesh {

inline client::Status Invalid(std::string field, std::string message) {
  return client::Status(client::ErrorInfo{.code = client::Code::kInvalidArgument,
                                          .message = std::move(message),
                                          .reason = "INVALID",
                                          .field = std::move(field)});
}

}  // namespace ttfd::mesh
