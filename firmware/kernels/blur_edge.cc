// Blurs a picture and draws its edges in black: an ink drawing. One hart (BRISC) a tile, a band of rows each.
//
// Pixels are 32-bit words R | G << 8 | B << 16 | A << 24; a row is one page of an interleaved DRAM buffer. Everything is integer, and
// pixels outside the picture are those of its border, so a host can check the result pixel for pixel:
//
//   blurred(x, y) = (sum of the 3 x 3 pixels around, weighted 1 2 1 / 2 4 2 / 1 2 1, + 8) >> 4, every channel for itself
//   luma(x, y)    = (77 R + 150 G + 29 B + 128) >> 8 of blurred(x, y)
//   gx, gy        = the Sobel sums of luma around (x, y): 1 0 -1 / 2 0 -2 / 1 0 -1 and its transpose
//   edge(x, y)    = min(255, (|gx| + |gy|) >> 1)
//   result(x, y)  = max(0, blurred - edge) in R, G and B; A = blurred A
//
//   common argument 0, 1   base addresses of input and output
//   common argument 2      page_bytes of both: 4 * width, rounded up to a multiple of 64, at most 47,616
//   common argument 3, 4   width and height in pixels, at least 1
//   per core argument 0    first row of this tile
//   per core argument 1    rows of this tile; may be 0
//   circular buffer 0      11 pages of page_bytes: scratch
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

// Two channels at once, 16 bits each: 255 * 16 + 8 fits.
constexpr uint32_t kLanes = 0x00FF00FF;

inline uint32_t Low(uint32_t pixel) { return pixel & kLanes; }        // R and B
inline uint32_t High(uint32_t pixel) { return pixel >> 8 & kLanes; }  // G and A

struct Column {  // weighted sum down a column of three pixels
  uint32_t low;
  uint32_t high;
};

inline Column Sum(uint32_t above, uint32_t middle, uint32_t below) {
  return {Low(above) + 2 * Low(middle) + Low(below), High(above) + 2 * High(middle) + High(below)};
}

void BlurRow(const uint32_t* above, const uint32_t* middle, const uint32_t* below, uint32_t width,
             uint32_t* blurred, uint8_t* luma) {
  Column center = Sum(above[0], middle[0], below[0]);
  Column left = center;
  for (uint32_t x = 0; x != width; ++x) {
    const uint32_t next = x + 1 < width ? x + 1 : x;
    const Column right = Sum(above[next], middle[next], below[next]);
    const uint32_t low = ((left.low + 2 * center.low + right.low + 0x00080008) >> 4) & kLanes;
    const uint32_t high = ((left.high + 2 * center.high + right.high + 0x00080008) >> 4) & kLanes;
    blurred[x] = low | high << 8;
    luma[x] = static_cast<uint8_t>(
        (77 * (low & 0xFF) + 150 * (high & 0xFF) + 29 * (low >> 16) + 128) >> 8);
    left = center;
    center = right;
  }
}

inline int32_t Magnitude(int32_t value) { return value < 0 ? -value : value; }

void DrawRow(const uint8_t* above, const uint8_t* middle, const uint8_t* below,
             const uint32_t* blurred, uint32_t width, uint32_t* out) {
  // Down a column: smoothed 1 2 1 for gx, difference 1 0 -1 for gy.
  const auto smooth = [&](uint32_t x) { return above[x] + 2 * middle[x] + below[x]; };
  const auto slope = [&](uint32_t x) { return above[x] - below[x]; };
  int32_t smooth_left = smooth(0);
  int32_t slope_left = slope(0);
  int32_t smooth_center = smooth_left;
  int32_t slope_center = slope_left;
  for (uint32_t x = 0; x != width; ++x) {
    const uint32_t next = x + 1 < width ? x + 1 : x;
    const int32_t smooth_right = smooth(next);
    const int32_t slope_right = slope(next);
    const int32_t gx = smooth_left - smooth_right;
    const int32_t gy = slope_left + 2 * slope_center + slope_right;
    int32_t edge = (Magnitude(gx) + Magnitude(gy)) >> 1;
    if (edge > 255) {
      edge = 255;
    }
    const uint32_t pixel = blurred[x];
    const int32_t r = static_cast<int32_t>(pixel & 0xFF) - edge;
    const int32_t g = static_cast<int32_t>(pixel >> 8 & 0xFF) - edge;
    const int32_t b = static_cast<int32_t>(pixel >> 16 & 0xFF) - edge;
    out[x] = static_cast<uint32_t>(r < 0 ? 0 : r) | static_cast<uint32_t>(g < 0 ? 0 : g) << 8 |
             static_cast<uint32_t>(b < 0 ? 0 : b) << 16 | (pixel & 0xFF000000);
    smooth_left = smooth_center, smooth_center = smooth_right;
    slope_left = slope_center, slope_center = slope_right;
  }
}

