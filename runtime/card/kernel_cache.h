// Which kernel images lie where in the workers' kernel cache, and on which tiles.
//
// An image has one address on all tiles; which tiles hold it is a set. Images with the same code (HaveSameCode) are one
// here, also of different users: written once, pinned once. The least recently used images make room for new ones;
// images of a living trace stay where they are. Pure data structure.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/command/launch_encoder.h"
#include "runtime/command/program_layout.h"
#include "runtime/command/trace.h"
#include "runtime/command/worker_counts.h"

namespace ttfd {

class KernelCache {
 public:
  KernelCache(uint32_t address, uint32_t bytes) : address_(address), bytes_(bytes) {}

  // Nothing is resident any more.
  void Clear() {
    entries_.clear();
    evicted_.clear();
    evicted_busy_ = {};
  }

  struct Placement {
    std::vector<ImagePlacement> images;  // as Program::images; `missing` counts as written now
    WorkerCounts wait;                   // what must be reached before the images are written
  };
  // Places the program's images; what is written stays within `workers`, among which its tiles are.
  // REQUIRES that together they fit the cache (BuildProgram). RESOURCE_EXHAUSTED if traces hold too much
  // of it. What the launches up to `ended` used goes first, for nobody has to wait for its place.
  StatusOr<Placement> Place(const Program& program, const TileSet& workers,
                            const WorkerCounts& ended = {});
  // The same of a program all of whose images are where its tiles run them: what nearly every launch finds, and
  // changes nothing but how lately they were used.
  std::optional<Placement> PlaceResident(const Program& program);
  // The images of a placed program are in use until the count of a stream is `workers`.
  void Used(const Program& program, uint32_t hardware_queue, uint32_t stream, uint64_t workers);
  // The images of a placed program stay while the trace lives.
  void Pin(const Program& program, const std::weak_ptr<const Trace>& trace);
  // Where the images of a placed program are, as Program::images.
  std::vector<uint32_t> AddressesOf(const Program& program) const;
  // Every resident image, by address.
  struct HeldImage {
    std::shared_ptr<const KernelImage> image;  // of the program that used it last
    uint32_t address = 0;
    TileSet tiles;  // that hold it
  };
  std::vector<HeldImage> Images() const;
  // The images of the program that the worker holds and runs.
  std::vector<HeldImage> ImagesOn(uint32_t worker, const Program& program) const;
  // Which image lies at `address`, or ends before it; of several that were there lately, the one that `program` uses.
  struct Resident {
    uint32_t address = 0;  // of its beginning
    uint32_t bytes = 0;    // 0: no image
    // The program's own, with its names. Null: the program has no such image.
    std::shared_ptr<const KernelImage> image;
  };
  // `program`: null if none is known.
  Resident At(uint32_t address, const Program* program) const;
  // Bytes that living traces hold.
  uint32_t pinned_bytes() const;

 private:
  struct Entry {
    std::shared_ptr<const KernelImage>
        image;  // of the program that used it last: most often that of the next one
    uint32_t address = 0;
    uint32_t bytes = 0;
    TileSet tiles;          // where it is resident
    TileSet fresh;          // of which instruction caches were not dropped since
    uint64_t last_use = 0;  // order of use
    WorkerCounts busy;      // at which the last launches that use it have ended
    WorkerCounts after;     // at which whoever had the place before has ended, on any tile
    std::vector<std::weak_ptr<const Trace>> traces;  // that pin it
    bool pinned() const;
  };
  Entry* Find(const KernelImage& image);
  const Entry* Find(const KernelImage& image) const;
  // An entry for the image at a free place, evicting; null if what the program itself uses is in
  // the way.
  Entry* Insert(const std::shared_ptr<const KernelImage>& image, const Program& program,
                const WorkerCounts& ended);
  // Throws everything out that is not pinned, and places the program's images again.
  Status PlaceAnew(const Program& program, const WorkerCounts& ended);
  void Evict(std::vector<Entry>::iterator entry);
  ImagePlacement PlaceOn(Entry& entry, const ProgramImage& image, GridSize grid,
                         const TileSet& workers, WorkerCounts& wait);
  void Touch(Entry& entry, const ProgramImage& image);
  // Where `bytes` fit between the entries, or 0.
  uint32_t FindGap(uint32_t bytes) const;
  bool EvictOldest(const Program& program, const WorkerCounts& ended);

  uint32_t address_;
  uint32_t bytes_;
  std::vector<Entry> entries_;  // by address
  uint64_t uses_ = 0;
  // Evicted lately: what a hart still runs may not be resident for the next launches any more.
  struct Evicted {
    std::shared_ptr<const KernelImage> image;
    uint32_t address = 0;
  };
  static constexpr size_t kRememberedEvictions = 32;
  std::deque<Evicted> evicted_;  // the front was evicted last
  // Evicted images may still run; whoever takes their place waits for these counts.
  WorkerCounts evicted_busy_;
};

}  // namespace ttfd
