// The kernel loader: what it makes of a good ELF, and each of its refusals.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "firmware/kernel_elfs.h"
#include "runtime/abi/kernel_image.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/command/kernel_needs.h"
#include "runtime/elf/elf_file.h"
#include "runtime/elf/symbol_table.h"

namespace ttfd {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::byte> File(const std::string& name) {
  std::ifstream stream(std::string(LOADER_ELF_FOLDER) + "/" + name + ".elf", std::ios::binary);
  EXPECT_TRUE(stream.good()) << name;
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string Refusal(ByteSpan elf) {
  const auto image = LoadKernel(elf, "k");
  if (image.ok()) return "accepted";
  EXPECT_EQ(image.status().code(), StatusCode::kInvalidArgument);
  return std::string(StatusMessage(image.status()));
}

TEST(Loader, LaysOutHeaderBlockAndPristineData) {
  const auto loaded = LoadKernel(File("good"), "good");
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  const KernelImage& image = **loaded;
  EXPECT_EQ(image.name, "good");
  const auto header = LoadAt<abi::KernelImageHeader>(image.bytes.data());
  EXPECT_EQ(header.image_bytes, image.bytes.size());
  EXPECT_EQ(image.bytes.size() % 16, 0u);
  EXPECT_EQ(header.entry_offset, sizeof(header)) << "_start is linked first";
  EXPECT_EQ(header.data_bytes, 12u);
  EXPECT_EQ(header.bss_bytes, 20u);
  EXPECT_LE(header.data_offset + header.data_bytes, header.bss_offset);
  EXPECT_LE(header.bss_offset + header.bss_bytes, header.pristine_offset);
  EXPECT_LE(header.pristine_offset + header.data_bytes, header.image_bytes);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(LoadAt<uint32_t>(image.bytes.data() + header.data_offset + 4 * i), i + 1);
    EXPECT_EQ(LoadAt<uint32_t>(image.bytes.data() + header.pristine_offset + 4 * i), i + 1);
  }
}

TEST(Loader, TakesEveryKernelOfTheSdk) {
  for (const char* name :
       {"empty", "empty_ncrisc", "empty_trisc0", "empty_trisc1", "empty_trisc2"}) {
    EXPECT_EQ(Refusal(KernelElf(name)), "accepted") << name;
  }
}

// Each index once, at its first use, by the user's line; none of a function that the linker drops.
TEST(Loader, ListsWhatAKernelNeeds) {
  const auto needs_of = [](const char* name) {
    const auto image = LoadKernel(KernelElf(name), name);
    EXPECT_TRUE(image.ok()) << image.status().ToString();
    std::vector<std::string> needs;
    if (!image.ok()) return needs;
    for (const KernelNeed& need : (*image)->needs) {
      needs.push_back(fmt::format("{} {} {}", ResourceName(need.resource), need.index, need.place));
    }
    return needs;
  };
  EXPECT_THAT(needs_of("echo_brisc"),
              ElementsAre("argument 0 echo.cc:18", "argument 1 echo.cc:19",
                          "common argument 0 echo.cc:11", "common argument 1 echo.cc:17"));
  EXPECT_THAT(needs_of("not_given"),
              ElementsAre("argument 0 not_given.cc:12", "argument 1 not_given.cc:11"));
  EXPECT_THAT(needs_of("empty"), IsEmpty());
}

// firmware/sdk/entry.cc has two entry points, of which kernel.ld keeps the one that a kernel needs.
TEST(Loader, KernelsWithNocCommandsAwaitTheirEnd) {
  const auto entry_of = [](const char* name) -> std::string {
    const auto image = LoadKernel(KernelElf(name), name);
    EXPECT_TRUE(image.ok()) << name;
    if (!image.ok()) return "";
    const auto header = LoadAt<abi::KernelImageHeader>((*image)->bytes.data());
    return std::string((*image)
                           ->symbols->Find((*image)->symbol_base + header.entry_offset)
                           .frames.back()
                           .function);
  };
  for (const char* name : {"empty", "empty_ncrisc", "echo_brisc", "spin"}) {
    EXPECT_EQ(entry_of(name), "ttfd_start_plain") << name;
  }
  for (const char* name : {"vector_add", "copy_pages", "copy_pages_ncrisc", "semaphore_ring",
                           "pipeline_producer", "pipeline_producer_small"}) {
    EXPECT_EQ(entry_of(name), "ttfd_start_and_await") << name;
  }
}

TEST(Loader, RefusesWhatBreaksWhenMovedAndNamesTheSymbol) {
  EXPECT_THAT(Refusal(File("pointers")), AllOf(HasSubstr("kernel k: symbol "), HasSubstr("first"),
                                               HasSubstr("a data word holds its address")));
  EXPECT_THAT(Refusal(File("virtual")),
              AllOf(HasSubstr("symbol "), HasSubstr("holds its address")));
  EXPECT_THAT(Refusal(File("medlow")),
              AllOf(HasSubstr("symbol "), HasSubstr("compile with -mcmodel=medany")));
  EXPECT_THAT(Refusal(File("pic")), HasSubstr("symbol initialised: is reached through a .got"));
  EXPECT_THAT(Refusal(File("absolute")),
              AllOf(HasSubstr("symbol fixed_place"), HasSubstr("a fixed address")));
  EXPECT_THAT(Refusal(File("undefined")), HasSubstr("symbol Missing: is undefined"));
  EXPECT_THAT(Refusal(File("no_relocs")), HasSubstr("link with --emit-relocs"));
}

TEST(Loader, Hart_IsReadFromTheFile) {
  const std::pair<std::string, hw::Hart> kernels[] = {{"empty", hw::kBrisc},
                                                      {"empty_ncrisc", hw::kNcrisc},
                                                      {"empty_trisc0", hw::kTrisc0},
                                                      {"empty_trisc1", hw::kTrisc1},
                                                      {"empty_trisc2", hw::kTrisc2}};
  for (const auto& [name, hart] : kernels) {
    const auto image = LoadKernel(KernelElf(name), name);
    ASSERT_TRUE(image.ok()) << image.status().ToString();
    EXPECT_EQ((*image)->hart, hart) << name;
  }
  const auto image = LoadKernel(File("trisc2"), "trisc2");
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  EXPECT_EQ((*image)->hart, hw::kTrisc2);
}

TEST(Loader, Hart_MustBeNamedAndKnown) {
  EXPECT_THAT(Refusal(File("no_such_hart")), HasSubstr("__ttfd_hart is 5; 0 (BRISC)"));
  // The symbol under another name is none.
  std::vector<std::byte> bytes = File("good");
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t at = text.find("__ttfd_hart");
  ASSERT_NE(at, text.npos);
  bytes[at] = std::byte{'x'};
  EXPECT_THAT(Refusal(bytes), AllOf(HasSubstr("which processor it was built for"),
                                    HasSubstr("--defsym=__ttfd_hart=0 (BRISC)")));
}

TEST(Loader, LeavesOutAnEmptyName) {
  EXPECT_EQ(StatusMessage(LoadKernel({}, "").status()), "kernel: too short to be an ELF file");
  EXPECT_EQ(StatusMessage(LoadKernel({}, "k").status()), "kernel k: too short to be an ELF file");
}

TEST(Loader, RefusesConstructorsAndThreads) {
  EXPECT_THAT(Refusal(File("constructor")), HasSubstr("_GLOBAL__sub_I"))
      << "the pointer in the table is seen first, and names who put it there";
  EXPECT_THAT(Refusal(File("tls")), HasSubstr("thread"));
}

// A file with one field of one section header changed.
std::vector<std::byte> WithSection(const char* file, const std::string& section,
                                   const std::function<void(Elf32_Shdr&)>& change) {
  auto bytes = File(file);
  const auto parsed = ElfFile::Parse(bytes, kMaxKernelElfSections);
  EXPECT_TRUE(parsed.ok());
  const auto header = LoadAt<Elf32_Ehdr>(bytes.data());
  for (size_t i = 0; i < parsed->sections().size(); ++i) {
    if (parsed->sections()[i].name != section) continue;
    std::byte* at = bytes.data() + header.e_shoff + i * sizeof(Elf32_Shdr);
    auto shdr = LoadAt<Elf32_Shdr>(at);
    change(shdr);
    StoreAt(at, shdr);
    return bytes;
  }
  ADD_FAILURE() << "no section " << section;
  return bytes;
}

TEST(Loader, RefusesNeedsThatNothingCanGive) {
  const auto refusal = [](uint32_t word, uint32_t value) {
    auto elf = File("needs");
    WithSection("needs", TTFD_RESOURCE_USE_SECTION,
                [&](auto& section) { StoreAt(elf.data() + section.sh_offset + 4 * word, value); });
    return Refusal(elf);
  };
  EXPECT_EQ(refusal(0, abi::kArgument), "accepted");
  EXPECT_EQ(refusal(0, abi::kResources), "kernel k: section .ttfd.uses: resource 5; 5 are known");
  EXPECT_EQ(refusal(1, 256), "kernel k: it uses argument 256; indices below 256 are allowed");
  EXPECT_THAT(Refusal(WithSection("needs", TTFD_RESOURCE_USE_SECTION,
                                  [](auto& section) { section.sh_size -= 4; })),
              HasSubstr("section .ttfd.uses of 8 bytes; entries have 12"));
}

TEST(Loader, RefusesSectionsByWhatTheyAre) {
  EXPECT_THAT(Refusal(File("got_section")), HasSubstr("section .got: a global offset table"));
  EXPECT_THAT(Refusal(File("init_array_section")), HasSubstr("section .init_array: constructors"));
  EXPECT_THAT(Refusal(WithSection("init_array_section", ".init_array",
                                  [](auto& s) { s.sh_type = SHT_PROGBITS; })),
              HasSubstr("section .init_array: constructors"))
      << "by its name alone";
  EXPECT_THAT(Refusal(WithSection("good", ".rodata", [](auto& s) { s.sh_type = SHT_INIT_ARRAY; })),
              HasSubstr("section .rodata: constructors"));
  EXPECT_THAT(Refusal(WithSection("good", ".data", [](auto& s) { s.sh_flags |= SHF_TLS; })),
              HasSubstr("section .data: thread-local"));
  EXPECT_THAT(Refusal(WithSection("good", ".rodata", [](auto& s) { s.sh_type = SHT_DYNAMIC; })),
              HasSubstr("dynamic linking"));
}

TEST(Loader, RefusesWhatIsNotOneBlockThatFits) {
  EXPECT_THAT(Refusal(File("scattered")), HasSubstr("must form one block"));
  EXPECT_THAT(Refusal(File("large")), HasSubstr("at most 61440 are allowed"));
  EXPECT_THAT(Refusal(File("aligned")), HasSubstr("wants alignment 64"));
  EXPECT_THAT(Refusal(File("bad_entry")), HasSubstr("is not in the kernel's code"));
  EXPECT_THAT(Refusal(WithSection("good", ".bss", [](auto& s) { s.sh_addr = 0; })),
              HasSubstr("must form one block"));
  EXPECT_THAT(Refusal(WithSection("good", ".text", [](auto& s) { s.sh_size = 0xFFFFFFF0; })),
              HasSubstr("lies outside the file"));
}

TEST(Loader, RefusesOtherMachines) {
  EXPECT_THAT(Refusal(File("rv64")), HasSubstr("not a 32-bit little-endian RISC-V ELF file"));
  EXPECT_THAT(Refusal(File("compressed")), HasSubstr("compressed instructions"));
  auto bytes = File("good");
  auto header = LoadAt<Elf32_Ehdr>(bytes.data());
  header.e_type = ET_REL;
  StoreAt(bytes.data(), header);
  EXPECT_THAT(Refusal(bytes), HasSubstr("not an executable (ELF type 1)"));
  header.e_type = ET_EXEC;
  header.e_machine = EM_ARM;
  StoreAt(bytes.data(), header);
  EXPECT_THAT(Refusal(bytes), HasSubstr("RISC-V"));
}

TEST(Loader, RefusesWhatIsNoElfFile) {
  EXPECT_THAT(Refusal({}), HasSubstr("too short"));
  EXPECT_THAT(Refusal(std::vector<std::byte>(100)), HasSubstr("not an ELF file"));
  EXPECT_THAT(Refusal(std::vector<std::byte>(kMaxKernelElfBytes + 1)), HasSubstr("at most"));
  const auto good = File("good");
  for (size_t size = 0; size < good.size(); size += 13) {
    EXPECT_NE(Refusal(ByteSpan(good).first(size)), "accepted") << "cut to " << size;
  }
}

TEST(Loader, ReadsUnalignedFiles) {
  const auto good = File("good");
  std::vector<std::byte> shifted(good.size() + 1);
  std::copy(good.begin(), good.end(), shifted.begin() + 1);
  EXPECT_EQ(Refusal(ByteSpan(shifted).subspan(1)), "accepted");
}

}  // namespace
}  // namespace ttfd
