// Blur and edge detection of a picture in integer arithmetic, the rows of a band on each tile. BRISC.
//
// Input: RGB, 8 bits a channel, one row a page of an interleaved DRAM buffer. Output: one byte a pixel,
// one row a page. Everything outside the picture is the nearest pixel inside.
//   gray    = (77 R + 150 G + 29 B + 128) >> 8
//   blurred = (3x3 sum of gray weighted 1 2 1 / 2 4 2 / 1 2 1, + 8) >> 4
//   edge    = min(255, |gx| + |gy|), Sobel operator on blurred
//
// Common arguments: 0 input base, 1 input page bytes, 2 output base, 3 output page bytes, 4 width,
// 5 height. Per core: 0 first row, 1 number of rows. Page bytes are multiples of 64.
// Circular buffer 0: scratch of at least 2 * input page + 2 * output page + 6 * (2 * width + 32) bytes.
//
// Gray and blurred rows hold two pixels a word, 16 bits each, so that sums are made for both at once.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

constexpr uint32_t kLanes = 0x00010001;  // the value 1 in both lanes

uint32_t Smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

// A row of 16-bit pixels with a margin: pixel x is lane x + 2, so words[0] has the pixel left of the
// first in its high lane.
struct Row {
  uint32_t* words;

  uint16_t* lanes() const { return reinterpret_cast<uint16_t*>(words) + 2; }
  // Continues the row's ends by their last pixels, as far as a sum over neighbours looks.
  void Extend(uint32_t width) const {
    uint16_t* const pixels = lanes();
    pixels[-2] = 0;  // nobody's pixel: what lay there would carry into its neighbour's lane
    pixels[-1] = pixels[0];
    pixels[width] = pixels[width - 1];
    pixels[width + 1] = pixels[width - 1];
  }
};

// Left and right neighbours of the two pixels of `middle`.
uint32_t LeftOf(uint32_t before, uint32_t middle) { return before >> 16 | middle << 16; }
uint32_t RightOf(uint32_t middle, uint32_t after) { return middle >> 16 | after << 16; }

uint32_t Gray(uint32_t red, uint32_t green, uint32_t blue) {
  return (77 * red + 150 * green + 29 * blue + 128) >> 8;
}

// Four pixels, three words of input, a trip; what lies behind the width is scratch.
void MakeGray(const uint32_t* rgb, Row row, uint32_t width) {
  uint32_t* out = row.words + 1;
  for (uint32_t* const end = out + (width + 1) / 2; out < end; out += 2, rgb += 3) {
    const uint32_t a = rgb[0], b = rgb[1], c = rgb[2];
    const uint32_t p0 = Gray(a & 0xFF, a >> 8 & 0xFF, a >> 16 & 0xFF);
    const uint32_t p1 = Gray(a >> 24, b & 0xFF, b >> 8 & 0xFF);
    const uint32_t p2 = Gray(b >> 16 & 0xFF, b >> 24, c & 0xFF);
    const uint32_t p3 = Gray(c >> 8 & 0xFF, c >> 16 & 0xFF, c >> 24);
    out[0] = p0 | p1 << 16;
    out[1] = p2 | p3 << 16;
  }
  row.Extend(width);
}

void MakeBlurred(Row above, Row row, Row below, Row blurred, uint32_t width) {
  const uint32_t* a = above.words;
  const uint32_t* m = row.words;
  const uint32_t* b = below.words;
  uint32_t* out = blurred.words + 1;
  const auto column = [&](uint32_t i) { return a[i] + 2 * m[i] + b[i]; };  // at most 1020 a lane
  uint32_t before = column(0);
  uint32_t middle = column(1);
  for (uint32_t* const end = out + (width + 1) / 2; out != end; ++out, ++a, ++m, ++b) {
    const uint32_t after = column(2);
    const uint32_t sum = LeftOf(before, middle) + 2 * middle + RightOf(middle, after) + 8 * kLanes;
    *out =
        sum >> 4 & 0x00FF00FF;  // the low lane's top bits would shift into nothing, the high's stay
    before = middle;
    middle = after;
  }
  blurred.Extend(width);
}

uint32_t Magnitude(uint32_t biased) {
  const int32_t value = static_cast<int32_t>(biased) - 0x800;
  const int32_t sign = value >> 31;
  return static_cast<uint32_t>((value ^ sign) - sign);
}

// Two edge pixels, in the low bytes of two lanes. Differences carry a bias so that lanes never borrow.
uint32_t EdgePair(uint32_t gx, uint32_t gy) {
  const uint32_t low = Magnitude(gx & 0xFFFF) + Magnitude(gy & 0xFFFF);
  const uint32_t high = Magnitude(gx >> 16) + Magnitude(gy >> 16);
  return Smaller(low, 255) | Smaller(high, 255) << 8;
}

