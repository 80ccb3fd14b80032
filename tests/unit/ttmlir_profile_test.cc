// Profiles: what is read of them, and what is refused.
#include <gtest/gtest.h>

#include "client/ttmlir/src/profile.h"
#include "ttfd/ttmlir/binary.h"

namespace ttfd::ttmlir::ttmlir_profile_test {
namespace {

TEST(Profile, HasSlotsTypesAndDefaults) {
  const auto profile = Profile::Parse(R"(
# a comment
file TTNN
hash 00
root Root
enum Type u16 A=0 B=7
struct Pair 8 y@0:i32 x@4:i32
union Any First=1:Leaf Second=4:Root
table Leaf
table Root number@0:i32=-5 kind@1:Type? pairs@2:[Pair] any@4:Any name@5:text share@6:f32=0.5
)");
  ASSERT_TRUE(profile.ok()) << profile.status().ToString();
  const Definition& root = (*profile)->root();
  EXPECT_EQ(root.FieldNamed("number")->standard, -5);
  EXPECT_EQ(root.FieldNamed("share")->standard, 0.5);
  EXPECT_TRUE(root.FieldNamed("kind")->optional);
  EXPECT_EQ(root.FieldNamed("kind")->type.definition->MemberOf(7)->name, "B");
  EXPECT_TRUE(root.FieldNamed("pairs")->type.list);
  EXPECT_EQ(root.FieldNamed("pairs")->type.definition->bytes, 8);
  EXPECT_EQ(root.FieldNamed("any")->type.definition->MemberOf(4)->table, &root);
  EXPECT_EQ(root.FieldNamed("any")->place, 4);
  EXPECT_EQ(root.FieldNamed("none"), nullptr);
}

TEST(Profile, RefusesWhatIsNotOne) {
  const struct {
    const char* text;
    const char* problem;
  } kCases[] = {
      {"root Root", "root is not a table"},
      {"root Kind\nenum Kind u8 A=0", "root is not a table"},
      {"root Root\ntable Root a@0:Other", "uses Other"},
      {"root Root\ntable Root a:u8", "not a record"},
      {"root Root\ntable Root a@0:u8=x", "not a record"},
      {"root Root\ntable Root a@99999:u8", "not a record"},
      {"root Root\nbogus Root", "not a record"},
      {"root Root\nenum Kind f32 A=0", "not a record"},
      {"root Root\nunion Any A=1\ntable Root", "not a record"},
      {"root Root\nunion Any A=1:Kind\nenum Kind u8\ntable Root", "is not a table"},
      {"root Root\nunion Any A=1:Root\ntable Root a@0:Any", "cannot lie there"},
      {"root Root\ntable Root\nstruct Pair 4 x@2:i32", "cannot lie there"},
      {"root Root\ntable Root\nstruct Pair 8 x@0:Pair", "cannot lie there"},
      {"root Root\ntable Root\nstruct Pair 8 x@0:text", "cannot lie there"},
      {"root Root\ntable Root\nstruct Pair 8 x@0:[u8]", "cannot lie there"},
      {"extends other\nroot Root\ntable Root", "at most"},
  };
  for (const auto& [text, problem] : kCases) {
    const auto profile = Profile::Parse(text);
    ASSERT_FALSE(profile.ok()) << text;
    EXPECT_NE(profile.status().message().find(problem), std::string::npos)
        << profile.status().ToString();
  }
}

TEST(Profile, ThoseOfTheInstallationAreComplete) {
  const std::string folder = ProfileFolder();
  const std::vector<std::string> names = ProfilesIn(folder);
  ASSERT_GE(names.size(), 25U);
  for (const std::string& name : names) {
    const auto profile = Profile::Read(folder, name);
    ASSERT_TRUE(profile.ok()) << profile.status().ToString();
    EXPECT_EQ(name.substr(name.find('-') + 1), (*profile)->hash().substr(0, 12));
  }
}

}  // namespace
}  // namespace ttfd::ttmlir::ttmlir_profile_test
