// The reference filter: plain loops over channels and neighbours, following the formulas in
// firmware/kernels/blur_edge.cc.
#include "client/examples/ink_drawing.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace {

uint32_t Channel(uint32_t pixel, int channel) { return pixel >> (8 * channel) & 0xFF; }

// Element (x, y) of a field of the picture's size; outside of it, that of the border.
template <typename T>
T At(const std::vector<T>& field, const Picture& picture, int64_t x, int64_t y) {
  const int64_t inside_x = std::clamp<int64_t>(x, 0, int64_t{picture.width} - 1);
  const int64_t inside_y = std::clamp<int64_t>(y, 0, int64_t{picture.height} - 1);
  return field[static_cast<size_t>(inside_y * picture.width + inside_x)];
}

uint32_t Blurred(const Picture& picture, int64_t x, int64_t y) {
  static constexpr std::array<uint32_t, 3> kWeights = {1, 2, 1};
  uint32_t result = 0;
  for (int channel = 0; channel < 4; ++channel) {
    uint32_t sum = 8;
    for (int64_t dy = -1; dy <= 1; ++dy) {
      for (int64_t dx = -1; dx <= 1; ++dx) {
        const uint32_t weight =
            kWeights[static_cast<size_t>(dx + 1)] * kWeights[static_cast<size_t>(dy + 1)];
        sum += weight * Channel(At(picture.pixels, picture, x + dx, y + dy), channel);
      }
    }
    result |= (sum >> 4) << (8 * channel);
  }
  return result;
}

int32_t Luma(uint32_t pixel) {
  return static_cast<int32_t>(
      (77 * Channel(pixel, 0) + 150 * Channel(pixel, 1) + 29 * Channel(pixel, 2) + 128) >> 8);
}

}  // namespace

Picture InkDrawing(const Picture& picture) {
  Picture blurred = picture;
  std::vector<int32_t> luma(picture.pixels.size());
  for (uint32_t y = 0; y < picture.height; ++y) {
    for (uint32_t x = 0; x < picture.width; ++x) {
      const size_t at = size_t{y} * picture.width + x;
      blurred.pixels[at] = Blurred(picture, x, y);
      luma[at] = Luma(blurred.pixels[at]);
    }
  }
  Picture result = blurred;
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) {
      const auto l = [&](int64_t dx, int64_t dy) { return At(luma, picture, x + dx, y + dy); };
      const int32_t gx = l(-1, -1) + 2 * l(-1, 0) + l(-1, 1) - l(1, -1) - 2 * l(1, 0) - l(1, 1);
      const int32_t gy = l(-1, -1) + 2 * l(0, -1) + l(1, -1) - l(-1, 1) - 2 * l(0, 1) - l(1, 1);
      const int32_t edge = std::min(255, (std::abs(gx) + std::abs(gy)) >> 1);
      uint32_t& pixel = result.pixels[static_cast<size_t>(y * picture.width + x)];
      uint32_t drawn = pixel & 0xFF000000;
      for (int channel = 0; channel < 3; ++channel) {
        const int32_t value = static_cast<int32_t>(Channel(pixel, channel)) - edge;
        drawn |= static_cast<uint32_t>(std::max(0, value)) << (8 * channel);
      }
      pixel = drawn;
    }
  }
  return result;
}
