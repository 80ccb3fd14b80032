// Output of ttfdctl drain: its steps, with the sessions that hold it up.
#pragma once

#include "ttfd/admin_types.h"

namespace ttfd::cli {

class DrainSteps {
 public:
  // `json`: an object a line instead of text.
  explicit DrainSteps(bool json) : json_(json) {}

  // Prints a step to stdout, at once. As text the sessions left are listed with the first step, with those that leave
  // few, and with the one that ends them.
  void Print(const client::Progress& step);

 private:
  const bool json_;
  bool first_ = true;
};

}  // namespace ttfd::cli
