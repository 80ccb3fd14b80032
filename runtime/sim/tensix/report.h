// How an instruction ended, and what its engine reports to the tile around it.
#pragma once

#include <cstdint>

namespace ttfd::sim::tensix {

// Changes that an instruction can wait for, one bit each.
inline constexpr uint32_t kSrcAEvent = 1u << 0;  // a bank of SrcA became valid or free
inline constexpr uint32_t kSrcBEvent = 1u << 1;
constexpr uint32_t SemaphoreEvent(uint32_t semaphore) { return 4u << semaphore; }

inline constexpr uint32_t kPackedRows = 4;  // by one PACR

enum class Outcome : uint8_t {
  kDone,
  kWaits,    // nothing has happened: execute it again after one of Report::waits_for
  kRefused,  // nothing has happened: the model does not execute this
};

// One an engine, shared by its units.
struct Report {
  // Set by kWaits:
  uint32_t waits_for = 0;  // events
  // Set by kRefused, static texts:
  const char* field = "";  // of the instruction or the configuration
  const char* reason = "";
  // Since the tile set them to 0:
  uint32_t changed = 0;        // events
  uint32_t written_bytes = 0;  // of L1, by the packer
  uint64_t work = 0;           // in nominal nanoseconds of the host (engine.cc)
  // Set by UNPACR or PACR:
  uint32_t written_address = 0;  // of those bytes of L1
  uint32_t read_address = 0;     // of L1, by an unpacker
  uint32_t read_bytes = 0;
  uint32_t unpacked_row =
      0;  // first of the 32-bit rows of Dst that an unpacker has written, and how many
  uint32_t unpacked_rows = 0;
  uint32_t packed_row = 0;  // first of the kPackedRows rows of Dst that the packer has read

  Outcome Wait(uint32_t events) {
    waits_for = events;
    return Outcome::kWaits;
  }
  Outcome Refuse(const char* in_field, const char* because) {
    field = in_field;
    reason = because;
    return Outcome::kRefused;
  }
};

}  // namespace ttfd::sim::tensix
