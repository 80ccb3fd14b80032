// Checks a program's spec and lays it out by groups of equal tiles.
#include "runtime/command/program.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "runtime/abi/kernel_image.h"
#include "runtime/abi/l1_map.h"
#include "runtime/base/bits.h"
#include "runtime/command/kernel_needs.h"
#include "runtime/command/program_layout.h"
#include "runtime/command/tile_format.h"

namespace ttfd {
namespace {

constexpr const char* kHartNames[hw::kHarts] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};

Status CheckRanges(const std::vector<CoreRange>& cores, GridSize grid, std::string_view what) {
  if (cores.empty()) return InvalidArgument("{} names no cores", what);
  if (cores.size() > kMaxRangesPerUse) {
    return InvalidArgument("{} has {} core ranges; at most {} are allowed", what, cores.size(),
                           kMaxRangesPerUse);
  }
  for (const CoreRange& range : cores) {
    if (range.x0 > range.x1 || range.y0 > range.y1 || range.x1 >= grid.x || range.y1 >= grid.y) {
      return InvalidArgument(
          "{}: core range ({},{})-({},{}) is not a rectangle inside the worker grid (0,0)-({},{})",
          what, range.x0, range.y0, range.x1, range.y1, grid.x - 1, grid.y - 1);
    }
  }
  return OkStatus();
}

Status CheckFormat(const CircularBufferUse& use, std::string_view what) {
  if (use.format == 0) return OkStatus();
  const TileFormat* const format = FindTileFormat(use.format);
  if (format == nullptr) {
    return Error(StatusCode::kUnimplemented, "{}: format {} is not known; {} are, and 0 for none",
                 what, use.format, kTileFormatList);
  }
  if (use.page_bytes == format->tile_bytes) return OkStatus();
  return InvalidArgument("{}: pages of {} bytes; a page of format {} is one tile of {} bytes", what,
                         use.page_bytes, format->name, format->tile_bytes);
}

// Contents of one tile, filled in while the spec is read.
struct TilePlan {
  std::array<int32_t, hw::kHarts> kernel;
  std::array<int32_t, abi::kMaxCircularBuffers> circular_buffer;  // index of the use, or -1
  std::array<int32_t, abi::kMaxSemaphores> semaphore;
  bool operator<(const TilePlan& other) const {
    return std::tie(kernel, circular_buffer, semaphore) <
           std::tie(other.kernel, other.circular_buffer, other.semaphore);
  }
};

class ProgramBuilder {
 public:
  ProgramBuilder(uint32_t id, const ProgramSpec& spec, GridSize grid)
      : spec_(spec), grid_(grid), program_(std::make_shared<Program>()) {
    program_->id = id;
    program_->grid = grid;
    TilePlan empty;
    empty.kernel.fill(kNoKernel);
    empty.circular_buffer.fill(-1);
    empty.semaphore.fill(-1);
    plans_.assign(grid.x * grid.y, empty);
  }

  StatusOr<std::shared_ptr<const Program>> Build() {
    RETURN_IF_ERROR(CheckCounts());
    for (size_t i = 0; i < spec_.kernels.size(); ++i) RETURN_IF_ERROR(AddKernel(i));
    RETURN_IF_ERROR(CheckCallers());
    RETURN_IF_ERROR(CheckImages());
    for (size_t i = 0; i < spec_.circular_buffers.size(); ++i) {
      RETURN_IF_ERROR(AddCircularBuffer(i));
    }
    for (size_t i = 0; i < spec_.semaphores.size(); ++i) RETURN_IF_ERROR(AddSemaphore(i));
    RETURN_IF_ERROR(CheckNeeds());
    MakeGroups();
    return std::shared_ptr<const Program>(std::move(program_));
  }

 private:
  Status CheckCounts() const {
    if (spec_.kernels.empty()) return InvalidArgument("a program needs at least one kernel");
    const auto check = [](size_t count, std::string_view what) {
      return count <= kMaxProgramUses
                 ? OkStatus()
                 : InvalidArgument("{} {}; at most {} are allowed", count, what, kMaxProgramUses);
    };
    RETURN_IF_ERROR(check(spec_.kernels.size(), "kernels"));
    RETURN_IF_ERROR(check(spec_.circular_buffers.size(), "circular buffers"));
    return check(spec_.semaphores.size(), "semaphores");
  }

