// Random valid streams of records, the same for equal seeds: every command, sizes about every boundary,
// small rings, one or two hardware queues, traces.
#pragma once

#include <cstdint>

#include "tests/support/firmware_bench.h"
#include "tests/support/record_stream.h"
#include "tests/support/reference_card.h"

namespace ttfd::testing {

// The rings, the firmware variant and the number of queues of a seed's stream.
BenchOptions RandomBench(uint32_t seed);

// What the records may rely on, of a bench that was created.
ReferenceLayout LayoutOf(FirmwareBench& bench);

// About `commands` commands a queue. The bench is one of RandomBench(seed).
RecordStream RandomStream(uint32_t seed, uint32_t commands, const BenchOptions& options,
                          FirmwareBench& bench);

}  // namespace ttfd::testing
