// Which kernel images lie where in the workers' kernel cache, and on which tiles.
//
// An image has one address on all tiles; which tiles hold it is a set. The least recently used
// images make room for new ones. Pure data structure.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/command/launch_encoder.h"
#include "runtime/command/program_layout.h"

namespace ttfd {

class KernelCache {
 public:
  KernelCache(uint32_t address, uint32_t bytes) : address_(address), bytes_(bytes) {}

  // Nothing is resident any more.
  void Clear() { entries_.clear(); }

  struct Placement {
    std::vector<ImagePlacement> images;  // as Program::images; `missing` counts as written now
    uint64_t wait_workers = 0;  // worker count that must be reached before the images are written
  };
  // Places the program's images. REQUIRES that together they fit the cache (BuildProgram).
  Placement Place(const Program& program);
  // The images of the last placed program are in use until the workers' count is `workers`.
  void Used(const Program& program, uint64_t workers);

 private:
  struct Entry {
    std::shared_ptr<const KernelImage> image;  // kept, so that its identity is not reused
    uint32_t address = 0;
    uint32_t bytes = 0;
    TileSet tiles;              // where it is resident
    TileSet fresh;              // of which instruction caches were not dropped since
    uint64_t last_use = 0;      // order of use
    uint64_t busy_workers = 0;  // worker count at which the last launch that uses it has ended
  };
  Entry* Find(const std::shared_ptr<const KernelImage>& image);
  // An entry for the image at a free place, evicting; null if what the program itself uses is in
  // the way.
  Entry* Insert(const std::shared_ptr<const KernelImage>& image, const Program& program,
                uint64_t& wait_workers);
  // Where `bytes` fit between the entries, or 0.
  uint32_t FindGap(uint32_t bytes) const;
  bool EvictOldest(const Program& program);

  const uint32_t address_;
  const uint32_t bytes_;
  std::vector<Entry> entries_;  // by address
  uint64_t uses_ = 0;
  // Evicted images may still run; whoever takes their place waits for this count.
  uint64_t evicted_busy_workers_ = 0;
};

}  // namespace ttfd
