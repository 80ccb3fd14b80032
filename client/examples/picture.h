// Pictures as bytes, row by row without padding: three a pixel (red, green, blue) or one (gray).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct Picture {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 3;  // 3 or 1
  std::vector<uint8_t> bytes = {};

  uint32_t row_bytes() const { return channels * width; }
};

// Reads a PNG of any kind as red, green and blue. False, with the reason in `error`, if the file is
// not a readable PNG.
bool ReadPng(const std::string& path, Picture* picture, std::string* error);
bool WritePng(const std::string& path, const Picture& picture, std::string* error);