  Status AddKernel(size_t index) {
    const KernelUse& use = spec_.kernels[index];
    const std::string what = fmt::format("kernel {}", index);
    if (use.image == nullptr) return InvalidArgument("{} has no image", what);
    if (use.hart >= hw::kHarts) return InvalidArgument("{}: there is no hart {}", what, +use.hart);
    RETURN_IF_ERROR(CheckRanges(use.cores, grid_, what));
    ProgramKernel kernel;
    position_.emplace_back();
    kernel.hart = use.hart;
    kernel.image = ImageIndex(use.image);
    kernel.callable = use.callable;
    if (use.callable) RETURN_IF_ERROR(AddCallable(kernel.image, what));
    if (use.configured && !use.callable) {
      return InvalidArgument(
          "{} is configured and not callable; a kernel that is started is not "
          "configured by another",
          what);
    }
    TileSet placed;
    for (const CoreRange& range : use.cores) {
      for (uint32_t y = range.y0; y <= range.y1; ++y) {
        for (uint32_t x = range.x0; x <= range.x1; ++x) {
          const uint32_t worker = y * grid_.x + x;
          program_->images[kernel.image].tiles.set(worker);
          if (use.image->prints) program_->printing.set(worker);
          if (use.callable) {
            if (placed.test(worker)) {
              return InvalidArgument("{}: core ({},{}) is in two of its ranges", what, x, y);
            }
            placed.set(worker);
            continue;
          }
          int32_t& place = plans_[worker].kernel[use.hart];
          if (place != kNoKernel) {
            return InvalidArgument("kernels {} and {} both want {} of core ({},{})", place, index,
                                   kHartNames[use.hart], x, y);
          }
          place = static_cast<int32_t>(index);
          position_[index][worker] = static_cast<uint16_t>(kernel.workers.size());
          kernel.workers.push_back(static_cast<uint16_t>(worker));
          program_->tiles.set(worker);
        }
      }
    }
    program_->kernels.push_back(std::move(kernel));
    return OkStatus();
  }

  Status AddCallable(uint32_t image, std::string_view what) {
    program_->callables.push_back(image);
    if (program_->callables.size() <= abi::kMaxCallables) return OkStatus();
    return InvalidArgument("{} is one callable kernel more than the {} that a program may have",
                           what, abi::kMaxCallables);
  }

  // A callable kernel needs, on each of its tiles, a kernel on its hart that can call it.
  Status CheckCallers() {
    for (size_t i = 0; i < spec_.kernels.size(); ++i) {
      const KernelUse& use = spec_.kernels[i];
      if (!use.callable) continue;
      RETURN_IF_ERROR(ForEachTile(use.cores, [&](const TilePlan& plan, uint32_t x, uint32_t y) {
        if (plan.kernel[use.hart] != kNoKernel) return OkStatus();
        return InvalidArgument(
            "kernel {} is callable on {} of core ({},{}), where the program starts no kernel that "
            "could call it",
            i, kHartNames[use.hart], x, y);
      }));
    }
    return OkStatus();
  }

  uint32_t ImageIndex(const std::shared_ptr<const KernelImage>& image) {
    auto& images = program_->images;
    const auto found = std::find_if(images.begin(), images.end(),
                                    [&image](const auto& known) { return known.image == image; });
    if (found != images.end()) return static_cast<uint32_t>(found - images.begin());
    images.push_back({image, {}});
    return static_cast<uint32_t>(images.size() - 1);
  }

  Status CheckImages() const {
    uint64_t total = 0;
    for (const ProgramImage& image : program_->images) {
      const size_t bytes = image.image->bytes.size();
      if (bytes < sizeof(abi::KernelImageHeader) || bytes > abi::kMaxKernelImageBytes) {
        return InvalidArgument("kernel image {} has {} bytes; {} to {} are allowed",
                               image.image->name, bytes, sizeof(abi::KernelImageHeader),
                               abi::kMaxKernelImageBytes);
      }
      total += AlignUp<uint64_t>(bytes, hw::kL1Alignment);
    }
    if (total > abi::kKernelCacheBytes) {
      return InvalidArgument(
          "the program's kernels take {} bytes; all of them together may take {}", total,
          abi::kKernelCacheBytes);
    }
    return OkStatus();
  }

