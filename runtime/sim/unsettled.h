// The reads and writes under way in a tile's Tensix engine, and the stores of its harts to configuration that may not
// have arrived, with the hazard "compute" only.
//
// Owned by the tile's ComputeQueue, which reports to it all that happens to the engine, in order. A use of a resource
// (tensix/footprint.h) is under way from when its instruction left its thread until the thread, or another one, has
// waited for it: by a STALLWAIT for its unit, a load of kSync, or an instruction that waited for the source bank it
// filled. A hart's store is under way until the hart has read it back, or its thread has waited for configuration.
// An instruction or access that conflicts with a use under way, because one of the two writes, is a missing wait. Time
// settles nothing, so the delays of a seed hide no missing wait. Instructions of one pipeline are in order and do not
// conflict.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/hw/tensix.h"
#include "runtime/hw/tensix_config.h"
#include "runtime/sim/tensix/footprint.h"

namespace ttfd::sim {

class Unsettled {
 public:
  // `stores_take_time`: stores of harts arrive later than a fence behind them (hazard "stores").
  explicit Unsettled(bool stores_take_time);

  // An order of pushes, executions and accesses.
  uint64_t Next() { return ++now_; }

  // The engine has executed an instruction. `since`: from when on accesses of others to its bytes of L1 are not covered
  // by a wait: its push, or a later wait of its thread for a semaphore. False: report().
  bool Execute(uint32_t thread, uint32_t instruction, const tensix::Footprint& footprint,
               uint64_t since);
  // A wait of `thread` for conditions (hw::tensix::kUntil...) is over; `pushed`: when it was pushed.
  void EndWait(uint32_t thread, uint32_t conditions, const tensix::Engine& engine, uint64_t pushed);
  // A hart has waited until its thread was drained.
  void Drain(uint32_t thread);

  // A hart stores another value, or loads. False: report().
  bool Store(uint32_t hart, tensix::Resource resource, uint32_t index);
  bool Load(uint32_t hart, tensix::Resource resource, uint32_t index);
  // The same for any word of configuration, whether or not it changes: what has arrived.
  void StoredConfig(uint32_t hart, uint32_t word) { stored_[hart][word] = ++now_; }
  void LoadedConfig(uint32_t hart, uint32_t word);
  // After a fence, a load of any word shows that the stores before it have arrived.
  void Fenced(uint32_t hart) { fenced_[hart] = stores_take_time_ ? ~uint64_t{0} : now_; }

  // Others access bytes of L1. `queued`: instructions that access L1 are queued. False: report(); hart() is that
  // of the instruction under way.
  bool AccessL1(uint32_t address, uint32_t length, bool writes, bool queued);

  // Accesses to L1 that later ones are compared with: a limited number, whatever happens.
  size_t kept() const { return l1_.size() + others_.size(); }

  const std::string& report() const { return report_; }
  // Hart (hw::Hart) of the use that is under way.
  uint32_t hart() const { return found_hart_; }

 private:
  using Resource = tensix::Resource;
  static constexpr uint32_t kHarts = tensix::kPipelines;  // the harts' stores, as one more pipeline
  static constexpr uint32_t kActors = tensix::kPipelines + 1;

  struct Use {
    uint64_t number = 0;  // 0: none
    uint32_t instruction = 0;
    uint32_t thread = 0;  // of kHarts: hw::Hart
  };
  // The last uses of a row, word, id, register or bank, by pipeline. The earlier ones are over when they are.
  struct Uses {
    std::array<Use, kActors> read;
    std::array<Use, kActors> written;
  };
  // Bytes of L1.
  struct L1Use {
    Use use;
    uint32_t actor = 0;
    uint32_t address = 0;
    uint32_t length = 0;
    bool written = false;
    bool Overlaps(uint32_t other, uint32_t other_length) const {
      return address < other + other_length && other < address + length;
    }
  };

  static uint32_t IndexOf(Resource resource, uint32_t thread, uint32_t index);
  template <typename Each>
  static bool ForEach(uint32_t thread, const tensix::Range& range, Each each);
  bool IsUnderWay(uint32_t actor, const Use& use) const {
    return use.number > settled_[actor][use.thread];
  }
  bool Check(uint32_t actor, uint32_t thread, const tensix::Range& range);
  void Record(uint32_t actor, uint32_t thread, uint32_t instruction, const tensix::Range& range);
  void RecordL1(const L1Use& use);
  bool CheckL1(uint32_t actor, const tensix::Range& range, uint64_t since);
  void EndFilling(uint32_t bank);
  void EndUseOfFreeBanks(const tensix::Footprint& footprint);
  void Settle(uint32_t actor, uint32_t thread, uint64_t number);
  bool Found(uint32_t actor, const Use& use, const tensix::Range& range, bool use_writes);

  const bool stores_take_time_;
  uint64_t now_ = 0;
  std::vector<Uses> uses_;
  std::vector<L1Use> l1_;
  // Accesses of others to L1 since an instruction that accesses it is queued.
  std::vector<L1Use> others_;
  // The number of the last use that is over.
  std::array<std::array<uint64_t, hw::kHarts>, kActors> settled_{};
  // When the unpacker handed each source bank over, and when the FPU gave it back.
  std::array<uint64_t, 4> filled_{};
  std::array<uint64_t, 4> released_{};
  std::array<std::array<uint64_t, hw::tensix::kConfigWords>, hw::kHarts> stored_{};
  std::array<uint64_t, hw::kHarts> fenced_{};
  std::string report_;
  uint32_t found_hart_ = 0;
};

}  // namespace ttfd::sim
