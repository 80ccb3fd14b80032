// Which kernel images lie where in the workers' kernel cache.
#include "runtime/card/kernel_cache.h"

#include <algorithm>
#include <utility>

#include "runtime/base/bits.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

// The program's image with this code, or null.
const ProgramImage* FindUse(const Program& program, const KernelImage& image) {
  const auto found =
      std::find_if(program.images.begin(), program.images.end(),
                   [&image](const ProgramImage& used) { return HaveSameCode(*used.image, image); });
  return found == program.images.end() ? nullptr : &*found;
}

}  // namespace

const KernelCache::Entry* KernelCache::Find(const KernelImage& image) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&image](const Entry& entry) {
    return HaveSameCode(*entry.image, image);
  });
  return found == entries_.end() ? nullptr : &*found;
}

KernelCache::Entry* KernelCache::Find(const KernelImage& image) {
  return const_cast<Entry*>(std::as_const(*this).Find(image));
}

uint32_t KernelCache::FindGap(uint32_t bytes) const {
  uint32_t begin = address_;
  for (const Entry& entry : entries_) {
    if (entry.address - begin >= bytes) return begin;
    begin = entry.address + entry.bytes;
  }
  return address_ + bytes_ - begin >= bytes ? begin : 0;
}

bool KernelCache::Entry::pinned() const {
  return std::any_of(traces.begin(), traces.end(),
                     [](const std::weak_ptr<const Trace>& trace) { return !trace.expired(); });
}

void KernelCache::Evict(std::vector<Entry>::iterator entry) {
  evicted_busy_.Raise(entry->busy);
  evicted_.push_front({entry->image, entry->address});
  if (evicted_.size() > kRememberedEvictions) evicted_.pop_back();
  entries_.erase(entry);
}

KernelCache::Resident KernelCache::At(uint32_t address, const Program* program) const {
  const auto resident = [program](const auto& entry) {
    const ProgramImage* const use = program == nullptr ? nullptr : FindUse(*program, *entry.image);
    return Resident{entry.address, static_cast<uint32_t>(entry.image->bytes.size()),
                    use == nullptr ? nullptr : use->image};
  };
  // The resident one at or below the address.
  Resident best;
  for (const Entry& entry : entries_) {
    if (entry.address > address) break;
    best = resident(entry);
  }
  if (address - best.address < best.bytes && best.image != nullptr) return best;
  for (const Evicted& entry : evicted_) {
    if (address < entry.address || address - entry.address >= entry.image->bytes.size()) continue;
    Resident evicted = resident(entry);
    if (evicted.image != nullptr || best.bytes == 0) return evicted;
  }
  return best;
}

bool KernelCache::EvictOldest(const Program& program, const WorkerCounts& ended) {
  auto oldest = entries_.end();
  std::pair<bool, uint64_t> least;  // in use, last use
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (FindUse(program, *entry->image) != nullptr || entry->pinned()) continue;
    const std::pair use(!entry->busy.Within(ended), entry->last_use);
    if (oldest != entries_.end() && least < use) continue;
    oldest = entry;
    least = use;
  }
  if (oldest == entries_.end()) return false;
  Evict(oldest);
  return true;
}

KernelCache::Entry* KernelCache::Insert(const std::shared_ptr<const KernelImage>& image,
                                        const Program& program, const WorkerCounts& ended) {
  const auto bytes = AlignUp(static_cast<uint32_t>(image->bytes.size()), hw::kL1Alignment);
  uint32_t address = FindGap(bytes);
  while (address == 0) {
    if (!EvictOldest(program, ended)) return nullptr;
    address = FindGap(bytes);
  }
  Entry entry;
  // Whoever was evicted may have been here, and may still run on tiles the image comes to later. A wait
  // that has happened already costs nothing.
  entry.after = evicted_busy_;
  entry.image = image;
  entry.address = address;
  entry.bytes = bytes;
  const auto before = std::find_if(entries_.begin(), entries_.end(), [address](const Entry& other) {
    return other.address > address;
  });
  return &*entries_.insert(before, std::move(entry));
}

Status KernelCache::PlaceAnew(const Program& program, const WorkerCounts& ended) {
  for (size_t i = entries_.size(); i-- > 0;) {
    const auto entry = entries_.begin() + static_cast<std::ptrdiff_t>(i);
    if (!entry->pinned()) Evict(entry);
  }
  // The largest first: what traces leave free is in pieces.
  std::vector<std::shared_ptr<const KernelImage>> images;
  for (const ProgramImage& used : program.images) images.push_back(used.image);
  std::stable_sort(images.begin(), images.end(),
                   [](const auto& a, const auto& b) { return a->bytes.size() > b->bytes.size(); });
  for (const auto& image : images) {
    if (Find(*image) != nullptr || Insert(image, program, ended) != nullptr) continue;
    return Error(
        StatusCode::kResourceExhausted,
        "the program's kernels do not fit the kernel cache of {} bytes beside the {} bytes "
        "that recorded traces hold; release a trace",
        bytes_, pinned_bytes());
  }
  return OkStatus();
}

