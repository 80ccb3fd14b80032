// Check of a result in the examples: prints a failure and ends. A larger program would pass it on.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "ttfd/status.h"

inline void Check(const ttfd::client::Status& status, const char* what) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
    std::exit(1);
  }
}

template <typename T>
T Check(ttfd::client::Result<T> result, const char* what) {
  Check(result.status(), what);
  return std::move(*result);
}
