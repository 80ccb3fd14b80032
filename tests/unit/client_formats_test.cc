// Formats of a tile: libttfd, the API and the daemon agree on their numbers and sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "runtime/command/tile_format.h"
#include "ttfd/tiles.h"
#include "ttfd/v1/types.pb.h"

namespace ttfd::client_formats_test {
namespace {

using hw::tensix::Format;

struct Row {
  client::DataFormat client;
  v1::DataFormat api;
  Format card;
};

constexpr Row kRows[] = {
    {client::DataFormat::kFloat32, v1::DATA_FORMAT_FLOAT32, Format::kFloat32},
    {client::DataFormat::kFloat16B, v1::DATA_FORMAT_FLOAT16_B, Format::kFloat16B},
    {client::DataFormat::kBfp8B, v1::DATA_FORMAT_BFP8_B, Format::kBfp8B},
    {client::DataFormat::kInt32, v1::DATA_FORMAT_INT32, Format::kInt32},
    {client::DataFormat::kUInt16, v1::DATA_FORMAT_UINT16, Format::kUInt16},
};

TEST(DataFormats, OfHostAndCard_HaveOneNumberNameAndSize) {
  for (const Row& row : kRows) {
    const auto number = static_cast<uint32_t>(row.api);
    std::string name = v1::DataFormat_Name(row.api);
    SCOPED_TRACE(name);
    EXPECT_EQ(static_cast<uint32_t>(row.client), number);
    EXPECT_EQ(static_cast<uint32_t>(row.card) + 1, number);
    const TileFormat* const format = FindTileFormat(number);
    ASSERT_NE(format, nullptr);
    EXPECT_EQ(format->format, row.card);
    EXPECT_EQ(format->tile_bytes, client::TileBytes(row.client));
    name.erase(0, std::string("DATA_FORMAT_").size());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_EQ(format->name, name);
  }
}

// One that only one side has gained is missing on the others.
TEST(DataFormats, OfEverySide_AreInTheTable) {
  std::set<uint32_t> rows, api, runtime, host;
  for (const Row& row : kRows) rows.insert(static_cast<uint32_t>(row.api));
  for (int i = 0; i < v1::DataFormat_descriptor()->value_count(); ++i) {
    const int number = v1::DataFormat_descriptor()->value(i)->number();
    if (number != v1::DATA_FORMAT_UNSPECIFIED) api.insert(static_cast<uint32_t>(number));
  }
  for (const TileFormat& format : kTileFormats) runtime.insert(format.word());
  for (uint32_t number = 0; number < 256; ++number) {
    if (client::TileBytes(static_cast<client::DataFormat>(number)) != 0) host.insert(number);
  }
  EXPECT_EQ(api, rows);
  EXPECT_EQ(runtime, rows);
  EXPECT_EQ(host, rows);
}

}  // namespace
}  // namespace ttfd::client_formats_test