void MakeEdges(Row above, Row row, Row below, uint32_t* out, uint32_t width) {
  constexpr uint32_t kBias = 0x800 * kLanes;
  const uint32_t* a = above.words;
  const uint32_t* m = row.words;
  const uint32_t* b = below.words;
  const auto sum = [&](uint32_t i) { return a[i] + 2 * m[i] + b[i]; };
  const auto difference = [&](uint32_t i) { return b[i] + 0x200 * kLanes - a[i]; };
  uint32_t sum_before = sum(0), sum_middle = sum(1);
  uint32_t difference_before = difference(0), difference_middle = difference(1);
  const auto next_pair = [&] {
    const uint32_t sum_after = sum(2);
    const uint32_t difference_after = difference(2);
    const uint32_t gx = RightOf(sum_middle, sum_after) + kBias - LeftOf(sum_before, sum_middle);
    // Four differences of bias 0x200 make one of 0x800.
    const uint32_t gy = LeftOf(difference_before, difference_middle) + 2 * difference_middle +
                        RightOf(difference_middle, difference_after);
    sum_before = sum_middle, sum_middle = sum_after;
    difference_before = difference_middle, difference_middle = difference_after;
    ++a, ++m, ++b;
    return EdgePair(gx, gy);
  };
  for (uint32_t* const end = out + (width + 3) / 4; out != end; ++out) {
    const uint32_t low = next_pair();
    *out = low | next_pair() << 16;
  }
}

class Band {
 public:
  Band()
      : input_(CommonArgument(0), CommonArgument(1)),
        output_(CommonArgument(2), CommonArgument(3)),
        width_(CommonArgument(4)),
        height_(CommonArgument(5)),
        raw_(CircularBuffer(0).address()),
        edges_(raw_ + 2 * input_.page_bytes()),
        rows_(edges_ + 2 * output_.page_bytes()),
        row_bytes_((2 * width_ + 32) & ~3u) {}

  void Run(uint32_t first, uint32_t count) {
    if (count == 0) {
      return;
    }
    const uint32_t last = height_ - 1;
    next_raw_ = first < 2 ? 0 : first - 2;
    last_raw_ = Smaller(first + count + 1, last);
    gray_done_ = next_raw_;
    StartRaw();
    uint32_t blurred_done = first == 0 ? 0 : first - 1;
    for (uint32_t y = first; y != first + count; ++y) {
      for (const uint32_t wanted = Smaller(y + 1, last) + 1; blurred_done != wanted;
           ++blurred_done) {
        Blur(blurred_done);
      }
      const uint32_t out = edges_ + (y & 1) * output_.page_bytes();
      WritesFlushedBarrier();
      MakeEdges(Blurred(y == 0 ? 0 : y - 1), Blurred(y), Blurred(Smaller(y + 1, last)),
                L1Pointer<uint32_t>(out), width_);
      Write(out, output_.Page(y), width_);
    }
  }

 private:
  // Rows are kept three deep, by row number modulo 3.
  Row GrayRow(uint32_t y) const { return RowAt(y % 3); }
  Row Blurred(uint32_t y) const { return RowAt(3 + y % 3); }
  Row RowAt(uint32_t slot) const { return {L1Pointer<uint32_t>(rows_ + slot * row_bytes_)}; }

  static ReadGroup GroupOf(uint32_t y) {
    return (y & 1) == 0 ? ReadGroup::kFirst : ReadGroup::kSecond;
  }
  uint32_t RawAddress(uint32_t y) const { return raw_ + (y & 1) * input_.page_bytes(); }

  void StartRaw() {
    if (next_raw_ <= last_raw_) {
      Read(input_.Page(next_raw_), RawAddress(next_raw_), input_.page_bytes(), GroupOf(next_raw_));
      ++next_raw_;
    }
  }

  // Gray rows up to `y`; the next input row travels meanwhile.
  void GrayUpTo(uint32_t y) {
    for (; gray_done_ <= y; ++gray_done_) {
      StartRaw();
      ReadBarrier(GroupOf(gray_done_));
      MakeGray(L1Pointer<const uint32_t>(RawAddress(gray_done_)), GrayRow(gray_done_), width_);
    }
  }

  void Blur(uint32_t y) {
    const uint32_t above = y == 0 ? 0 : y - 1;
    const uint32_t below = Smaller(y + 1, height_ - 1);
    GrayUpTo(below);
    MakeBlurred(GrayRow(above), GrayRow(y), GrayRow(below), Blurred(y), width_);
  }

  const InterleavedBuffer input_;
  const InterleavedBuffer output_;
  const uint32_t width_;
  const uint32_t height_;
  const uint32_t raw_;    // two input rows
  const uint32_t edges_;  // two output rows
  const uint32_t rows_;   // three gray, three blurred
  const uint32_t row_bytes_;
  uint32_t next_raw_ = 0;   // the next input row to read
  uint32_t last_raw_ = 0;   // the last one needed
  uint32_t gray_done_ = 0;  // the next gray row to make
};

}  // namespace

void kernel_main() { Band().Run(Argument(0), Argument(1)); }
