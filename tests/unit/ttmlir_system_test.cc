// Descriptions of cards, and the writer of files: what is written, and what is refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "client/ttmlir/src/file.h"
#include "client/ttmlir/src/whole_file.h"
#include "client/ttmlir/src/writer.h"
#include "tests/support/temporary_folder.h"
#include "ttfd/ttmlir/system_description.h"

namespace ttfd::ttmlir::ttmlir_system_test {
namespace {

namespace fs = std::filesystem;
using client::Code;

client::DeviceInfo SmallCard() {
  client::DeviceInfo device;
  device.board = "p150";
  device.grid_x = 2, device.grid_y = 1;
  device.dram_banks = 1;
  device.dram_bank_bytes = 0xFEFFF000, device.dram_bank_size = 0xFF000000;
  device.l1_base = 0xB0000, device.l1_bytes = 0xD0000;
  device.worker_x = {1, 2}, device.worker_y = {2};
  device.banks = {{{17, 14}, {0, 0}}};
  return device;
}

Bytes BytesIn(const std::string& text) {
  return Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SystemDescription, HasAllFieldsOfItsSchemaWhereFlatBuffersWantsThem) {
  Profiles profiles(ProfileFolder());
  size_t count = 0;
  for (const std::string& name : ProfilesIn(ProfileFolder())) {
    if (!name.starts_with("system-")) continue;
    ++count;
    const auto bytes = DescribeSystem(SmallCard(), {.schema = name.substr(7)});
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    const auto file = OpenFile(BytesIn(*bytes), &profiles);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_EQ(file->profile_name, name);
    const Record chip = file->root.Child("system_desc").Items("chip_descs").Child(0);
    for (const Field& field : chip.definition().fields) {
      EXPECT_TRUE(chip.Has(field.name)) << name << " " << field.name;
      if (!IsNumber(field.type)) continue;
      EXPECT_EQ(*chip.PlaceOf(field) % BytesOf(field.type.basic), 0U) << field.name;
    }
    EXPECT_EQ(chip.Name("arch"), "Blackhole");
    EXPECT_EQ(chip.Integer("dram_channel_size"), 0xFF000000);
  }
  EXPECT_GE(count, 9U);
  EXPECT_EQ(*DescribeSystem(SmallCard()), *DescribeSystem(SmallCard(), {.schema = "92f6a8a87b72"}));
}

TEST(SystemDescription, IsRefusedForADaemonThatDoesNotReportItsTiles) {
  const std::function<void(client::DeviceInfo*)> kChanges[] = {
      [](auto* device) { device->worker_x.clear(); },
      [](auto* device) { device->worker_y.push_back(3); },
      [](auto* device) { device->banks.clear(); },
      [](auto* device) { *device = client::DeviceInfo(); },
  };
  for (const auto& change : kChanges) {
    client::DeviceInfo device = SmallCard();
    change(&device);
    const client::Status status = DescribeSystem(device).status();
    EXPECT_EQ(status.code(), Code::kFailedPrecondition);
    EXPECT_NE(status.message().find("older than this program"), std::string::npos);
  }
}

// A field of a later version of the schema is not left to its default.
TEST(SystemDescription, IsRefusedForASchemaWithAFieldThatIsNotKnown) {
  const TemporaryFolder folder;
  fs::copy(ProfileFolder() + "/system-92f6a8a87b72.profile", folder.path());
  std::ofstream(folder.path() + "/system-123456789abc.profile")
      << "extends system-92f6a8a87b72\nfile TTSY\nhash 123456789abcdef\nroot SystemDescRoot\n"
         "table CPUDesc role@0:CPURole target_triple@1:text sockets@2:u32\n";
  const auto status = DescribeSystem(SmallCard(), {folder.path(), "123456789abc"}).status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("CPUDesc.sockets"), std::string::npos) << status.ToString();
  EXPECT_TRUE(DescribeSystem(SmallCard(), {folder.path(), ""}).ok());
  for (const char* schema : {"123456789abcdee", "123456789abcdef0", "12x", "system"}) {
    EXPECT_EQ(DescribeSystem(SmallCard(), {folder.path(), schema}).status().code(),
              Code::kNotFound);
  }
}

TEST(WholeFile, IsReplacedOrStays) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  const std::string link = folder.path() + "/link";
  ASSERT_TRUE(WriteWholeFile(path, "one").ok());
  ASSERT_EQ(symlink("file", link.c_str()), 0);
  ASSERT_TRUE(WriteWholeFile(link, "two").ok());
  EXPECT_EQ(Contents(path), "two") << "a link leads to the file still";
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(WriteWholeFile(folder.path(), "three").code(), Code::kInvalidArgument);
  EXPECT_EQ(WriteWholeFile(path + "/below", "three").code(), Code::kUnknown);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2) << "nothing is left over";
}