// The rows a tile holds, each in a ring of its own: row y of the picture is in slot y modulo the ring.
class Band {
 public:
  Band(uint32_t scratch, uint32_t row_bytes, uint32_t height)
      : input_(scratch),
        blurred_(scratch + 4 * row_bytes),
        luma_(scratch + 8 * row_bytes),
        output_(scratch + 9 * row_bytes),
        row_bytes_(row_bytes),
        height_(height) {}

  int32_t Clamp(int32_t y) const {
    const int32_t last = static_cast<int32_t>(height_) - 1;
    return y < 0 ? 0 : y > last ? last : y;
  }
  uint32_t input(int32_t y) const { return input_ + (static_cast<uint32_t>(y) & 3) * row_bytes_; }
  uint32_t blurred(int32_t y) const {
    return blurred_ + (static_cast<uint32_t>(y) & 3) * row_bytes_;
  }
  uint32_t luma(int32_t y) const {
    return luma_ + (static_cast<uint32_t>(y) & 3) * (row_bytes_ / 4);
  }
  uint32_t output(int32_t y) const { return output_ + (static_cast<uint32_t>(y) & 1) * row_bytes_; }

 private:
  uint32_t input_;    // 4 rows
  uint32_t blurred_;  // 4 rows
  uint32_t luma_;     // 4 rows of bytes, in the room of one row
  uint32_t output_;   // 2 rows
  uint32_t row_bytes_;
  uint32_t height_;
};

}  // namespace

void kernel_main() {
  const uint32_t row_bytes = CommonArgument(2);
  const InterleavedBuffer input(CommonArgument(0), row_bytes);
  const InterleavedBuffer output(CommonArgument(1), row_bytes);
  const uint32_t width = CommonArgument(3);
  const Band band(CircularBuffer(0).Reserve(11), row_bytes, CommonArgument(4));
  const int32_t first = static_cast<int32_t>(Argument(0));
  const int32_t end = first + static_cast<int32_t>(Argument(1));
  if (first == end) {
    return;
  }

  int32_t have = band.Clamp(first - 2) - 1;  // last input row that was asked for
  const auto want = [&](int32_t y) {         // input rows up to y, as far as the picture goes
    while (have < band.Clamp(y)) {
      ++have;
      Read(input.Page(static_cast<uint32_t>(have)), band.input(have), row_bytes);
    }
  };
  want(first);
  // Row y is blurred as soon as row y + 1 is here, and drawn when row y + 1 is blurred. The row after travels meanwhile.
  for (int32_t y = band.Clamp(first - 1); y <= end && y <= band.Clamp(end); ++y) {
    want(y + 1);
    ReadBarrier();
    want(y + 2);
    BlurRow(L1Pointer<const uint32_t>(band.input(band.Clamp(y - 1))),
            L1Pointer<const uint32_t>(band.input(y)),
            L1Pointer<const uint32_t>(band.input(band.Clamp(y + 1))), width,
            L1Pointer<uint32_t>(band.blurred(y)), L1Pointer<uint8_t>(band.luma(y)));
    for (int32_t row = y - 1; row <= y; ++row) {
      const bool is_last = row == y;  // the bottom row of the picture has nothing below to wait for
      if (row < first || row >= end || (is_last && y != band.Clamp(y + 1))) {
        continue;
      }
      WritesLeftBarrier();
      DrawRow(L1Pointer<const uint8_t>(band.luma(band.Clamp(row - 1))),
              L1Pointer<const uint8_t>(band.luma(row)),
              L1Pointer<const uint8_t>(band.luma(band.Clamp(row + 1))),
              L1Pointer<const uint32_t>(band.blurred(row)), width,
              L1Pointer<uint32_t>(band.output(row)));
      Write(band.output(row), output.Page(static_cast<uint32_t>(row)), row_bytes);
    }
  }
}
