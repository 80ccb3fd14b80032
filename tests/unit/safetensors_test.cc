// Files in the format safetensors, read and refused.
#include "ttfd/tensor/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace ttfd::tensor {
namespace {

class SafetensorsFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A file of these bytes; its path.
  std::string Write(const std::string& bytes) {
    std::string path = folder_ / "model.safetensors";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // The same of a header and data.
  std::string Write(const std::string& header, const std::string& data) {
    const uint64_t length = header.size();
    return Write(std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + header +
                 data);
  }

  std::filesystem::path folder_ = [] {
    std::string name = std::filesystem::temp_directory_path() / "safetensors-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return std::filesystem::path(name);
  }();
};

template <typename Element>
std::string BytesOf(const std::vector<Element>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(Element)};
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(SafetensorsFile, AreReadByName) {
  const std::string path = Write(
      R"({"__metadata__":{"format":"pt"},)"
      R"("b":{"dtype":"BF16","shape":[2,2],"data_offsets":[12,20]},)"
      R"("a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
      R"("h":{"dtype":"F16","shape":[7],"data_offsets":[20,34]},)"
      R"("none":{"dtype":"F32","shape":[4,0],"data_offsets":[34,34]},)"
      R"("i":{"dtype":"I64","shape":[],"data_offsets":[34,42]}} )",
      BytesOf<float>({1.5F, -0.0F, 1e-40F}) + BytesOf<uint16_t>({0x3F80, 0xC000, 0x7F80, 0x0001}) +
          BytesOf<uint16_t>({0x3C00, 0xC500, 0x0001, 0x83FF, 0x7BFF, 0xFC00, 0x0400}) +
          BytesOf<int64_t>({7}));
  const Result<Safetensors> file = Safetensors::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  std::vector<std::string> names;
  for (const Safetensors::Entry& entry : file->entries()) names.push_back(entry.name);
  EXPECT_EQ(names, std::vector<std::string>({"a", "b", "h", "i", "none"}));

  const auto read = [&](const char* name) { return *file->Read(*file->Find(name)); };
  EXPECT_EQ(read("a"), std::vector<float>({1.5F, -0.0F, 1e-40F}));
  EXPECT_EQ(file->Find("b")->shape, std::vector<uint64_t>({2, 2}));
  EXPECT_EQ(read("b"), std::vector<float>({1, -2, std::numeric_limits<float>::infinity(),
                                           std::ldexp(1.0F, -133)}));
  EXPECT_EQ(read("h"),
            std::vector<float>({1, -5, std::ldexp(1.0F, -24), std::ldexp(-1023.0F, -24), 65504,
                                -std::numeric_limits<float>::infinity(), std::ldexp(1.0F, -14)}));
  EXPECT_TRUE(read("none").empty());
  EXPECT_EQ(file->Find("c"), nullptr);
  const Status integers = file->Read(*file->Find("i")).status();
  EXPECT_EQ(integers.message(), "tensor \"i\" is I64; it must be F32, F16 or BF16");
  std::vector<float> few(2);
  EXPECT_EQ(file->Read(*file->Find("a"), few).message(), "tensor \"a\" has 3 elements, not 2");
}

TEST_F(SafetensorsFile, MayHaveTensorsWithoutElements) {
  for (const char* const shape : {"[0]", "[4,0]", "[0,4]", "[2,0,3]"}) {
    const Result<Safetensors> file = Safetensors::Open(Write(
        std::string(R"({"a":{"dtype":"F32","shape":)") + shape + R"(,"data_offsets":[0,0]}})", ""));
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_TRUE(file->Read(*file->Find("a"))->empty());
  }
}

TEST_F(SafetensorsFile, ThatShrinkAreAnError) {
  const std::string path =
      Write(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", std::string(8, '\0'));
  const Result<Safetensors> file = Safetensors::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  std::filesystem::resize_file(path, 60);
  EXPECT_EQ(file->Read(*file->Find("a")).status().code(), Code::kUnavailable);
}

TEST_F(SafetensorsFile, AreRefusedWithAReason) {
  constexpr const char* kNoObject = "the header is no JSON object in which each name is there once";
  const auto tensor = [](const std::string& fields) { return "{\"a\":{" + fields + "}}"; };
  const struct {
    std::string header;
    size_t data;
    std::string message;
  } cases[] = {
      {"[]", 0, kNoObject},
      {"{\"a\":", 0, kNoObject},
      {"{\"\xFF\":1}", 0, kNoObject},
      {std::string(100'000, '['), 0, kNoObject},
      {"{\"a\":3}", 0, "tensor \"a\" does not have a dtype, a shape and two data_offsets"},
      {tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4,
       "tensor \"a\" does not have a dtype, a shape and two data_offsets"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), 4,
       "tensor \"a\" does not have a dtype, a shape and two data_offsets"},
      {tensor(R"("dtype":"F4","shape":[1],"data_offsets":[0,4])"), 4,
       "tensor \"a\" has the unknown dtype \"F4\""},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), 4,
       "tensor \"a\" lies outside of the file"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"), 4,
       "tensor \"a\" lies outside of the file"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4,
       "tensor \"a\" has 4 bytes, which are not those of its shape"},
      {" {}", 0, kNoObject},
      {"{\"a\":{},\"a\":{}}", 0, kNoObject},
      {tensor(R"("dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1])"), 1, kNoObject},
      {"{\"__metadata__\":{\"a\":1}}", 0, "__metadata__ is no object of strings"},
      {tensor(R"("dtype":"U8","shape":[0,4611686018427387904,2],"data_offsets":[0,0])"), 0,
       "tensor \"a\" has 0 bytes, which are not those of its shape"},
      {tensor(R"("dtype":"U8","shape":[1)" + Repeated(",1", 32) + R"(],"data_offsets":[0,1])"), 1,
       "tensor \"a\" has 33 extents; at most 32 are allowed"},
      {tensor(R"("dtype":"U8","shape":[4294967296,4294967296,4],"data_offsets":[0,4])"), 4,
       "tensor \"a\" has 4 bytes, which are not those of its shape"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), 8,
       "tensor \"a\" begins at byte 4, the one before it ends at 0"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), 8,
       "the tensors end at byte 4 of 8"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       4, "tensor \"b\" begins at byte 2, the one before it ends at 3"},
  };
  for (const auto& [header, data, message] : cases) {
    const std::string path = Write(header, std::string(data, '\0'));
    const Status status = Safetensors::Open(path).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    const std::string start = path + ": ";
    EXPECT_TRUE(status.message().starts_with(start)) << status.message();
    EXPECT_EQ(status.message().substr(start.size()), message);
  }
}

TEST_F(SafetensorsFile, AreNamedWhereThereIsNone) {
  EXPECT_EQ(Safetensors::Open(Write("1234")).status().message(),
            Write("1234") + ": it has fewer than 8 bytes");
  EXPECT_EQ(Safetensors::Open(Write(std::string(8, '\x7F') + "{}")).status().message(),
            Write("") +
                ": the header would have 9187201950435737471 bytes; the file has 10, and "
                "100,000,000 are the most");
  EXPECT_EQ(Safetensors::Open(folder_).status().message(),
            folder_.string() + ": it is not a regular file");
  EXPECT_EQ(Safetensors::Open(folder_ / "none").status().code(), Code::kNotFound);
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(Safetensors::Open(fifo).status().message(), fifo + ": it is not a regular file");
}

}  // namespace
}  // namespace ttfd::tensor
