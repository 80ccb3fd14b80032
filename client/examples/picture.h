// Pictures as 32-bit words R | G << 8 | B << 16 | A << 24, row by row, and their PNG files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct Picture {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint32_t> pixels;
};

// False, with the reason in `error`, if the file is not a readable PNG.
bool ReadPng(const std::string& path, Picture* picture, std::string* error);
bool WritePng(const std::string& path, const Picture& picture, std::string* error);
