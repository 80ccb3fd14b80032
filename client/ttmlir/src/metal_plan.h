// The steps of a program of a TTMetal file, found without a card.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/ttmlir/src/elements.h"
#include "client/ttmlir/src/kernel_compiler.h"
#include "client/ttmlir/src/native.h"
#include "client/ttmlir/src/record.h"
#include "ttfd/ttmlir/binary.h"
#include "ttfd/types.h"

namespace ttfd::ttmlir {

// Elements in the memory of the client: element (i, j, ...) lies at i * strides[0] + j * strides[1] + ... of `volume`.
struct HostSpec {
  std::string dtype;  // as the schema names it
  ElementType type = {};
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;  // elements
  uint64_t volume = 0;           // elements, with those between

  uint64_t elements() const;
  uint64_t bytes() const;
};

// A buffer of the card, of pages that lie row by row.
struct BufferSpec {
  uint64_t bytes = 0;
  uint32_t page_bytes = 0;
  std::vector<client::CoreRange> cores =
      {};  // of shards in L1, in their order; none: interleaved in DRAM
  uint32_t row_pages = 1;
  uint32_t shard_rows = 1;
  uint32_t shard_row_pages = 1;
  bool is_tiled = false;  // pages are tiles, which the client makes of the elements

  uint64_t shard_bytes() const { return uint64_t{page_bytes} * shard_rows * shard_row_pages; }
};

// ---- Steps; `id` is that of a buffer or semaphore in the file.

struct HostStep {  // makes elements: those of the file, or zeros
  uint32_t id = 0;
  HostSpec spec = {};
  Bytes bytes = {};
};
struct HostCopyStep {
  uint32_t from = 0;
  uint32_t to = 0;
};
struct CreateStep {
  uint32_t id = 0;
  BufferSpec spec = {};
};
struct ReleaseStep {
  uint32_t id = 0;
};
struct WriteStep {  // host to card
  uint32_t from = 0;
  uint32_t to = 0;
};
struct ReadStep {  // card to host
  uint32_t from = 0;
  uint32_t to = 0;
};
// A semaphore outside programs: 16 bytes of each core's L1, where CreateStep made them.
struct SetStep {
  uint32_t id = 0;
  uint32_t value = 0;
};

// A word of a kernel's common arguments.
struct ArgumentWord {
  enum class Kind : uint8_t { kNumber, kAddress, kScalar };
  Kind kind = Kind::kNumber;
  uint32_t value = 0;  // the number; or the id of a buffer, or of a host's, whose first word counts
};
struct KernelPlan {
  std::string name;
  std::vector<client::Processor> processors = {};
  std::string arguments = {};    // as text, before the source
  std::string_view source = {};  // in the file
  std::vector<client::CoreRange> cores = {};
  std::vector<ArgumentWord> words = {};

  bool is_compute() const { return processors.size() > 1; }
  KernelSource WholeSource() const;
};
struct CircularBufferPlan {
  uint32_t index = 0;
  uint32_t pages = 0;
  uint32_t page_bytes = 0;
  std::vector<client::CoreRange> cores = {};
  client::DataFormat format = client::DataFormat::kNone;
  std::optional<uint32_t> buffer = {};  // that it lies on
};
struct SemaphorePlan {
  uint32_t index = 0;
  uint32_t initial = 0;
  std::vector<client::CoreRange> cores;
};
struct LaunchStep {
  std::vector<KernelPlan> kernels = {};
  std::vector<CircularBufferPlan> circular_buffers = {};
  std::vector<SemaphorePlan> semaphores = {};
};

struct MetalArray {
  uint32_t id = 0;
  HostSpec spec = {};
};

// Calls a function of native code of the CPU, with elements of 4 bytes.
struct NativeCallStep {
  NativeFunction function = {};
  std::vector<uint32_t> inputs = {};
  std::vector<MetalArray> results = {};
};

using MetalStep = std::variant<HostStep, HostCopyStep, CreateStep, ReleaseStep, WriteStep, ReadStep,
                               SetStep, NativeCallStep, LaunchStep>;

struct MetalCommand {
  std::string type;
  std::string location;
  std::vector<MetalStep> steps = {};
  std::string problem = {};  // why it cannot run; empty: it can
};

struct MetalPlan {
  std::string name;
  std::vector<MetalArray> inputs = {};
  std::vector<MetalArray> outputs = {};
  std::vector<MetalStep> before =
      {};  // the inputs, and outputs of 2024, to where they lie on the card
  std::vector<MetalCommand> commands = {};  // as in the file
  std::vector<MetalStep> after = {};        // the outputs from there
  std::vector<std::string> problems = {};   // of the program itself
};

// `native` are the libraries of native code of the file.
MetalPlan MetalPlanOf(const Record& program, const List& native);

// The plans of a file's programs; none: it is no TTMetal file.
const std::vector<MetalPlan>& MetalPlansOf(const Binary& binary);

// "command 3 EnqueueProgramCommand at model.mlir:7:10".
std::string NameOf(const MetalPlan& plan, size_t command);

}  // namespace ttfd::ttmlir
