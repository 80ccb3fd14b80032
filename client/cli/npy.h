// Arrays in the format of NumPy's files (.npy), versions 1 to 3, as numpy.save writes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ttfd/status.h"

namespace ttfd::cli {

struct NpyArray {
  std::vector<uint32_t> shape = {};     // of an array without dimensions: {1}
  std::vector<float> numbers = {};      // the last dimension runs fastest
  std::vector<uint32_t> integers = {};  // in their place: an array of uint32
};

// Reads the content of a file. Numbers of 8 to 64 bits, integers too, become floats, but for uint32. INVALID_ARGUMENT:
// it is no such file, or the array is in Fortran order or big-endian, or has other elements.
client::Result<NpyArray> ParseNpy(std::span<const std::byte> file);

// The content of a file of 32-bit floats, or integers.
std::vector<std::byte> NpyOf(const NpyArray& array);

client::Result<NpyArray> ReadNpy(const std::string& path);
client::Status WriteNpy(const std::string& path, const NpyArray& array);

}  // namespace ttfd::cli
