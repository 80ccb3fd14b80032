// The Tensix engine of one tile.
//
// An instruction is executed when it is pushed, or it waits: then nothing has happened, and its thread pushes it again
// when one of the events it waits for has come about. So an engine has no queues and no threads of its own: the harts
// that push are its threads. Not thread-safe. The same instructions in the same order leave the same bits everywhere.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/base/bytes.h"
#include "runtime/hw/tensix_config.h"
#include "runtime/sim/tensix/config.h"
#include "runtime/sim/tensix/counters.h"
#include "runtime/sim/tensix/fpu.h"
#include "runtime/sim/tensix/lanes.h"
#include "runtime/sim/tensix/moves.h"
#include "runtime/sim/tensix/packer.h"
#include "runtime/sim/tensix/registers.h"
#include "runtime/sim/tensix/report.h"
#include "runtime/sim/tensix/semaphores.h"
#include "runtime/sim/tensix/sfpu.h"
#include "runtime/sim/tensix/unpacker.h"

namespace ttfd::sim::tensix {

class Engine {
 public:
  // `l1` is the tile's; both outlive the engine.
  Engine(MutableByteSpan l1, const LaneKernels& lanes)
      : config_(report_),
        semaphores_(report_),
        counters_(report_),
        rows_(config_, report_),
        fpu_(lanes, config_, rows_, src_a_, src_b_, dst_, report_),
        moves_(config_, rows_, src_a_, src_b_, dst_, report_),
        sfpu_(lanes, config_, rows_, dst_, report_),
        unpackers_(l1, config_, counters_, src_a_, src_b_, dst_, report_),
        packer_(l1, config_, counters_, dst_, report_) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Executes one instruction of `thread` (0 to 2).
  Outcome Push(uint32_t thread, uint32_t instruction);

  // Stores of harts.
  Outcome WriteConfig(uint32_t word, uint32_t value) { return config_.Write(word, value); }
  Outcome WriteSemaphore(uint32_t semaphore, uint32_t value) {
    return semaphores_.Store(semaphore, value);
  }
  void WriteGpr(uint32_t thread, uint32_t index, uint32_t value) { gprs_[thread][index] = value; }

  const Config& config() const { return config_; }
  const ThreadRows& rows() const { return rows_; }
  const SourceFile& source(uint32_t index) const {
    return index == 0 ? src_a_ : src_b_;
  }  // SrcB: 1
  uint32_t semaphore(uint32_t index) const { return semaphores_.value(index); }
  uint32_t gpr(uint32_t thread, uint32_t index) const { return gprs_[thread][index]; }
  Report& report() { return report_; }

 private:
  Outcome Dispatch(uint32_t thread, uint32_t instruction);
  Outcome SetHalfGpr(uint32_t thread, hw::tensix::SETDMAREG instruction);
  Outcome WriteConfigFromGprs(uint32_t thread, hw::tensix::WRCFG instruction);

  Report report_;
  Config config_;
  Semaphores semaphores_;
  Adcs counters_;
  ThreadRows rows_;
  SourceFile src_a_;
  SourceFile src_b_;
  Dst dst_;
  Fpu fpu_;
  Moves moves_;
  Sfpu sfpu_;
  Unpackers unpackers_;
  Packer packer_;
  std::array<std::array<uint32_t, hw::tensix::kGprCount>, hw::tensix::kThreads> gprs_{};
};

}  // namespace ttfd::sim::tensix
