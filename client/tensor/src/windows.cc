// Images and windows as moves of elements.
#include "client/tensor/src/windows.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ttfd::tensor {
namespace {

using Integers = std::vector<int64_t>;

constexpr int64_t kMostOfAttribute = INT32_MAX;

// The attribute `padding`: before and after the images in each direction.
Result<std::array<uint32_t, 4>> PaddingAttribute(const Call& call) {
  const auto& given = call.attribute<Integers>("padding");
  const bool is_valid = std::all_of(given.begin(), given.end(), [](int64_t number) {
    return number >= 0 && number <= kMostOfAttribute;
  });
  if (!is_valid || (given.size() != 0 && given.size() != 2 && given.size() != 4)) {
    return call.Error("padding", "is " + ListText(given) +
                                     "; it must be two numbers, of height and width, or four: "
                                     "above, below, left, right; at least 0");
  }
  const auto at = [&](size_t i) { return static_cast<uint32_t>(given[i]); };
  if (given.empty()) return std::array<uint32_t, 4>{};
  if (given.size() == 2) return std::array<uint32_t, 4>{at(0), at(0), at(1), at(1)};
  return std::array<uint32_t, 4>{at(0), at(1), at(2), at(3)};
}

uint32_t BitsOfNumber(float value, DType dtype) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return dtype == DType::kBFloat16 ? bits >> 16 : bits;
}

}  // namespace

uint32_t WindowAxis::count() const {
  const uint64_t rest = uint64_t{padded()} - span();
  uint64_t windows = (ceil ? rest + stride - 1 : rest) / stride + 1;
  if (ceil && (windows - 1) * stride >= uint64_t{extent} + before) --windows;
  return static_cast<uint32_t>(windows);
}

uint32_t WindowAxis::needed() const {
  return std::max<uint32_t>(padded(), (count() - 1) * stride + span());
}

std::vector<OperationInfo::AttributeInfo> ImageAttributes() {
  return {{"batch_size", int64_t{0}, "images of x; 0: x is [images, height, width, channels]"},
          {"input_height", int64_t{0}, "of an image, where x is [1, 1, all pixels, channels]"},
          {"input_width", int64_t{0}, "of an image, where x is [1, 1, all pixels, channels]"}};
}

std::vector<OperationInfo::AttributeInfo> WindowAttributes() {
  return {{"stride", Integers(), "from window to window, in height and width; empty: 1"},
          {"padding", Integers(), "around images, in height and width, or on four sides"},
          {"dilation", Integers(), "from pixel to pixel of a window; empty: 1"}};
}

Result<uint32_t> CountAttribute(const Call& call, const char* name, int64_t least) {
  const int64_t value = call.attribute<int64_t>(name);
  if (value >= least && value <= kMostOfAttribute) return static_cast<uint32_t>(value);
  return call.Error(name, "is " + std::to_string(value) + "; it must be " + std::to_string(least) +
                              " to " + std::to_string(kMostOfAttribute));
}

Result<std::array<uint32_t, 2>> PairAttribute(const Call& call, const char* name, int64_t least,
                                              uint32_t standard) {
  const auto& given = call.attribute<Integers>(name);
  if (given.empty()) return std::array<uint32_t, 2>{standard, standard};
  const bool is_valid = std::all_of(given.begin(), given.end(), [least](int64_t number) {
    return number >= least && number <= kMostOfAttribute;
  });
  if (is_valid && given.size() <= 2) {
    return std::array<uint32_t, 2>{static_cast<uint32_t>(given.front()),
                                   static_cast<uint32_t>(given.back())};
  }
  return call.Error(name, "is " + ListText(given) +
                              "; it must be two numbers, of height and width, " +
                              std::to_string(least) + " at least");
}

Result<ImageShape> ImagesOf(const Call& call) {
  if (call.spec(0).dtype == DType::kUInt32) {
    return call.InputError(0, "the dtype must be bfloat16, float32 or bfp8");
  }
  const Shape& shape = call.spec(0).shape;
  ImageShape images;
  for (const auto& [name, extent] : {std::pair("batch_size", &images.images),
                                     {"input_height", &images.height},
                                     {"input_width", &images.width}}) {
    const Result<uint32_t> count = CountAttribute(call, name, 0);
    if (!count.ok()) return count.status();
    *extent = *count;
  }
  if (shape.rank() == 4 && images.images == 0 && images.height == 0 && images.width == 0) {
    return ImageShape{shape[0], shape[1], shape[2], shape[3]};
  }
  images.channels = shape.columns();
  const uint64_t pixels = uint64_t{images.images} * images.height;
  if (shape.rank() == 4 && pixels <= UINT32_MAX &&
      pixels * images.width == shape.elements() / shape.columns()) {
    return images;
  }
  return call.InputError(0, "it must have four extents, images, height, width, channels, or the " +
                                std::to_string(images.images) + " images of " +
                                std::to_string(images.height) + " x " +
                                std::to_string(images.width) + " pixels of its attributes");
}

