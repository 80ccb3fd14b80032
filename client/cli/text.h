// Text for people: sizes and durations; and the small notations of the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ttfd/types.h"

namespace ttfd::cli {

std::string Bytes(uint64_t bytes);  // "1.5 GiB"
std::string Duration(uint64_t ms);  // "2 h 5 min", "1.250 s"

// "4096", "0x1000", "4K", "4M", "1G"; empty: not a size.
std::optional<uint64_t> ParseSize(std::string_view text);
// "12", "-1", "0xFF": 32 bits.
std::optional<uint32_t> ParseWord(std::string_view text);
// "1,2", "0,0-3,3" or "all" of a grid.
std::optional<client::CoreRange> ParseCores(std::string_view text, uint32_t grid_x,
                                            uint32_t grid_y);
// "1:2:3" as numbers, exactly `count` of them.
std::optional<std::vector<uint64_t>> ParseTuple(std::string_view text, size_t count);
// "brisc", "ncrisc", "trisc0" ...
std::optional<client::Processor> ParseProcessor(std::string_view text);

}  // namespace ttfd::cli
