// NumPy's files: what is written is read, what numpy.save writes is read, anything else is refused with the reason.
#include <gtest/gtest.h>

#include <cstring>

#include "client/cli/npy.h"

namespace ttfd::cli::client_npy_test {
namespace {

std::vector<std::byte> BytesOf(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// A file as numpy.save writes it: version 1.
std::vector<std::byte> FileOf(const std::string& dictionary, const std::string& elements) {
  const std::string header = dictionary + "\n";
  const char length[] = {static_cast<char>(header.size()), 0};
  return BytesOf("\x93NUMPY" + std::string("\x01\x00", 2) + std::string(length, 2) + header +
                 elements);
}

TEST(CtlNpy, ComesBackAsWritten) {
  for (const std::vector<uint32_t>& shape :
       {std::vector<uint32_t>{1}, {5}, {2, 3}, {4, 1, 2, 3, 1}, {0, 3}}) {
    NpyArray array = {shape, {}};
    size_t count = 1;
    for (const uint32_t extent : shape) count *= extent;
    for (size_t i = 0; i < count; ++i) array.numbers.push_back(static_cast<float>(i) / 3);
    const std::vector<std::byte> file = NpyOf(array);
    const client::Result<NpyArray> read = ParseNpy(file);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(read->shape, shape);
    EXPECT_EQ(read->numbers, array.numbers);
    EXPECT_EQ((file.size() - count * sizeof(float)) % 64, 0u);
    for (size_t size = 0; size < file.size(); ++size) {
      EXPECT_FALSE(ParseNpy(std::span(file).first(size)).ok()) << size;
    }
  }
}

TEST(CtlNpy, ReadsIntegersAndArraysWithoutDimensions) {
  const auto shorts = ParseNpy(FileOf("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }",
                                      std::string("\xff\xff\x00\x01", 4)));
  ASSERT_TRUE(shorts.ok()) << shorts.status().ToString();
  EXPECT_EQ(shorts->numbers, (std::vector<float>{-1, 256}));
  const auto words = ParseNpy(FileOf("{'descr': '<u4', 'fortran_order': False, 'shape': (1,), }",
                                     std::string("\xff\xff\xff\xff", 4)));
  ASSERT_TRUE(words.ok()) << words.status().ToString();
  EXPECT_EQ(words->integers, std::vector<uint32_t>{UINT32_MAX});
  EXPECT_EQ(ParseNpy(NpyOf(*words))->integers, words->integers);
  const auto scalar = ParseNpy(
      FileOf("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", std::string("\x07", 1)));
  ASSERT_TRUE(scalar.ok()) << scalar.status().ToString();
  EXPECT_EQ(scalar->shape, std::vector<uint32_t>{1});
  EXPECT_EQ(scalar->numbers, std::vector<float>{7});
}

TEST(CtlNpy, SaysWhatIsWrong) {
  const std::pair<std::vector<std::byte>, const char*> cases[] = {
      {BytesOf("PK\x03\x04 an archive of NumPy"), "it is no .npy file"},
      {BytesOf("\x93NUMPY\x09\x01\x01\x01\x01\x01\x01"),
       "version 9 of .npy is not known; 1 to 3 are"},
      {FileOf("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "1234"),
       "it is in Fortran order; save numpy.ascontiguousarray(array)"},
      {FileOf("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "1234"),
       "elements of type '>f4' are not supported; save array.astype('float32')"},
      {FileOf("{'descr': '<f4', 'shape': (1,), }", "1234"),
       "its header lacks descr, fortran_order or shape"},
      {FileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }", "1234"),
       "(x,) is no shape"},
      {FileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967295, 4294967295), }",
              "1234"),
       "its elements are cut"},
      {FileOf("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "12345"),
       "it has more bytes than its shape"},
  };
  for (const auto& [file, message] : cases) EXPECT_EQ(ParseNpy(file).status().message(), message);
}

}  // namespace
}  // namespace ttfd::cli::client_npy_test
