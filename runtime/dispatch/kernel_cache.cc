// Which kernel images lie where in the workers' kernel cache.
#include "runtime/dispatch/kernel_cache.h"

#include <algorithm>

#include "runtime/base/bits.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

bool Uses(const Program& program, const std::shared_ptr<const KernelImage>& image) {
  return std::any_of(program.images.begin(), program.images.end(),
                     [&image](const ProgramImage& used) { return used.image == image; });
}

}  // namespace

KernelCache::Entry* KernelCache::Find(const std::shared_ptr<const KernelImage>& image) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&image](const Entry& entry) { return entry.image == image; });
  return found == entries_.end() ? nullptr : &*found;
}

uint32_t KernelCache::FindGap(uint32_t bytes) const {
  uint32_t begin = address_;
  for (const Entry& entry : entries_) {
    if (entry.address - begin >= bytes) return begin;
    begin = entry.address + entry.bytes;
  }
  return address_ + bytes_ - begin >= bytes ? begin : 0;
}

bool KernelCache::EvictOldest(const Program& program) {
  auto oldest = entries_.end();
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (Uses(program, entry->image)) continue;
    if (oldest == entries_.end() || entry->last_use < oldest->last_use) oldest = entry;
  }
  if (oldest == entries_.end()) return false;
  evicted_busy_workers_ = std::max(evicted_busy_workers_, oldest->busy_workers);
  entries_.erase(oldest);
  return true;
}

KernelCache::Entry* KernelCache::Insert(const std::shared_ptr<const KernelImage>& image,
                                        const Program& program, uint64_t& wait_workers) {
  const auto bytes = AlignUp(static_cast<uint32_t>(image->bytes.size()), hw::kL1Alignment);
  uint32_t address = FindGap(bytes);
  while (address == 0) {
    if (!EvictOldest(program)) return nullptr;
    address = FindGap(bytes);
  }
  // Whoever was evicted may have been here. A wait that has happened already costs nothing.
  wait_workers = std::max(wait_workers, evicted_busy_workers_);
  Entry entry;
  entry.image = image;
  entry.address = address;
  entry.bytes = bytes;
  const auto before = std::find_if(entries_.begin(), entries_.end(), [address](const Entry& other) {
    return other.address > address;
  });
  return &*entries_.insert(before, std::move(entry));
}

KernelCache::Placement KernelCache::Place(const Program& program) {
  Placement placement;
  for (const ProgramImage& used : program.images) {
    if (Find(used.image) != nullptr) continue;
    if (Insert(used.image, program, placement.wait_workers) != nullptr) continue;
    // The program's own images lie so that the rest does not fit between them: all move.
    for (const Entry& entry : entries_) {
      evicted_busy_workers_ = std::max(evicted_busy_workers_, entry.busy_workers);
    }
    entries_.clear();
    for (const ProgramImage& again : program.images) {
      Insert(again.image, program, placement.wait_workers);
    }
    break;
  }
  ++uses_;
  placement.images.resize(program.images.size());
  for (size_t i = 0; i < program.images.size(); ++i) {
    Entry& entry = *Find(program.images[i].image);
    ImagePlacement& placed = placement.images[i];
    placed.address = entry.address;
    const TileSet missing = program.images[i].tiles & ~entry.tiles;
    if (missing.any()) {
      placed.missing = CoverWithRectangles(missing, program.grid);
      if (placed.missing.size() > kMaxImageRectangles) {
        placed.missing = {BoundingBox(missing, program.grid)};
        // Tiles in the box that run the image now must not be written under their feet.
        if ((TilesOf(placed.missing[0], program.grid) & entry.tiles).any()) {
          placement.wait_workers = std::max(placement.wait_workers, entry.busy_workers);
        }
      }
      for (const CoreRange& range : placed.missing) {
        entry.tiles |= TilesOf(range, program.grid);
        entry.fresh |= TilesOf(range, program.grid);
      }
    }
    placed.new_code = (entry.fresh & program.images[i].tiles).any();
    entry.fresh &= ~program.images[i].tiles;
    entry.last_use = uses_;
  }
  return placement;
}

void KernelCache::Used(const Program& program, uint64_t workers) {
  for (const ProgramImage& used : program.images) Find(used.image)->busy_workers = workers;
}

}  // namespace ttfd