Result<Windows> WindowsOf(const Call& call, const ImageShape& images,
                          const std::array<uint32_t, 2>& size, bool ceil) {
  const auto stride = PairAttribute(call, "stride", 1, 1);
  if (!stride.ok()) return stride.status();
  const auto dilation = PairAttribute(call, "dilation", 1, 1);
  if (!dilation.ok()) return dilation.status();
  const auto padding = PaddingAttribute(call);
  if (!padding.ok()) return padding.status();
  Windows windows;
  const uint32_t extents[] = {images.height, images.width};
  WindowAxis* const axes[] = {&windows.down, &windows.across};
  for (size_t i = 0; i < 2; ++i) {
    WindowAxis& axis = *axes[i];
    axis = {extents[i],     size[i], (*stride)[i], (*padding)[2 * i], (*padding)[2 * i + 1],
            (*dilation)[i], ceil};
    const uint64_t padded = uint64_t{axis.extent} + axis.before + axis.after;
    const uint64_t span = uint64_t{axis.size - 1} * axis.dilation + 1;
    if (padded <= kMostOfAttribute && span <= padded) continue;
    return call.InputError(0, std::string("with the padding its ") + (i == 0 ? "height" : "width") +
                                  " must be at least that of a window, " + std::to_string(span) +
                                  ", and below 2^31");
  }
  return windows;
}

Tensor Movable(const Composition& steps, const Tensor& x) {
  return x.ok() && x.dtype() == DType::kBfp8 ? steps.Compute(x, {}, DType::kBFloat16) : x;
}

PaddedImages PadImages(const Composition& steps, const Tensor& x, const ImageShape& images,
                       const Windows& windows, uint32_t groups, float value) {
  const WindowAxis &down = windows.down, &across = windows.across;
  PaddedImages padded = {.tensor = x,
                         .images = images.images,
                         .channels = images.channels / groups,
                         .width = across.needed(),
                         .height = down.needed()};
  if (!x.ok()) return padded;
  const uint64_t pixel = images.channels, row = pixel * images.width;
  MoveSource source = {.levels = {{0, groups, padded.channels},
                                  {0, images.images, row * images.height},
                                  {down.before, down.before + down.extent, row},
                                  {across.before, across.before + across.extent, pixel},
                                  {0, padded.channels, 1}}};
  source.offset = 0 - down.before * row - across.before * pixel;
  const bool is_whole = padded.height == down.extent && padded.width == across.extent;
  const TensorSpec output = {
      {groups * images.images, padded.height, padded.width * padded.channels},
      x.dtype(),
      Layout::kRowMajor};
  padded.tensor =
      steps.Move({x}, output,
                 {.sizes = {groups, images.images, padded.height, padded.width, padded.channels},
                  .sources = {std::move(source)},
                  .filling = is_whole ? ops::MoveFilling::kNone : ops::MoveFilling::kValue,
                  .value = BitsOfNumber(value, x.dtype())});
  return padded;
}

Tensor PixelsOf(const Composition& steps, const PaddedImages& padded, const Windows& windows,
                uint32_t y, uint32_t x) {
  if (!padded.tensor.ok()) return padded.tensor;
  const uint64_t pixel = padded.channels, row = pixel * padded.width;
  const uint32_t rows = windows.down.count(), columns = windows.across.count();
  const MoveSource source = {
      .offset = y * windows.down.dilation * row + x * windows.across.dilation * pixel,
      .levels = {{0, padded.images, row * padded.height},
                 {0, rows, windows.down.stride * row},
                 {0, columns, windows.across.stride * pixel},
                 {0, padded.channels, 1}}};
  return steps.Move(
      {padded.tensor},
      {{1, 1, padded.images * rows * columns, padded.channels}, padded.tensor.dtype()},
      {.sizes = {padded.images, rows, columns, padded.channels}, .sources = {source}});
}

Tensor PatchesOf(const Composition& steps, const PaddedImages& padded, const Windows& windows,
                 uint32_t groups) {
  if (!padded.tensor.ok()) return padded.tensor;
  const WindowAxis &down = windows.down, &across = windows.across;
  const uint64_t pixel = padded.channels, row = pixel * padded.width;
  const uint32_t rows = down.count(), columns = across.count(), images = groups * padded.images;
  const MoveSource source = {.levels = {{0, images, row * padded.height},
                                        {0, rows, down.stride * row},
                                        {0, columns, across.stride * pixel},
                                        {0, down.size, down.dilation * row},
                                        {0, across.size, across.dilation * pixel},
                                        {0, padded.channels, 1}}};
  const uint32_t patches = padded.images * rows * columns;
  const uint32_t elements = down.size * across.size * padded.channels;
  const Shape shape =
      groups == 1 ? Shape{1, 1, patches, elements} : Shape{groups, patches, elements};
  return steps.Move({padded.tensor}, {shape, padded.tensor.dtype()},
                    {.sizes = {images, rows, columns, down.size, across.size, padded.channels},
                     .sources = {source}});
}

}  // namespace ttfd::tensor