  Status AddCircularBuffer(size_t index) {
    const CircularBufferUse& use = spec_.circular_buffers[index];
    const std::string what = fmt::format("circular buffer {}", index);
    RETURN_IF_ERROR(CheckRanges(use.cores, grid_, what));
    if (use.index >= abi::kMaxCircularBuffers) {
      return InvalidArgument("{}: index {} is not below {}", what, use.index,
                             abi::kMaxCircularBuffers);
    }
    if (use.pages == 0 || use.page_bytes == 0 || use.page_bytes % hw::kL1Alignment != 0) {
      return InvalidArgument(
          "{}: {} pages of {} bytes; both must be positive and the page a multiple of {}", what,
          use.pages, use.page_bytes, hw::kL1Alignment);
    }
    RETURN_IF_ERROR(CheckFormat(use, what));
    uint64_t address = abi::kCircularBufferAddress;
    RETURN_IF_ERROR(ForEachTile(use.cores, [&](TilePlan& plan, uint32_t x, uint32_t y) {
      if (plan.circular_buffer[use.index] >= 0) {
        return InvalidArgument("circular buffers {} and {} both want index {} of core ({},{})",
                               plan.circular_buffer[use.index], index, use.index, x, y);
      }
      for (int32_t other : plan.circular_buffer) {
        if (other >= 0) address = std::max<uint64_t>(address, buffer_end_[other]);
      }
      return OkStatus();
    }));
    RETURN_IF_ERROR(PlaceCircularBuffer(use, address, what));
    program_->circular_buffer_count = std::max(program_->circular_buffer_count, use.index + 1);
    return ForEachTile(use.cores, [&](TilePlan& plan, uint32_t, uint32_t) {
      plan.circular_buffer[use.index] = static_cast<int32_t>(index);
      return OkStatus();
    });
  }

  // `free`: begin of the launch's memory that no other circular buffer of its tiles takes.
  Status PlaceCircularBuffer(const CircularBufferUse& use, uint64_t free, std::string_view what) {
    if (use.address != 0) {
      buffer_address_.push_back(use.address);
      buffer_end_.push_back(0);  // takes nothing of that memory
      return OkStatus();
    }
    const uint64_t bytes = uint64_t{use.pages} * use.page_bytes;
    const uint64_t left = abi::kCircularBufferAddress + abi::kCircularBufferBytes - free;
    if (bytes > left) {
      return InvalidArgument(
          "{}: {} bytes do not fit; the circular buffers of one core may take {} bytes, {} are "
          "left",
          what, bytes, abi::kCircularBufferBytes, left);
    }
    buffer_address_.push_back(static_cast<uint32_t>(free));
    buffer_end_.push_back(static_cast<uint32_t>(free + bytes));
    return OkStatus();
  }

  Status AddSemaphore(size_t index) {
    const SemaphoreUse& use = spec_.semaphores[index];
    const std::string what = fmt::format("semaphore {}", index);
    RETURN_IF_ERROR(CheckRanges(use.cores, grid_, what));
    if (use.index >= abi::kMaxSemaphores) {
      return InvalidArgument("{}: index {} is not below {}", what, use.index, abi::kMaxSemaphores);
    }
    program_->semaphore_count = std::max(program_->semaphore_count, use.index + 1);
    return ForEachTile(use.cores, [&](TilePlan& plan, uint32_t x, uint32_t y) {
      if (plan.semaphore[use.index] >= 0) {
        return InvalidArgument("semaphores {} and {} both want index {} of core ({},{})",
                               plan.semaphore[use.index], index, use.index, x, y);
      }
      plan.semaphore[use.index] = static_cast<int32_t>(index);
      return OkStatus();
    });
  }

  // The first kernel, of the first tile, that needs a circular buffer, a semaphore or a callable kernel it does not
  // get.
  Status CheckNeeds() {
    for (uint32_t worker = 0; worker < plans_.size(); ++worker) {
      const TilePlan& plan = plans_[worker];
      const hw::Coordinate tile = {worker % grid_.x, worker / grid_.x};
      for (const int32_t kernel : plan.kernel) {
        if (kernel == kNoKernel) continue;
        RETURN_IF_ERROR(
            CheckNeedsOn(*spec_.kernels[static_cast<size_t>(kernel)].image, plan, tile));
      }
    }
    for (const KernelUse& use : spec_.kernels) {
      if (!use.callable || use.configured) continue;
      RETURN_IF_ERROR(CheckNoCommonArguments(*use.image));
      RETURN_IF_ERROR(ForEachTile(use.cores, [&](const TilePlan& plan, uint32_t x, uint32_t y) {
        return CheckNeedsOn(*use.image, plan, {x, y});
      }));
    }
    return OkStatus();
  }

  static Status CheckNoCommonArguments(const KernelImage& image) {
    for (const KernelNeed& need : image.needs) {
      if (need.resource != abi::kCommonArgument) continue;
      return NotGiven(image, need, "a callable kernel has the arguments of its caller only");
    }
    return OkStatus();
  }

