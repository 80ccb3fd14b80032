// XML for GDB: which registers a hart has, which harts there are.
#pragma once

#include <string>
#include <string_view>

#include "runtime/debug/debug_target.h"

namespace ttfd::debug {

// The target description: architecture riscv:rv32, 32 registers and the pc.
std::string_view TargetXml();

// The thread list. Never empty: with every hart in reset it names the first one.
std::string ThreadsXml(const DebugTarget& target);

}  // namespace ttfd::debug
