// The reference filter: plain loops over neighbours, following the formulas in
// kernel blur_edge.cc.
#include "edge_filter.h"

#include <algorithm>
#include <cstdlib>

namespace {

// A field of the picture's size; outside of it is the nearest element inside.
class Field {
 public:
  Field(uint32_t width, uint32_t height)
      : width_(width), height_(height), values_(size_t{width} * height) {}

  int32_t At(int64_t x, int64_t y) const {
    const int64_t inside_x = std::clamp<int64_t>(x, 0, int64_t{width_} - 1);
    const int64_t inside_y = std::clamp<int64_t>(y, 0, int64_t{height_} - 1);
    return values_[static_cast<size_t>(inside_y * width_ + inside_x)];
  }
  void Set(int64_t x, int64_t y, int32_t value) {
    values_[static_cast<size_t>(y * width_ + x)] = value;
  }

 private:
  uint32_t width_;
  uint32_t height_;
  std::vector<int32_t> values_;
};

Field GrayOf(const Picture& picture) {
  Field gray(picture.width, picture.height);
  size_t at = 0;
  for (uint32_t y = 0; y < picture.height; ++y) {
    for (uint32_t x = 0; x < picture.width; ++x, at += 3) {
      const uint8_t* const rgb = &picture.bytes[at];
      gray.Set(x, y, (77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) >> 8);
    }
  }
  return gray;
}

int32_t BlurredAt(const Field& gray, int64_t x, int64_t y) {
  static constexpr int32_t kWeights[3] = {1, 2, 1};
  int32_t sum = 8;
  for (int64_t dy = -1; dy <= 1; ++dy) {
    for (int64_t dx = -1; dx <= 1; ++dx) {
      sum += kWeights[dx + 1] * kWeights[dy + 1] * gray.At(x + dx, y + dy);
    }
  }
  return sum >> 4;
}

// Outside the picture the blurred field, too, is the nearest element inside.
int32_t EdgeAt(const Field& blurred, int64_t x, int64_t y) {
  const auto at = [&](int64_t dx, int64_t dy) { return blurred.At(x + dx, y + dy); };
  const int32_t gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  const int32_t gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  return std::min(255, std::abs(gx) + std::abs(gy));
}

}  // namespace

Picture EdgesOf(const Picture& picture) {
  const Field gray = GrayOf(picture);
  Field blurred(picture.width, picture.height);
  for (uint32_t y = 0; y < picture.height; ++y) {
    for (uint32_t x = 0; x < picture.width; ++x) {
      blurred.Set(x, y, BlurredAt(gray, x, y));
    }
  }
  Picture edges = {picture.width, picture.height, 1, {}};
  edges.bytes.reserve(size_t{picture.width} * picture.height);
  for (uint32_t y = 0; y < picture.height; ++y) {
    for (uint32_t x = 0; x < picture.width; ++x) {
      edges.bytes.push_back(static_cast<uint8_t>(EdgeAt(blurred, x, y)));
    }
  }
  return edges;
}
