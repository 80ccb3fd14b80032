// Kernels compiled from source, by the cross compiler.
#include "client/ttmlir/src/kernel_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace ttfd::ttmlir::kernel_compiler_test {
namespace {

using client::Code;
using client::Processor;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr const char* kNoArguments =
    "#include <ttfd/metal/argument.h>\n"
    "namespace ttfd::metal {\n"
    "inline constexpr CompileTimeArgument kCompileTimeArguments[] = {{}};\n"
    "inline constexpr NamedArgument kNamedArguments[] = {{}};\n"
    "inline constexpr uint32_t kFirstCommonArgument = 0;\n"
    "inline constexpr uint32_t kFirstRuntimeArgument = 0;\n"
    "}\n"
    "#include <ttfd/metal.h>\n"
    "#line 1 \"ttfd_kernel\"\n";

class KernelCompilerTest : public testing::Test {
 protected:
  KernelCompilerTest()
      : folder_(testing::TempDir() + "/kernel_compiler_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~KernelCompilerTest() override { std::filesystem::remove_all(folder_); }

  client::Result<std::vector<KernelImage>> Compile(
      const std::string& text, milliseconds time = std::chrono::minutes(1)) const {
    return KernelCompiler(KernelCache(folder_), time)
        .Compile({"kernel 1 of command 2", kNoArguments + text, {Processor::kNcrisc}});
  }

  const std::filesystem::path folder_;
};

TEST_F(KernelCompilerTest, MakesAnImageWhichItKeeps) {
  const std::string text = "void kernel_main() { noc_async_write_barrier(); }";
  const auto made = Compile(text);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  ASSERT_EQ(made->size(), 1u);
  EXPECT_EQ(std::to_integer<char>(made->front()[1]), 'E');
  // There is no time for a compiler.
  const auto again = Compile(text, milliseconds(0));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(*again, *made);
  EXPECT_EQ(Compile(text + "\n// changed", milliseconds(0)).status().code(),
            Code::kDeadlineExceeded);
}

TEST_F(KernelCompilerTest, AnErrorNamesKernelAndLine) {
  const auto made = Compile("void kernel_main() {\n  no_such_function();\n}\n");
  EXPECT_EQ(made.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(made.status().message(), HasSubstr("kernel 1 of command 2:2:3: error: "));
  EXPECT_THAT(made.status().message(), HasSubstr("no_such_function"));
}

TEST_F(KernelCompilerTest, ACompilerThatDoesNotEndIsEnded) {
  const auto made = Compile(
      "template <int kDepth, long long kPath> struct Tree {\n"
      "  static constexpr int value = Tree<kDepth - 1, 2 * kPath>::value +\n"
      "                               Tree<kDepth - 1, 2 * kPath + 1>::value;\n"
      "};\n"
      "template <long long kPath> struct Tree<0, kPath> { static constexpr int value = 1; };\n"
      "void kernel_main() { static_assert(Tree<40, 1>::value != 0); }\n",
      milliseconds(500));
  EXPECT_EQ(made.status().code(), Code::kDeadlineExceeded);
  EXPECT_THAT(made.status().message(), HasSubstr("did not end within 500 ms"));
}

TEST_F(KernelCompilerTest, TheCacheHasABound) {
  constexpr int kImages = 24;
  const KernelCache cache(folder_, 16);
  for (int i = 0; i < kImages; ++i) cache.Keep(std::to_string(i), {std::byte{1}});
  const auto begin = std::filesystem::directory_iterator(folder_);
  EXPECT_EQ(std::distance(begin, std::filesystem::directory_iterator()), 16);
  EXPECT_FALSE(cache.Find(std::to_string(kImages - 1)).empty());
}

TEST(WithoutIncludesTest, KeepsAllOtherLines) {
  EXPECT_EQ(WithoutIncludes("#include <cstdint>\n  #  include \"a.h\"\n#define include 1\nint a;"),
            "\n\n#define include 1\nint a;\n");
}

}  // namespace
}  // namespace ttfd::ttmlir::kernel_compiler_test
