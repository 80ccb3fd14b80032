// Files: what is written is listed, what is damaged is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "client/ttmlir/src/file.h"
#include "client/ttmlir/src/json.h"
#include "client/ttmlir/src/verify.h"
#include "tests/support/compiled_file.h"
#include "tests/support/temporary_folder.h"

namespace ttfd::ttmlir::ttmlir_file_test {
namespace {

using client::Code;
using Json = nlohmann::json;

Bytes BytesOfText(const std::string& text) {
  return Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

std::string JsonOf(const Record& record) {
  std::string text;
  WriteJsonOf(record, [&text](std::string_view part) { text += part; });
  return text;
}

std::shared_ptr<const Profile> ProfileNamed(const std::string& name) {
  auto profile = Profile::Read(ProfileFolder(), name);
  EXPECT_TRUE(profile.ok()) << profile.status().ToString();
  return *std::move(profile);
}

// Every field that was written has its value; fields that were not have defaults, which are not compared.
void ExpectContains(const Json& read, const Json& written, const std::string& place) {
  if (written.is_object()) {
    for (const auto& [name, value] : written.items()) {
      ASSERT_TRUE(read.contains(name)) << place << "." << name;
      ExpectContains(read[name], value, fmt::format("{}.{}", place, name));
    }
  } else if (written.is_array()) {
    ASSERT_EQ(read.size(), written.size()) << place;
    for (size_t i = 0; i < written.size(); ++i) {
      ExpectContains(read[i], written[i], fmt::format("{}[{}]", place, i));
    }
  } else if (written.is_number_float()) {
    EXPECT_FLOAT_EQ(read.get<float>(), written.get<float>()) << place;
  } else {
    EXPECT_EQ(read, written) << place;
  }
}

// A property: random files of every profile have what was written, and every member of every union is among them.
TEST(CompiledFile, HasWhatWasWritten) {
  Profiles profiles(ProfileFolder());
  uint32_t turn = 0;
  for (const std::string& name : ProfilesIn(ProfileFolder())) {
    const auto profile = ProfileNamed(name);
    for (uint32_t seed = 0; seed < 40; ++seed) {
      Random random(seed);
      const Json written = RandomCompiledRoot(*profile, 5, turn += 5, &random);
      const std::string bytes = WriteCompiledFile(*profile, written);
      const auto file = OpenFile(BytesOfText(bytes), &profiles);
      ASSERT_TRUE(file.ok()) << name << " " << seed << ": " << file.status().ToString();
      EXPECT_EQ(file->profile_name, name);
      ASSERT_NO_FATAL_FAILURE(ExpectContains(Json::parse(JsonOf(file->root)), written, name));
    }
  }
}

// One of the files of 2024, small enough to be written by hand.
Json SmallProgram() {
  const Json tensor = {{"global_id", 1}, {"desc", {{"shape", {64, 128}}}}};
  return {{"version", {{"major", 1}, {"minor", 2}, {"patch", 3}}},
          {"ttmlir_git_hash", "f9a26264effcd5a1216d2d0f2c63170c1c3ce798"},
          {"programs",
           {{{"name", "forward"},
             {"inputs", {tensor}},
             {"operations",
              {{{"type_type", "SoftmaxOp"},
                {"type", {{"in", tensor}, {"out", tensor}, {"dimension", -1}}},
                {"debug_info", "%1 = softmax loc(\"a.mlir\":3:4)"}}}}}}}};
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes) {
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  std::string path() const { return folder_.path() + "/file"; }

 private:
  TemporaryFolder folder_;
};

TEST(CompiledFile, IsListed) {
  const auto profile = ProfileNamed("ttnn-f9a26264effc");
  const TemporaryFile file(WriteCompiledFile(*profile, SmallProgram()));
  const auto binary = Binary::Load(file.path());
  ASSERT_TRUE(binary.ok()) << binary.status().ToString();
  EXPECT_EQ(binary->kind(), Kind::kTtnn);
  EXPECT_EQ(binary->version(), "1.2.3");
  EXPECT_EQ(binary->profile(), "ttnn-f9a26264effc");
  EXPECT_EQ(binary->schema_hash(), "");
  ASSERT_EQ(binary->programs().size(), 1U);
  EXPECT_EQ(binary->programs()[0].inputs[0].ToString(), "%1  [64,128]");
  const auto operations = binary->Operations(0);
  ASSERT_EQ(operations.size(), 1U);
  EXPECT_EQ(operations[0].type, "SoftmaxOp");
  EXPECT_EQ(operations[0].location, "a.mlir:3:4");
  ASSERT_EQ(operations[0].operands.size(), 1U);
  ASSERT_EQ(operations[0].results.size(), 1U);
  const std::pair<std::string, std::string> dimension = {"dimension", "-1"};
  EXPECT_EQ(operations[0].attributes, std::vector{dimension});
  EXPECT_TRUE(binary->Operations(1).empty());
  EXPECT_TRUE(binary->Kernels(0).empty());
}

TEST(CompiledFile, IsRefusedWithItsReason) {
  const auto profile = ProfileNamed("ttnn-f9a26264effc");
  const std::string good = WriteCompiledFile(*profile, SmallProgram());
  const auto changed = [&](const std::function<void(std::string*)>& change) {
    std::string bytes = good;
    change(&bytes);
    return bytes;
  };
  Json other = SmallProgram();
  other["ttmlir_git_hash"] = std::string(40, 'b');
  const size_t text = good.find("forward");
  const struct {
    std::string bytes;
    Code code;
    const char* problem;
  } kCases[] = {
      {"", Code::kInvalidArgument, "is empty"},
      {"short", Code::kInvalidArgument, "bytes 8 to 11"},
      {changed([](auto* b) { (*b)[8] = 'X'; }), Code::kInvalidArgument, "bytes 8 to 11"},
      {good.substr(0, good.size() - 1), Code::kInvalidArgument, "truncated"},
      {good + " ", Code::kInvalidArgument, "truncated"},
      {WriteCompiledFile(*profile, other), Code::kUnimplemented, "there is no profile"},
      {changed([](auto* b) { (*b)[b->find("f9a26264")] = '/'; }), Code::kInvalidArgument,
       "neither the hash"},
      {changed([&](auto* b) { (*b)[text + 7] = 'x'; }), Code::kInvalidArgument,
       "programs[0].name: a text does not end"},
      {changed([&](auto* b) { (*b)[text - 2] = 'x'; }), Code::kInvalidArgument,
       "programs[0].name: a list or text lies beyond"},
  };
  for (const auto& [bytes, code, problem] : kCases) {
    const TemporaryFile file(bytes);
    const auto binary = Binary::Load(file.path());
    ASSERT_FALSE(binary.ok()) << problem;
    EXPECT_EQ(binary.status().code(), code) << problem;
    EXPECT_NE(binary.status().message().find(problem), std::string::npos)
        << binary.status().ToString();
    EXPECT_TRUE(binary.status().message().starts_with(file.path()));
  }
  EXPECT_EQ(Binary::Load("/nonexistent").status().code(), Code::kNotFound);
  EXPECT_EQ(Binary::Load("/dev/null").status().code(), Code::kInvalidArgument);
}

// Tables are nested, or shared by many: both are bounded.
TEST(Verifier, BoundsDepthAndTotal) {
  const auto profile = Profile::Parse(
      "file TTNN\nhash 0\nroot Node\ntable Node next@0:Node children@1:[Node] text@2:text\n");
  ASSERT_TRUE(profile.ok());
  const auto nested = [&](int depth) {
    Json node = Json::object();
    for (int i = 0; i < depth; ++i) node = {{"next", node}};
    return Verify(BytesOfText(WriteCompiledFile(**profile, node)), **profile);
  };
  EXPECT_TRUE(nested(kMaxDepth - 1).ok());
  EXPECT_NE(nested(kMaxDepth).message().find("64 deep"), std::string::npos);
  // Both children of each node become the same one: 2^20 ways lead to the last.
  Json node = Json::object();
  for (int i = 0; i < 20; ++i) node = {{"children", Json::array({node, Json::object()})}};
  std::string bytes = WriteCompiledFile(**profile, node);
  EXPECT_TRUE(Verify(BytesOfText(bytes), **profile).ok());
  for (Record at = RootOf(BytesOfText(bytes), **profile); at.Has("children");) {
    const List children = at.Items("children");
    at = children.Child(0);
    const uint64_t second = children.PlaceOf(1);
    const auto offset = static_cast<uint32_t>(at.at() - second);
    std::memcpy(bytes.data() + second, &offset, sizeof(offset));
  }
  EXPECT_NE(Verify(BytesOfText(bytes), **profile).message().find("values are reached"),
            std::string::npos);
}

}  // namespace
}  // namespace ttfd::ttmlir::ttmlir_file_test
