// Names for addresses: they agree with binutils, and whatever a file holds, reading it ends well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "firmware/images.h"
#include "firmware/kernel_elfs.h"
#include "runtime/abi/kernel_image.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/elf/demangle.h"
#include "runtime/elf/symbol_table.h"

namespace ttfd {
namespace {

std::vector<std::byte> FileBytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// What addr2line says, innermost first: function, "file.cc:42".
using Frames = std::vector<std::pair<std::string, std::string>>;

std::map<uint32_t, Frames> AskBinutils(const std::string& elf, uint32_t begin, uint32_t end) {
  const std::string list = testing::TempDir() + "/symbols_" + std::to_string(getpid());
  {
    std::ofstream out(list);
    for (uint32_t address = begin; address < end; address += 4) out << std::hex << address << "\n";
  }
  const std::string command = std::string(TTFD_ADDR2LINE) + " -afis -C -e " + elf + " < " + list;
  FILE* const pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::map<uint32_t, Frames> answers;
  char line[4096];
  uint32_t address = 0;
  while (pipe != nullptr && fgets(line, sizeof(line), pipe) != nullptr) {
    std::string text(line);
    text.pop_back();
    if (text.starts_with("0x")) {
      address = static_cast<uint32_t>(std::stoul(text, nullptr, 16));
    } else {
      std::string place = fgets(line, sizeof(line), pipe) != nullptr ? line : "";
      place = place.substr(0, place.find_first_of(" \n"));
      answers[address].emplace_back(text, place);
    }
  }
  if (pipe != nullptr) pclose(pipe);
  remove(list.c_str());
  return answers;
}

// The last name of ours, without template arguments, must be part of theirs.
std::string LastName(std::string name) {
  while (name.ends_with("<>")) name.resize(name.size() - 2);
  const size_t colon = name.rfind(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

void ExpectAgreement(const std::string& path, uint32_t begin, uint32_t end) {
  const std::vector<std::byte> bytes = FileBytes(path);
  const auto elf = ElfFile::Parse(bytes, kMaxKernelElfSections);
  ASSERT_TRUE(elf.ok()) << elf.status().ToString();
  const auto table = SymbolTable::Read(*elf);
  ASSERT_TRUE(table->has_lines()) << path;
  size_t lines = 0;
  size_t inlined = 0;
  size_t names = 0;
  size_t frames = 0;
  for (const auto& [address, expected] : AskBinutils(path, begin, end)) {
    const SymbolPlace place = table->Find(address);
    if (expected.front().first == "??" || place.kind != SymbolPlace::Kind::kCode) continue;
    SCOPED_TRACE(path + " " + std::to_string(address));
    ASSERT_EQ(place.frames.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const SymbolFrame& frame = place.frames[i];
      const std::string name = LastName(frame.function);
      // addr2line names some inlined calls by the nearest label, so not all of them can agree.
      const bool agrees = expected[i].first.find(name) != std::string::npos;
      EXPECT_TRUE(agrees || i + 1 < expected.size()) << name << " is " << expected[i].first;
      names += agrees ? 1 : 0;
      ++frames;
      const std::string file =
          frame.file.substr(frame.file.rfind('/') + 1);  // the SDK's have folders
      const std::string where = frame.line == 0 ? "??:0" : file + ":" + std::to_string(frame.line);
      if (expected[i].second.ends_with(":?")) continue;
      // Where a program does not set its file, addr2line takes the first of the table instead of number 1:
      // this function is in wait.h.
      if (name == "AwaitZeroFromT1") {
        EXPECT_EQ(frame.file, "firmware/common/wait.h");
        continue;
      }
      EXPECT_EQ(where, expected[i].second) << expected[i].first;
      ++lines;
    }
    inlined += expected.size() - 1;
  }
  EXPECT_GT(lines, 20u);
  EXPECT_GT(inlined, 5u);
  EXPECT_GT(names, frames * 3 / 4);
}

TEST(Symbols, OfKernelsAgreeWithBinutils) {
  for (const char* name : {"blur_edge", "vector_add", "sha256_chunks", "pipeline_consumer_small"}) {
    ExpectAgreement(std::string(KERNEL_FOLDER) + "/" + name + ".elf", 0, 0x1400);
  }
}

TEST(Symbols, OfFirmwareAgreeWithBinutils) {
  for (const FirmwareImage& image : FirmwareImages()) {
    ExpectAgreement(std::string(IMAGE_FOLDER) + "/" + std::string(image.name) + ".elf",
                    image.load_address,
                    image.load_address + static_cast<uint32_t>(image.bytes.size()));
  }
}

TEST(Symbols, AKernelKnowsItsOwn) {
  const auto kernel = LoadKernel(KernelElf("fault"), "fault");
  ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
  const SymbolTable& table = *(*kernel)->symbols;
  const auto header = LoadAt<abi::KernelImageHeader>((*kernel)->bytes.data());
  const SymbolPlace entry = table.Find((*kernel)->symbol_base + header.entry_offset);
  ASSERT_EQ(entry.kind, SymbolPlace::Kind::kCode);
  EXPECT_EQ(entry.frames.back().function, "ttfd_start_plain");
  EXPECT_EQ(entry.offset, 0u);
  const SymbolPlace data = table.Find((*kernel)->symbol_base + header.bss_offset);
  ASSERT_EQ(data.kind, SymbolPlace::Kind::kData);
  EXPECT_EQ(data.frames.front().function, "zeros");
  EXPECT_EQ(table.Find(0x7000'0000).kind, SymbolPlace::Kind::kNowhere);
  EXPECT_GT(table.bytes(), 500u);
  EXPECT_LT(table.bytes(), 64u * 1024);
}

// Sections by name, so that a test can damage one.
ByteSpan SectionOf(const ElfFile& elf, std::string_view name) {
  for (const ElfSection& section : elf.sections()) {
    if (section.name == name) return section.bytes;
  }
  ADD_FAILURE() << "no section " << name;
  return {};
}

TEST(Symbols, DamagedDebugInformationIsOnlyMissing) {
  const std::vector<std::byte> good = FileBytes(std::string(KERNEL_FOLDER) + "/blur_edge.elf");
  const auto elf = ElfFile::Parse(good, kMaxKernelElfSections);
  ASSERT_TRUE(elf.ok());
  uint32_t state = 1;
  for (const char* name : {".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists",
                           ".debug_str", ".debug_line_str", ".symtab", ".strtab"}) {
    const ByteSpan section = SectionOf(*elf, name);
    const std::vector<std::byte> part(section.begin(), section.end());
    const auto found = std::search(good.begin(), good.end(), part.begin(), part.end());
    const auto at = static_cast<size_t>(found - good.begin());
    for (int round = 0; round < 60; ++round) {
      std::vector<std::byte> bad = good;
      for (int i = 0; i < 1 + round % 8; ++i) {
        state = state * 1664525u + 1013904223u;
        bad[at + (state >> 8) % part.size()] =
            static_cast<std::byte>(round % 3 == 0 ? 0xFF : state);
      }
      const auto parsed = ElfFile::Parse(bad, kMaxKernelElfSections);
      ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
      const auto table = SymbolTable::Read(*parsed);
      for (uint32_t address = 0; address < 0x1400; address += 4) table->Find(address);
      EXPECT_LT(table->bytes(), 2u << 20);
    }
  }
}

TEST(Symbols, LimitsHold) {
  const std::vector<std::byte> bytes = FileBytes(std::string(KERNEL_FOLDER) + "/blur_edge.elf");
  const auto elf = ElfFile::Parse(bytes, kMaxKernelElfSections);
  ASSERT_TRUE(elf.ok());
  SymbolLimits limits;
  limits.lines = 10;
  EXPECT_FALSE(SymbolTable::Read(*elf, limits)->Find(0x26c).frames.empty());
  limits.dwarf.entries = 3;
  EXPECT_FALSE(SymbolTable::Read(*elf, limits)->Find(0x26c).frames.empty());
  limits.dwarf.operations = 0;
  EXPECT_FALSE(SymbolTable::Read(*elf, limits)->has_lines());
  limits.symbols = 0;
  EXPECT_TRUE(SymbolTable::Read(*elf, limits)->empty());
}

TEST(Demangle, KeepsScopesAndTheName) {
  const std::pair<const char*, const char*> cases[] = {
      {"_Z11kernel_mainv", "kernel_main"},
      {"_ZN4ttfd8firmwareL15AwaitZeroFromT1Ev", "ttfd::firmware::AwaitZeroFromT1"},
      {"_ZZN12_GLOBAL__N_19MakeEdgesENS_3RowES0_S0_PmmENKUlvE1_clEv",
       "MakeEdges::{lambda}::operator"},
      {"_ZN4ttfd8firmware17NiuCounterAddressILm0EEEmm", "ttfd::firmware::NiuCounterAddress<>"},
      {"_ZN4ttfd8firmware9WaitUntilIZNS_6kernel16IncrementBarrierEvEUlvE_EEvmT_",
       "ttfd::firmware::WaitUntil<>"},
      {"_ZN4ttfd8firmware13CommandBufferILm0ELm0EE5IssueEv",
       "ttfd::firmware::CommandBuffer<>::Issue"},
      {"_ZN6WidgetC2Ei", "Widget::Widget"},
      {"_ZN6WidgetD1Ev", "Widget::~Widget"},
      {"_ZNKSt6vectorIiE4sizeEv", "std::vector<>::size"},
      {"kernel_main", "kernel_main"},
      {"_ZN", "_ZN"},
      {"_Z99999999999999999999x", "_Z99999999999999999999x"},
      {"_ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ", "_ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ"},
  };
  for (const auto& [mangled, plain] : cases) EXPECT_EQ(Demangle(mangled), plain);
}

}  // namespace
}  // namespace ttfd
