// Instructions that the model and the official simulator refuse, each after a program that both accept.
#pragma once

#include <cstdint>
#include <span>

#include "tests/peer/tensix_writer.h"

namespace ttfd {

struct TensixRefusal {
  const char* name;
  uint32_t instruction;
  const char* text;  // in what the model says
  void (*prepare)(TensixWriter& writer) = nullptr;

  TensixProgram Prepared() const;
  TensixProgram Refused() const;
};

std::span<const TensixRefusal> TensixRefusals();

}  // namespace ttfd
