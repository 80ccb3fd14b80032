// Draws the picture that the demo filters when it is given none: an evening over hills, with a
// card in the foreground. The same on every machine: integers only.
//
//   sample_picture OUT.png
#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "picture.h"

namespace {

constexpr int kWidth = 1536;
constexpr int kHeight = 1024;

struct Color {
  int r = 0;
  int g = 0;
  int b = 0;
};

Color Mix(Color a, Color b, int part, int of) {
  return {a.r + (b.r - a.r) * part / of, a.g + (b.g - a.g) * part / of,
          a.b + (b.b - a.b) * part / of};
}

class Canvas {
 public:
  Canvas() { picture_ = {kWidth, kHeight, 3, std::vector<uint8_t>(size_t{3} * kWidth * kHeight)}; }

  void Set(int x, int y, Color color) {
    if (x >= 0 && x < kWidth && y >= 0 && y < kHeight) {
      uint8_t* const rgb = &picture_.bytes[static_cast<size_t>(3 * (y * kWidth + x))];
      rgb[0] = static_cast<uint8_t>(color.r);
      rgb[1] = static_cast<uint8_t>(color.g);
      rgb[2] = static_cast<uint8_t>(color.b);
    }
  }
  void Box(int x0, int y0, int x1, int y1, Color color) {
    for (int y = y0; y < y1; ++y) {
      for (int x = x0; x < x1; ++x) {
        Set(x, y, color);
      }
    }
  }
  void Disc(int cx, int cy, int radius, Color color) {
    for (int y = cy - radius; y <= cy + radius; ++y) {
      for (int x = cx - radius; x <= cx + radius; ++x) {
        if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= radius * radius) {
          Set(x, y, color);
        }
      }
    }
  }
  const Picture& picture() const { return picture_; }

 private:
  Picture picture_;
};

void DrawSky(Canvas* canvas) {
  constexpr Color kTop = {38, 44, 96};
  constexpr Color kBottom = {250, 178, 110};
  for (int y = 0; y < kHeight; ++y) {
    canvas->Box(0, y, kWidth, y + 1, Mix(kTop, kBottom, std::min(y, 640), 640));
  }
  uint32_t random = 12345;
  for (int i = 0; i < 160; ++i) {
    random = random * 1664525 + 1013904223;
    const int x = static_cast<int>(random >> 8) % kWidth;
    random = random * 1664525 + 1013904223;
    canvas->Disc(x, static_cast<int>(random >> 8) % 260, 1 + i % 2, {230, 230, 250});
  }
  for (int ring = 5; ring >= 0; --ring) {
    canvas->Disc(1130, 360, 90 + 26 * ring, Mix({255, 240, 190}, {236, 160, 112}, ring, 5));
  }
}

// Ridge lines of three ranges, each a sum of triangle waves.
int Wave(int x, int period, int height) {
  const int at = x % period;
  return height * (at < period / 2 ? at : period - at) * 2 / period;
}

void DrawHills(Canvas* canvas) {
  constexpr std::array<Color, 3> kRanges = {Color{120, 96, 130}, Color{70, 84, 104},
                                            Color{34, 62, 60}};
  for (int range = 0; range < 3; ++range) {
    for (int x = 0; x < kWidth; ++x) {
      const int shifted = x + 310 * range;
      const int top = 520 + 90 * range - Wave(shifted, 520 - 90 * range, 130) -
                      Wave(shifted, 171 + 20 * range, 34) - Wave(shifted, 37, 6);
      for (int y = top; y < kHeight; ++y) {
        const Color base = kRanges[static_cast<size_t>(range)];
        canvas->Set(x, y, Mix(base, {16, 26, 34}, std::min(y - top, 320), 480));
      }
    }
  }
}

// Five by seven dots a letter, one row a number.
constexpr std::array<std::array<uint8_t, 7>, 4> kLetters = {{
    {0x04, 0x04, 0x1F, 0x04, 0x04, 0x05, 0x02},  // t
    {0x04, 0x04, 0x1F, 0x04, 0x04, 0x05, 0x02},  // t
    {0x06, 0x09, 0x08, 0x1C, 0x08, 0x08, 0x08},  // f
    {0x01, 0x01, 0x0D, 0x13, 0x11, 0x13, 0x0D},  // d
}};

void DrawWord(Canvas* canvas, int x, int y, int dot, Color color) {
  for (const std::array<uint8_t, 7>& letter : kLetters) {
    for (int row = 0; row < 7; ++row) {
      for (int column = 0; column < 5; ++column) {
        if ((letter[static_cast<size_t>(row)] >> (4 - column) & 1) != 0) {
          canvas->Box(x + column * dot, y + row * dot, x + (column + 1) * dot - 2,
                      y + (row + 1) * dot - 2, color);
        }
      }
    }
    x += 6 * dot;
  }
}

// A card with its chip: a grid of 17 by 12 tiles, in the colours of what they are.
void DrawCard(Canvas* canvas) {
  canvas->Box(110, 640, 1010, 980, {14, 20, 26});
  canvas->Box(118, 648, 1002, 972, {28, 92, 70});
  for (int i = 0; i < 44; ++i) {
    canvas->Box(140 + 19 * i, 972, 152 + 19 * i, 996, {212, 178, 90});
  }
  canvas->Box(500, 668, 980, 952, {40, 44, 52});
  for (int y = 0; y < 12; ++y) {
    for (int x = 0; x < 17; ++x) {
      const bool dram = x == 0 || x == 9;
      const bool edge = y < 2;
      const Color color = dram   ? Color{200, 120, 60}
                          : edge ? Color{120, 130, 150}
                                 : Mix({70, 130, 200}, {140, 220, 220}, x + y, 28);
      canvas->Box(512 + 27 * x, 678 + 22 * y, 534 + 27 * x, 695 + 22 * y, color);
    }
  }
  DrawWord(canvas, 150, 700, 14, {240, 240, 230});
  for (int i = 0; i < 6; ++i) {
    canvas->Disc(170 + 52 * i, 900, 18, {150, 150, 160});
    canvas->Disc(170 + 52 * i, 900, 11, {60, 64, 72});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: sample_picture OUT.png\n");
    return 2;
  }
  Canvas canvas;
  DrawSky(&canvas);
  DrawHills(&canvas);
  DrawCard(&canvas);
  std::string error;
  if (!WritePng(argv[1], canvas.picture(), &error)) {
    std::fprintf(stderr, "cannot write %s: %s\n", argv[1], error.c_str());
    return 1;
  }
  return 0;
}
