// The header of a .npy file is a line of Python: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
#include "client/cli/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace ttfd::cli {
namespace {

using client::Code;
using client::Result;
using client::Status;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kVersionAt = 6;
constexpr size_t kLengthAt = 8;

Status Invalid(const std::string& message) { return Status(Code::kInvalidArgument, message); }

// The value of `key` in the header: up to a comma, or to the end of the bracket that it begins with.
std::optional<std::string_view> ValueOf(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
  const size_t end = rest.starts_with('(') ? rest.find(')') : rest.find_first_of(",}");
  if (end == std::string_view::npos) return std::nullopt;
  return rest.starts_with('(') ? rest.substr(1, end - 1) : rest.substr(0, end);
}

std::optional<std::vector<uint32_t>> ShapeOf(std::string_view text) {
  std::vector<uint32_t> shape;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty()) break;
    uint32_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc()) return std::nullopt;
    shape.push_back(extent);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  if (shape.empty()) shape.push_back(1);
  return shape;
}

template <typename Element>
void Convert(std::span<const std::byte> from, NpyArray* array) {
  array->numbers.resize(from.size() / sizeof(Element));
  for (size_t i = 0; i < array->numbers.size(); ++i) {
    Element element;
    std::memcpy(&element, &from[i * sizeof(Element)], sizeof(Element));
    array->numbers[i] = static_cast<float>(element);
  }
}

void TakeIntegers(std::span<const std::byte> from, NpyArray* array) {
  array->integers.resize(from.size() / sizeof(uint32_t));
  if (!from.empty()) std::memcpy(array->integers.data(), from.data(), from.size());
}

struct ElementType {
  std::string_view name;
  size_t bytes;
  void (*convert)(std::span<const std::byte> from, NpyArray* array);
};
constexpr ElementType kTypes[] = {
    {"'<f4'", 4, Convert<float>},   {"'<f8'", 8, Convert<double>},
    {"'|b1'", 1, Convert<uint8_t>}, {"'|u1'", 1, Convert<uint8_t>},
    {"'|i1'", 1, Convert<int8_t>},  {"'<u2'", 2, Convert<uint16_t>},
    {"'<i2'", 2, Convert<int16_t>}, {"'<u4'", 4, TakeIntegers},
    {"'<i4'", 4, Convert<int32_t>}, {"'<u8'", 8, Convert<uint64_t>},
    {"'<i8'", 8, Convert<int64_t>},
};

// Splits a file into header and elements.
Result<std::string_view> HeaderOf(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic) || file.size() < kLengthAt + sizeof(uint32_t)) {
    return Invalid("it is no .npy file");
  }
  const auto version = std::to_integer<uint32_t>(file[kVersionAt]);
  if (version < 1 || version > 3) {
    return Invalid(fmt::format("version {} of .npy is not known; 1 to 3 are", version));
  }
  uint16_t short_length = 0;
  uint32_t length = 0;
  std::memcpy(&short_length, &file[kLengthAt], sizeof(short_length));
  std::memcpy(&length, &file[kLengthAt], sizeof(length));
  const size_t begin = kLengthAt + (version == 1 ? sizeof(short_length) : sizeof(length));
  if (version == 1) length = short_length;
  if (length > file.size() - begin) return Invalid("its header is cut");
  return text.substr(begin, length);
}

}  // namespace

Result<NpyArray> ParseNpy(std::span<const std::byte> file) {
  const Result<std::string_view> header = HeaderOf(file);
  if (!header.ok()) return header.status();
  const auto order = ValueOf(*header, "'fortran_order'");
  const auto name = ValueOf(*header, "'descr'");
  const auto shape_text = ValueOf(*header, "'shape'");
  if (!order || !name || !shape_text)
    return Invalid("its header lacks descr, fortran_order or shape");
  if (*order != "False") {
    return Invalid("it is in Fortran order; save numpy.ascontiguousarray(array)");
  }
  const auto* const type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                        [&](const ElementType& one) { return one.name == *name; });
  if (type == std::end(kTypes)) {
    return Invalid(
        fmt::format("elements of type {} are not supported; save array.astype('float32')", *name));
  }
  std::optional<std::vector<uint32_t>> shape = ShapeOf(*shape_text);
  if (!shape) return Invalid(fmt::format("({}) is no shape", *shape_text));

  const auto elements = file.subspan(static_cast<size_t>(
      header->data() + header->size() - reinterpret_cast<const char*>(file.data())));
  uint64_t bytes = type->bytes;
  for (const uint32_t extent : *shape) {
    if (extent != 0 && bytes > elements.size() / extent) return Invalid("its elements are cut");
    bytes *= extent;
  }
  if (bytes != elements.size()) return Invalid("it has more bytes than its shape");
  NpyArray array = {*std::move(shape)};
  type->convert(elements, &array);
  return array;
}

std::vector<std::byte> NpyOf(const NpyArray& array) {
  constexpr size_t kAlignment = 64;  // of the elements
  std::string head(kMagic);
  head += std::string("\x01\x00\x00\x00", 4);  // version 1, the length
  head += fmt::format("{{'descr': '<{}4', 'fortran_order': False, 'shape': ({},), }}",
                      array.integers.empty() ? 'f' : 'u', fmt::join(array.shape, ", "));
  head.append(kAlignment - 1 - head.size() % kAlignment, ' ');
  head += '\n';
  const auto length = static_cast<uint16_t>(head.size() - kLengthAt - sizeof(uint16_t));
  std::memcpy(&head[kLengthAt], &length, sizeof(length));
  const auto numbers = array.integers.empty() ? std::as_bytes(std::span(array.numbers))
                                              : std::as_bytes(std::span(array.integers));
  std::vector<std::byte> file(head.size() + numbers.size());
  std::memcpy(file.data(), head.data(), head.size());
  std::copy(numbers.begin(), numbers.end(), file.begin() + static_cast<ptrdiff_t>(head.size()));
  return file;
}

Result<NpyArray> ReadNpy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) return Status(Code::kNotFound, "cannot read " + path);
  Result<NpyArray> array = ParseNpy(std::as_bytes(std::span(bytes)));
  return array.ok() ? std::move(array) : Invalid(path + ": " + array.status().message());
}

Status WriteNpy(const std::string& path, const NpyArray& array) {
  const std::vector<std::byte> bytes = NpyOf(array);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.flush() ? Status() : Status(Code::kUnknown, "cannot write " + path);
}

}  // namespace ttfd::cli