ImagePlacement KernelCache::PlaceOn(Entry& entry, const ProgramImage& image, GridSize grid,
                                    const TileSet& workers, WorkerCounts& wait) {
  ImagePlacement placed;
  placed.address = entry.address;
  const TileSet missing = image.tiles & ~entry.tiles;
  if (missing.any()) {
    wait.Raise(entry.after);
    placed.missing = ImageRectangles(missing, workers, grid);
    TileSet written;
    for (const CoreRange& range : placed.missing) written |= TilesOf(range, grid);
    // Tiles that run the image now must not be written under their feet.
    if ((written & entry.tiles).any()) wait.Raise(entry.busy);
    entry.tiles |= written;
    entry.fresh |= written;
  }
  placed.new_code = (entry.fresh & image.tiles).any();
  entry.fresh &= ~image.tiles;
  Touch(entry, image);
  return placed;
}

void KernelCache::Touch(Entry& entry, const ProgramImage& image) {
  entry.last_use = uses_;
  // Its next launch finds it without a comparison of bytes.
  if (entry.image != image.image) entry.image = image.image;
}

StatusOr<KernelCache::Placement> KernelCache::Place(const Program& program, const TileSet& workers,
                                                    const WorkerCounts& ended) {
  for (const ProgramImage& used : program.images) {
    if (Find(*used.image) != nullptr || Insert(used.image, program, ended) != nullptr) continue;
    // The program's own images lie so that the rest does not fit between them: all move.
    RETURN_IF_ERROR(PlaceAnew(program, ended));
    break;
  }
  ++uses_;
  Placement placement;
  for (const ProgramImage& used : program.images) {
    Entry& entry = *Find(*used.image);
    placement.images.push_back(PlaceOn(entry, used, program.grid, workers, placement.wait));
  }
  return placement;
}

std::optional<KernelCache::Placement> KernelCache::PlaceResident(const Program& program) {
  Placement placement;
  for (const ProgramImage& used : program.images) {
    const Entry* const entry = Find(*used.image);
    if (entry == nullptr || (used.tiles & ~entry->tiles).any() ||
        (used.tiles & entry->fresh).any()) {
      return std::nullopt;
    }
    placement.images.push_back({entry->address, {}, false});
  }
  ++uses_;
  for (const ProgramImage& used : program.images) Touch(*Find(*used.image), used);
  return placement;
}

void KernelCache::Used(const Program& program, uint32_t hardware_queue, uint32_t stream,
                       uint64_t workers) {
  for (const ProgramImage& used : program.images) {
    Find(*used.image)->busy.Raise(hardware_queue, stream, workers);
  }
}

void KernelCache::Pin(const Program& program, const std::weak_ptr<const Trace>& trace) {
  // Each segment of a trace pins what it uses.
  const auto is_same = [&trace](const auto& known) {
    return !known.owner_before(trace) && !trace.owner_before(known);
  };
  for (const ProgramImage& used : program.images) {
    std::vector<std::weak_ptr<const Trace>>& traces = Find(*used.image)->traces;
    std::erase_if(traces, [&](const auto& known) { return known.expired() || is_same(known); });
    traces.push_back(trace);
  }
}

std::vector<uint32_t> KernelCache::AddressesOf(const Program& program) const {
  std::vector<uint32_t> addresses;
  for (const ProgramImage& used : program.images) addresses.push_back(Find(*used.image)->address);
  return addresses;
}

std::vector<KernelCache::HeldImage> KernelCache::Images() const {
  std::vector<HeldImage> images;
  for (const Entry& entry : entries_) {
    images.push_back({entry.image, entry.address, entry.tiles});
  }
  return images;
}

std::vector<KernelCache::HeldImage> KernelCache::ImagesOn(uint32_t worker,
                                                          const Program& program) const {
  std::vector<HeldImage> images;
  for (const ProgramImage& own : program.images) {
    const Entry* const entry = own.tiles.test(worker) ? Find(*own.image) : nullptr;
    if (entry != nullptr && entry->tiles.test(worker)) {
      images.push_back({own.image, entry->address, entry->tiles});
    }
  }
  return images;
}

uint32_t KernelCache::pinned_bytes() const {
  uint32_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.pinned() ? entry.bytes : 0;
  return bytes;
}

}  // namespace ttfd
