// Arrays of the host and buffers of the card, as TTMetal files describe them.
#include "client/ttmlir/src/metal_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "client/ttmlir/src/metal_launch.h"
#include "ttfd/tiles.h"

namespace ttfd::ttmlir {
namespace {

constexpr size_t kMaxExtents = 8;
constexpr uint32_t kTileSide = 32;
constexpr int64_t kMostRows = 1 << 20;  // or columns, of a tensor in L1

std::vector<int64_t> IntegersIn(const List& list) {
  std::vector<int64_t> numbers(list.size());
  for (uint32_t i = 0; i < list.size(); ++i) numbers[i] = list.Integer(i);
  return numbers;
}

// A tensor of 2024: divided over the cores by rows and columns.
std::string OldBufferOf(const Record& ref, BufferSpec* spec) {
  const Record layout = ref.Child("desc").Child("layout");
  const Record memory = layout.Child("memory_desc");
  if (memory.Name("memory_space") != "DeviceL1") {
    return fmt::format("%{} lies in {}: tensors of these files do in L1", IdOf(ref),
                       memory.Name("memory_space"));
  }
  std::string problem = CoresOf(layout.Items("core_range_set"), &spec->cores);
  if (!problem.empty()) return problem;
  const std::vector<int64_t> extents = IntegersIn(ref.Child("desc").Items("shape"));
  const std::vector<int64_t> strides = IntegersIn(layout.Items("stride"));
  const std::vector<int64_t> shard = IntegersIn(memory.Items("shape"));
  const int64_t tile_rows = memory.Child("tile_shape").Integer("y");
  const int64_t tile_columns = memory.Child("tile_shape").Integer("x");
  spec->is_tiled = tile_rows == kTileSide && tile_columns == kTileSide;
  const bool plain = tile_rows == 1 && tile_columns == 1;
  const std::optional<ElementType> type = ElementTypeNamed(memory.Name("data_type"));
  const auto sound = [](int64_t number) { return number > 0 && number <= kMostRows; };
  const bool fits = (spec->is_tiled || plain) && type && extents.size() >= 2 &&
                    strides.size() == extents.size() && shard.size() >= 2 &&
                    std::all_of(shard.begin(), shard.end(), sound) && sound(extents[0]) &&
                    sound(strides[0]) && sound(strides[strides.size() - 2]);
  if (!fits) return fmt::format("%{} has a layout that is not supported", IdOf(ref));
  const int64_t columns = strides[strides.size() - 2];
  const int64_t rows = extents[0] * strides[0] / columns;
  const int64_t shard_rows = std::accumulate(
      shard.begin(), shard.end() - 1, int64_t{1},
      [](int64_t product, int64_t size) { return std::min(product * size, kMostRows); });
  const auto element_bytes = static_cast<int64_t>(BytesOf(type->basic));
  const int64_t page_columns = spec->is_tiled ? 1 : shard.back();  // of a tile, or of an element
  if (rows % tile_rows != 0 || columns % (tile_columns * page_columns) != 0 || rows > kMostRows) {
    return fmt::format("%{} is not divided into whole pages", IdOf(ref));
  }
  spec->page_bytes = static_cast<uint32_t>(tile_rows * tile_columns * page_columns * element_bytes);
  spec->row_pages = static_cast<uint32_t>(columns / (tile_columns * page_columns));
  spec->shard_rows = static_cast<uint32_t>(shard_rows);
  spec->shard_row_pages = static_cast<uint32_t>(shard.back() / page_columns);
  spec->bytes = static_cast<uint64_t>(rows / tile_rows) * spec->row_pages * spec->page_bytes;
  return "";
}

std::string ShardsOf(const Record& config, BufferSpec* spec) {
  const Record buffer = config.Child("shard_spec_buffer");
  const Record shard = buffer.Child("shard_spec");
  const Record page = buffer.Child("page_shape");
  const Record pages = buffer.Child("tensor_shape_in_pages");
  std::string problem = CoresOf(shard.Items("core_range_set"), &spec->cores);
  if (!problem.empty()) return problem;
  const int64_t page_y = page.Integer("y");
  const int64_t page_x = page.Integer("x");
  const int64_t shard_y = shard.Child("shard_shape").Integer("y");
  const int64_t shard_x = shard.Child("shard_shape").Integer("x");
  if (page_y <= 0 || page_x <= 0 || shard_y < page_y || shard_x < page_x || shard_y % page_y != 0 ||
      shard_x % page_x != 0 || pages.Integer("x") <= 0 || pages.Integer("y") <= 0) {
    return "its shards are not of whole pages";
  }
  spec->row_pages = static_cast<uint32_t>(pages.Integer("x"));
  spec->shard_rows = static_cast<uint32_t>(shard_y / page_y);
  spec->shard_row_pages = static_cast<uint32_t>(shard_x / page_x);
  if (spec->bytes !=
      static_cast<uint64_t>(pages.Integer("y")) * spec->row_pages * spec->page_bytes) {
    return fmt::format("it has {} bytes, and {} by {} pages of {}", spec->bytes, pages.Integer("y"),
                       spec->row_pages, spec->page_bytes);
  }
  return "";
}

// Shards with a list of their cores, which takes the place of the one above; of rows and columns.
std::string DistributionOf(const Record& spread, BufferSpec* spec) {
  const std::vector<int64_t> pages = IntegersIn(spread.Items("tensor_shape_in_pages"));
  const std::vector<int64_t> shard = IntegersIn(spread.Items("shard_shape_in_pages"));
  const List cores = spread.Items("cores");
  if (pages.size() != 2 || shard.size() != 2 || pages[0] <= 0 || pages[1] <= 0 || shard[0] <= 0 ||
      shard[1] <= 0 || cores.empty()) {
    return fmt::format("its pages are spread by {} extents, and two are supported", pages.size());
  }
  spec->cores.clear();
  for (uint32_t i = 0; i < cores.size(); ++i) {
    const int64_t x = cores.Child(i).Integer("x");
    const int64_t y = cores.Child(i).Integer("y");
    if (x < 0 || y < 0 || x >= kMaxCoordinate || y >= kMaxCoordinate) {
      return "a core is not in the grid of a card";
    }
    spec->cores.push_back({static_cast<uint32_t>(x), static_cast<uint32_t>(y),
                           static_cast<uint32_t>(x), static_cast<uint32_t>(y)});
  }
  spec->row_pages = static_cast<uint32_t>(pages[1]);
  spec->shard_rows = static_cast<uint32_t>(shard[0]);
  spec->shard_row_pages = static_cast<uint32_t>(shard[1]);
  const uint64_t all = static_cast<uint64_t>(pages[0]) * spec->row_pages;
  if (all == spec->bytes / spec->page_bytes) return "";
  return fmt::format("its {} pages are spread as {}", spec->bytes / spec->page_bytes, all);
}

}  // namespace

uint64_t HostSpec::elements() const {
  return std::accumulate(extents.begin(), extents.end(), uint64_t{1},
                         [](uint64_t product, int64_t size) {
                           return std::min(product * static_cast<uint64_t>(size), kMaxHostBytes);
                         });
}

uint64_t HostSpec::bytes() const { return volume * BytesOf(type.basic); }

std::string ArrayOf(const Record& ref, HostSpec* spec) {
  const Record desc = ref.Child("desc");
  const Record layout = desc.Child("layout");  // of 2024
  const Record memory = layout.Child("memory_desc");
  spec->dtype = layout ? memory.Name("data_type") : desc.Name("data_type");
  const std::optional<ElementType> type = ElementTypeNamed(spec->dtype);
  if (!type) return fmt::format("elements of {} are not supported on the host", spec->dtype);
  spec->type = *type;
  spec->extents = IntegersIn(desc.Items("shape"));
  spec->strides = IntegersIn(layout ? layout.Items("stride") : desc.Items("host_strides"));
  const size_t rank = spec->extents.size();
  uint64_t reach = 1;
  bool fits = rank >= 1 && rank <= kMaxExtents && spec->strides.size() == rank;
  for (size_t i = 0; fits && i < rank; ++i) {
    constexpr int64_t kMost = int64_t{1} << 31;
    fits = spec->extents[i] > 0 && spec->extents[i] <= kMost && spec->strides[i] >= 0 &&
           spec->strides[i] <= kMost && reach <= kMaxHostBytes;
    if (fits) {
      reach +=
          static_cast<uint64_t>(spec->extents[i] - 1) * static_cast<uint64_t>(spec->strides[i]);
    }
  }
  if (!fits) return fmt::format("%{} has no shape and strides of an array", IdOf(ref));
  spec->volume =
      layout ? static_cast<uint64_t>(spec->extents[0]) * static_cast<uint64_t>(spec->strides[0])
             : static_cast<uint64_t>(desc.Integer("host_volume"));
  if (reach > spec->volume || spec->elements() > spec->volume) {
    return fmt::format("%{} has {} elements, and its last one is number {}", IdOf(ref),
                       spec->volume, reach);
  }
  if (spec->volume > kMaxHostBytes || spec->bytes() > kMaxHostBytes) {
    return fmt::format("it keeps more than {} bytes on the host", kMaxHostBytes);
  }
  return "";
}

std::string BufferOf(const Record& ref, BufferSpec* spec) {
  const Record desc = ref.Child("desc");
  if (desc.Child("layout")) return OldBufferOf(ref, spec);
  const Record metal = desc.Child("buffer_detail");
  if (desc.MemberName("buffer_detail") != "MetalBuffer") {
    return fmt::format("%{} is not a buffer of the card", IdOf(ref));
  }
  const Record config = metal.Child("buffer_config");
  const bool in_dram = metal.Name("buffer_type") == "DRAM";
  const bool is_sharded = metal.MemberName("buffer_config") == "ShardedBufferConfig";
  if (!config || in_dram == is_sharded || (!in_dram && metal.Name("buffer_type") != "L1")) {
    return fmt::format("%{} is {} in {}: buffers are interleaved in DRAM or sharded in L1",
                       IdOf(ref), is_sharded ? "sharded" : "interleaved",
                       metal.Name("buffer_type"));
  }
  spec->bytes = static_cast<uint64_t>(config.Integer("size"));
  const auto page = static_cast<uint64_t>(config.Integer("page_size"));
  if (page == 0 || page > UINT32_MAX || spec->bytes == 0 || spec->bytes % page != 0) {
    return fmt::format("%{} of {} bytes has pages of {}", IdOf(ref), spec->bytes, page);
  }
  spec->page_bytes = static_cast<uint32_t>(page);
  if (in_dram) return "";
  std::string problem = ShardsOf(config, spec);
  const Record spread = config.Child("buffer_distribution_spec");
  if (problem.empty() && spread) problem = DistributionOf(spread, spec);
  return problem.empty() ? "" : fmt::format("%{}: {}", IdOf(ref), problem);
}

std::string MismatchOf(const MetalArray& host, uint32_t buffer_id, const BufferSpec& buffer) {
  uint64_t bytes = host.spec.bytes();
  if (buffer.is_tiled) {
    const client::DataFormat format = FormatOf(host.spec.dtype);
    if (format != client::DataFormat::kFloat32 && format != client::DataFormat::kFloat16B) {
      return fmt::format("%{} has tiles of {}, which the host does not make", buffer_id,
                         host.spec.dtype);
    }
    const auto tiles = [](uint64_t size) { return (size + kTileSide - 1) / kTileSide; };
    const auto columns = static_cast<uint64_t>(host.spec.extents.back());
    bytes = tiles(host.spec.elements() / columns) * tiles(columns) * client::TileBytes(format);
  }
  if (bytes == buffer.bytes) return "";
  return fmt::format("%{} has {} bytes, and %{} {}", host.id, bytes, buffer_id, buffer.bytes);
}

}  // namespace ttfd::ttmlir
