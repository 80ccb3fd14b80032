// Compiled programs: files that the tt-mlir compiler writes, opened and listed.
//
// A file is a size-prefixed FlatBuffer of one of three kinds. Its schema changes weekly without a version number: a
// file since 2025 names its schema by a hash, an older one only the compiler's commit. This library reads a file by
// the profile of exactly that schema (<kind>-<hash>.profile in share/ttfd/ttmlir), and refuses a file whose profile it
// does not have.
//
//   #include <ttfd/ttmlir/binary.h>
//
//   #include <iostream>
//
//   int main(int argc, char** argv) {
//     if (argc < 2) return 0;
//     const auto binary = ttfd::ttmlir::Binary::Load(argv[1]);
//     if (!binary.ok()) {
//       std::cerr << binary.status().ToString() << "\n";
//       return 1;
//     }
//     for (const auto& program : binary->programs()) std::cout << program.name << "\n";
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ttfd/status.h"

namespace ttfd::ttmlir {

enum class Kind : uint8_t {
  kTtnn,     // identifier TTNN: operations on tensors
  kTtMetal,  // TTM0: commands of queues, kernels as C++ source
  kSystem,   // TTSY: the description of a system of chips
};

// "TTNN", "TTMetal", "system description".
const char* KindName(Kind kind);

// A tensor, or a buffer of a TTMetal program. What a schema does not say is empty.
struct TensorInfo {
  uint32_t id =
      0;  // unique within its program; an operation's result has one that no earlier operand has
  std::vector<int64_t> shape;  // elements; of the whole tensor where it is distributed over chips
  std::string dtype;           // as the schema names it: "Float32", "BFloat16", "UInt32"
  std::string layout;          // "tile" or "row major"
  std::string memory;          // "DRAM interleaved", "L1 block sharded", "host"

  // "%3 BFloat16 [64,128]".
  std::string ToString() const;
};

// An operation of a TTNN program, or a command of a TTMetal program.
struct OperationInfo {
  std::string type;  // as the schema names it: "MatmulOp", "EnqueueProgramCommand"
  std::vector<TensorInfo> results;
  std::vector<TensorInfo> operands;
  // Fields that are set and no tensors, in the order of the schema: {"dim_arg", "[-1]"}.
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string location;  // of the compiler's source: "simple_matmul.mlir:16:10"; empty: unknown
  std::string text;      // the operation as the compiler printed it
};

// A kernel that a TTMetal program runs.
struct KernelInfo {
  size_t command = 0;  // index of the command that runs it
  std::string name;    // its symbol, or what the compiler printed of it; may be empty
  std::string
      processor;      // "Noc0", "Noc1", "Tensix", "Ethernet"; of later schemas "RISCV_0", "compute"
  std::string cores;  // "0,0-7,7" in x,y of workers, inclusive; several separated by spaces
  std::string source;  // C++; empty if it is a binary
  uint64_t binary_bytes = 0;
};

struct ProgramInfo {
  std::string name;
  bool is_private = false;          // called by other programs of the file only
  size_t operations = 0;            // or commands
  std::vector<int64_t> mesh_shape;  // chips; empty: one
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  // Functions of the CPU as native code.
  size_t native_libraries = 0;
  uint64_t native_bytes = 0;
};

struct LoadOptions {
  // The folder of profiles; empty: share/ttfd/ttmlir of this installation.
  std::string profiles;
};

// A file, mapped and verified. Immutable; copies share it; any thread. Its bytes stay on disk: a change of the file
// while it is open changes what is listed, and truncating it ends the process (SIGBUS), as with any mapped file.
class Binary {
 public:
  // Maps and verifies the file: every offset, list, text and union, at most 64 tables deep, at most 65,536 values and
  // 2 a byte. NOT_FOUND: it cannot be read. INVALID_ARGUMENT: it is no file of tt-mlir, or damaged; names the place.
  // UNIMPLEMENTED: there is no profile of its schema; names its hashes and the profiles that there are.
  static client::Result<Binary> Load(const std::string& path, const LoadOptions& options = {});

  const std::string& path() const;
  Kind kind() const;
  const std::string& version() const;      // of the compiler: "0.0.131"
  const std::string& schema_hash() const;  // empty: the file has none
  const std::string& git_hash() const;     // of the compiler's commit
  const std::string& profile() const;      // "ttnn-433d79f929b1"

  // Empty for a system description.
  const std::vector<ProgramInfo>& programs() const;
  // Operations and kernels of program `program`; an index beyond the last has none. The operations of a TTMetal program
  // are the commands of all its queues, in order.
  std::vector<OperationInfo> Operations(size_t program) const;
  std::vector<KernelInfo> Kernels(size_t program) const;

  // JSON with the names and values that FlatBuffers' own compiler prints with this schema, defaults included, in
  // parts: of the whole file, of the operations of a program, of the description of the system it was compiled for.
  using Sink = std::function<void(std::string_view part)>;
  void WriteJson(const Sink& sink) const;
  std::string OperationsAsJson(size_t program) const;
  std::string SystemAsJson() const;

 private:
  // Functions of the library.
  friend std::shared_ptr<class Executable> ExecutableOf(const Binary& binary);
  friend const std::vector<struct MetalPlan>& MetalPlansOf(const Binary& binary);

  struct State;
  explicit Binary(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

// The folder share/ttfd/ttmlir of the installation or build folder that this library belongs to; empty: there is none.
std::string ProfileFolder();
// Names of the profiles in a folder, sorted: "system-92f6a8a87b72", "ttnn-433d79f929b1".
std::vector<std::string> ProfilesIn(const std::string& folder);

}  // namespace ttfd::ttmlir
