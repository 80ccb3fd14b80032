// The wait of a parked hart in its tile's Tensix engine, in words.
#pragma once

#include <cstdint>
#include <string>

namespace ttfd::sim {

// `events` (tensix/report.h) are those that `instruction` waits for: "semaphore 7 is 0", "SrcA has no free bank".
std::string DescribeEngineWait(uint32_t instruction, uint32_t events);

}  // namespace ttfd::sim
