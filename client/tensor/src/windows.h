// Images as tensors, and the windows that convolutions and pools see of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "client/tensor/src/composition.h"

namespace ttfd::tensor {

// An input [images, height, width, channels], or [1, 1, images * height * width, channels].
struct ImageShape {
  uint32_t images = 1;
  uint32_t height = 1;
  uint32_t width = 1;
  uint32_t channels = 1;

  Shape flat() const { return {1, 1, images * height * width, channels}; }
};

// Windows of one direction.
struct WindowAxis {
  uint32_t extent = 1;  // of the image
  uint32_t size = 1;    // elements of a window
  uint32_t stride = 1;
  uint32_t before = 0;  // padding
  uint32_t after = 0;   // padding; with `ceil` windows may begin in it and end beyond it
  uint32_t dilation = 1;
  bool ceil = false;

  uint32_t span() const { return (size - 1) * dilation + 1; }
  uint32_t padded() const { return extent + before + after; }
  // How many windows there are. REQUIRES that the first one fits.
  uint32_t count() const;
  // Elements of the padded image that windows need, at least padded().
  uint32_t needed() const;
};

struct Windows {
  WindowAxis down = {};
  WindowAxis across = {};

  uint32_t count() const { return down.count() * across.count(); }
};

// Attributes of images, and of windows.
std::vector<OperationInfo::AttributeInfo> ImageAttributes();
std::vector<OperationInfo::AttributeInfo> WindowAttributes();

// The attribute `name`, from `least` to 2^31 - 1.
Result<uint32_t> CountAttribute(const Call& call, const char* name, int64_t least);
// The attribute `name`: two numbers from `least` to 2^31 - 1, or one for both; none: `standard`.
Result<std::array<uint32_t, 2>> PairAttribute(const Call& call, const char* name, int64_t least,
                                              uint32_t standard);
// Input 0 by the attributes of images. Its elements are bfloat16, bfp8 or float32.
Result<ImageShape> ImagesOf(const Call& call);
// Windows of `size` by the attributes of windows.
Result<Windows> WindowsOf(const Call& call, const ImageShape& images,
                          const std::array<uint32_t, 2>& size, bool ceil);

// Elements that move: those of bfp8 as bfloat16.
Tensor Movable(const Composition& steps, const Tensor& x);

// Images with padding, in layout row_major: [groups * images, height, width * channels of a group].
struct PaddedImages {
  Tensor tensor;
  uint32_t images;
  uint32_t channels;  // of a group
  uint32_t width;     // of an image, in pixels
  uint32_t height;
};
// The extents of `windows` are those of the images or less: what is beyond them is left out. `value` is one of
// bfloat16.
PaddedImages PadImages(const Composition& steps, const Tensor& x, const ImageShape& images,
                       const Windows& windows, uint32_t groups, float value);

// Pixel (y, x) of each window, [1, 1, all windows, channels]. REQUIRES one group.
Tensor PixelsOf(const Composition& steps, const PaddedImages& padded, const Windows& windows,
                uint32_t y, uint32_t x);
// All pixels of each window in a row: [1, 1, windows, pixels * channels], of several groups [groups, windows, ...].
Tensor PatchesOf(const Composition& steps, const PaddedImages& padded, const Windows& windows,
                 uint32_t groups);

}  // namespace ttfd::tensor