  Status CheckNeedsOn(const KernelImage& image, const TilePlan& plan, hw::Coordinate tile) const {
    RETURN_IF_ERROR(CheckNeedsOf(image, abi::kCircularBuffer, plan.circular_buffer, tile));
    RETURN_IF_ERROR(CheckNeedsOf(image, abi::kSemaphore, plan.semaphore, tile));
    const std::vector<int32_t> callables(program_->callables.size(), 0);
    return CheckNeedsOf(image, abi::kCallable, callables, tile);
  }

  // `given`: index of the use by index of the resource, or -1.
  static Status CheckNeedsOf(const KernelImage& image, abi::Resource resource,
                             std::span<const int32_t> given, hw::Coordinate tile) {
    for (const KernelNeed& need : image.needs) {
      if (need.resource != resource || (need.index < given.size() && given[need.index] >= 0)) {
        continue;
      }
      std::string others;
      for (uint32_t index = 0; index < given.size(); ++index) {
        if (given[index] >= 0) others += fmt::format("{}{}", others.empty() ? "" : ", ", index);
      }
      return NotGiven(image, need,
                      fmt::format("core ({},{}) of the program has {}", tile.x, tile.y,
                                  others.empty() ? "none" : "only " + others));
    }
    return OkStatus();
  }

  template <typename Visit>
  Status ForEachTile(const std::vector<CoreRange>& cores, const Visit& visit) {
    for (const CoreRange& range : cores) {
      for (uint32_t y = range.y0; y <= range.y1; ++y) {
        for (uint32_t x = range.x0; x <= range.x1; ++x) {
          RETURN_IF_ERROR(visit(plans_[y * grid_.x + x], x, y));
        }
      }
    }
    return OkStatus();
  }

  void AddWorker(uint32_t worker) {
    program_->workers.push_back(static_cast<uint16_t>(worker));
    auto& places = program_->places.emplace_back();
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const int32_t kernel = plans_[worker].kernel[hart];
      if (kernel == kNoKernel) continue;
      places[hart].kernel = static_cast<int16_t>(kernel);
      places[hart].position = position_[static_cast<size_t>(kernel)][worker];
    }
  }

  void MakeGroups() {
    std::map<TilePlan, TileSet> by_plan;
    for (uint32_t worker = 0; worker < plans_.size(); ++worker) {
      if (!program_->tiles.test(worker)) continue;
      by_plan[plans_[worker]].set(worker);
      AddWorker(worker);
    }
    for (const auto& [plan, tiles] : by_plan) {
      ProgramGroup group;
      group.kernel = plan.kernel;
      group.rectangles = CoverWithRectangles(tiles, grid_);
      group.circular_buffers.resize(program_->circular_buffer_count);
      for (uint32_t i = 0; i < program_->circular_buffer_count; ++i) {
        const int32_t use = plan.circular_buffer[i];
        if (use < 0) continue;
        const CircularBufferUse& spec = spec_.circular_buffers[use];
        group.circular_buffers[i] = {buffer_address_[use], spec.pages, spec.page_bytes,
                                     spec.format};
      }
      group.semaphores.resize(program_->semaphore_count);
      for (uint32_t i = 0; i < program_->semaphore_count; ++i) {
        const int32_t use = plan.semaphore[i];
        if (use >= 0) group.semaphores[i].value = spec_.semaphores[use].initial;
      }
      program_->groups.push_back(std::move(group));
    }
  }

  const ProgramSpec& spec_;
  const GridSize grid_;
  std::shared_ptr<Program> program_;
  std::vector<TilePlan> plans_;                                   // by worker
  std::vector<std::array<uint16_t, abi::kMaxL1Banks>> position_;  // [kernel][worker]
  std::vector<uint32_t> buffer_address_, buffer_end_;             // by use
};

}  // namespace

StatusOr<std::shared_ptr<const Program>> BuildProgram(uint32_t id, const ProgramSpec& spec,
                                                      GridSize grid) {
  return ProgramBuilder(id, spec, grid).Build();
}

// By bytes, not by a hash: no user can make an image that is taken for another user's. The harts of a tile have a copy
// each, because data and bss are part of an image.
bool HaveSameCode(const KernelImage& a, const KernelImage& b) {
  return &a == &b || (a.hart == b.hart && a.bytes == b.bytes);
}

uint32_t KernelCount(const Program& program) {
  return static_cast<uint32_t>(program.kernels.size());
}

uint32_t KernelCoreCount(const Program& program, uint32_t kernel) {
  return static_cast<uint32_t>(program.kernels[kernel].workers.size());
}

bool IsCallable(const Program& program, uint32_t kernel) {
  return program.kernels[kernel].callable;
}

}  // namespace ttfd