TEST(Writer, RefusesWhatDoesNotFit) {
  const auto profile = Profile::Parse(
      "file TTNN\nhash 0\nroot Root\nenum Kind u8 A=0 B=1\nflags Set u32 One=1 Two=2\n"
      "struct Pair 8 y@0:i32 x@4:i32\nunion Any First=1:Leaf\ntable Leaf\n"
      "table Root u@0:u32 s@1:i8 big@2:u64 kind@3:Kind set@4:Set pair@5:Pair any@7:Any text@8:text "
      "list@9:[u16] real@10:f32 bool@11:bool anys@13:[Any]\n");
  ASSERT_TRUE(profile.ok()) << profile.status().ToString();
  const auto of = [&](const char* text) {
    return WriteFile(**profile, nlohmann::json::parse(text)).status();
  };
  for (const char* good :
       {"{}", R"({"u": 4294967295, "s": -128, "big": 18446744073709551615, "kind": "B"})",
        R"({"set": "One Two", "pair": {"x": -2147483648}, "any_type": "First", "any": {}})",
        R"({"text": "", "list": [65535, 0], "real": 1, "bool": true, "s": 127, "u": null})"}) {
    EXPECT_TRUE(of(good).ok()) << good << " " << of(good).ToString();
  }
  const std::pair<const char*, const char*> kBad[] = {
      {R"({"v": 1})", "Root has no field v"},
      {R"({"u": 4294967296})", "Root.u does not take 4294967296"},
      {R"({"u": -1})", "Root.u does not take -1"},
      {R"({"u": 1.5})", "Root.u does not take 1.5"},
      {R"({"u": "1"})", "Root.u does not take \"1\""},
      {R"({"s": 128})", "Root.s"},
      {R"({"s": -129})", "Root.s"},
      {R"({"bool": 2})", "Root.bool"},
      {R"({"big": -1})", "Root.big"},
      {R"({"kind": "C"})", "Root.kind"},
      {R"({"set": "One Three"})", "Root.set"},
      {R"({"pair": 1})", "Root.pair"},
      {R"({"pair": {"z": 1}})", "Pair has no field z"},
      {R"({"any": {}})", "Root.any does not take null"},
      {R"({"any_type": "Second", "any": {}})", "Root.any"},
      {R"({"any_type": "First", "any": []})", "Root.any"},
      {R"({"anys_type": [], "anys": [{}]})", "Root.anys"},
      {R"({"text": 1})", "Root.text"},
      {R"({"list": 1})", "Root.list"},
      {R"({"list": [1, 65536]})", "Root.list"},
      {R"({"real": "x"})", "Root.real"},
      {R"([])", "does not take []"},
  };
  for (const auto& [text, problem] : kBad) {
    EXPECT_EQ(of(text).code(), Code::kInvalidArgument) << text;
    EXPECT_NE(of(text).ToString().find(problem), std::string::npos) << of(text).ToString();
  }
}

}  // namespace
}  // namespace ttfd::ttmlir::ttmlir_system_test
