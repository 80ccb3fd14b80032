// Example: chips of a mesh give each other what each of them has, or add it.
//
//   collectives ROWSxCOLUMNS all_gather|reduce_scatter|all_reduce FOLDER
//
// Reads 32-bit integers from FOLDER/in, as many for each chip, carries the operation out along each axis of the mesh
// that has more than one chip, and writes what every chip has then, chip after chip, to FOLDER/axis0 and FOLDER/axis1.
// The demo `ring` makes the file with NumPy and compares.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "check.h"
#include "ttfd/mesh/mesh.h"

namespace {

using ttfd::client::Code;
using ttfd::client::Status;
using ttfd::mesh::Element;
using ttfd::mesh::Mesh;
using ttfd::mesh::MeshBuffer;

// The clocks are those of the last one, when no chip waits for the launches of others.
constexpr int kRepeats = 3;

std::vector<char> Load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Check(file ? Status() : Status(Code::kNotFound, "cannot read " + path), "load");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Status Enqueue(Mesh& mesh, const std::string& operation, const MeshBuffer& from,
               const MeshBuffer& to, uint32_t axis) {
  if (operation == "all_gather") return mesh.EnqueueAllGather(from, to, axis);
  if (operation == "reduce_scatter") {
    return mesh.EnqueueReduceScatter(from, to, Element::kInt32, axis);
  }
  return mesh.EnqueueAllReduce(from, to, Element::kInt32, axis);
}

// Bytes that a chip receives: each of k chips gets the others' parts, or what is to be added to its own.
double Received(const std::string& operation, const MeshBuffer& from, uint32_t length) {
  const auto others = static_cast<double>((length - 1) * from.size_bytes());
  if (operation == "all_gather") return others;
  return others / length * (operation == "all_reduce" ? 2 : 1);
}

void Run(Mesh& mesh, const std::string& operation, const std::vector<char>& numbers, uint32_t axis,
         const std::string& path) {
  const uint32_t length = mesh.length(axis);
  const size_t bytes = numbers.size() / mesh.chips();
  // A chip's numbers are one part, or one for each chip of the line, which gets the sum of these parts.
  const uint32_t parts = operation == "reduce_scatter" ? length : 1;
  const MeshBuffer from = Check(mesh.Allocate(bytes / parts, parts), "allocate");
  const MeshBuffer to =
      Check(mesh.Allocate(bytes / parts, operation == "all_gather" ? length : 1), "allocate");
  for (uint32_t chip = 0; chip < mesh.chips(); ++chip) {
    Check(mesh.Write(from, chip, std::as_bytes(std::span(numbers).subspan(chip * bytes, bytes))),
          "write");
  }
  for (int i = 0; i < kRepeats; ++i) {
    Check(Enqueue(mesh, operation, from, to, axis), operation.c_str());
  }
  Check(mesh.Finish(), "finish");
  uint64_t clocks = 1;
  for (const auto& span : Check(mesh.Clocks(), "clocks")) {
    clocks = std::max(clocks, span.end - span.begin);
  }
  std::printf(
      "collectives: %s along axis %u, a %s of %u chips with %zu bytes each: %.1f bytes a clock\n",
      operation.c_str(), axis, mesh.placement().closed[axis] ? "ring" : "line", length, bytes,
      Received(operation, from, length) / static_cast<double>(clocks));
  std::ofstream file(path, std::ios::binary);
  std::vector<std::byte> result(to.size_bytes());
  for (uint32_t chip = 0; chip < mesh.chips(); ++chip) {
    Check(mesh.Read(to, chip, result), "read");
    file.write(reinterpret_cast<const char*>(result.data()),
               static_cast<std::streamsize>(result.size()));
  }
  file.close();
  Check(file ? Status() : Status(Code::kUnavailable, "cannot write " + path), "save");
}

}  // namespace

int main(int argc, char** argv) {
  unsigned rows = 0, columns = 0;
  const std::string operation = argc == 4 ? argv[2] : "";
  if ((operation != "all_gather" && operation != "reduce_scatter" && operation != "all_reduce") ||
      std::sscanf(argv[1], "%ux%u", &rows, &columns) != 2) {
    std::fprintf(stderr,
                 "usage: collectives ROWSxCOLUMNS all_gather|reduce_scatter|all_reduce FOLDER\n");
    return 2;
  }
  const std::string folder = std::string(argv[3]) + "/";
  ttfd::mesh::MeshOptions options{.shape = {rows, columns}};
  options.session.client_name = "collectives";
  Mesh mesh = Check(Mesh::Connect(options), "connect");
  const std::vector<char> numbers = Load(folder + "in");
  for (const uint32_t axis : {0u, 1u}) {
    if (mesh.length(axis) == 1) continue;
    Run(mesh, operation, numbers, axis, folder + "axis" + std::to_string(axis));
  }
  return 0;
}
