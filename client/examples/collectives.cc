// Example: chips of a mesh give each other what each of them has.
//
//   collectives ROWSxCOLUMNS FOLDER
//
// Reads 32-bit integers from FOLDER/in, an equal part for each chip, gathers them along each axis of the mesh that has
// more than one chip, and writes what every chip has then, chip after chip, to FOLDER/axis0 and FOLDER/axis1. The demo
// `ring` makes the file with NumPy and compares.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "check.h"
#include "ttfd/mesh/mesh.h"

namespace {

using ttfd::client::Code;
using ttfd::client::Status;
using ttfd::mesh::Mesh;
using ttfd::mesh::MeshBuffer;

// The clocks are those of the last one, when no chip waits for the launches of others.
constexpr int kRepeats = 3;

std::vector<char> Load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Check(file ? Status() : Status(Code::kNotFound, "cannot read " + path), "load");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Gather(Mesh& mesh, const MeshBuffer& part, uint32_t axis, const std::string& path) {
  const uint32_t length = mesh.length(axis);
  const MeshBuffer whole = Check(mesh.Allocate(part.part_bytes, length), "allocate");
  Check(mesh.AllGather(part, whole, axis), "all_gather");
  for (int i = 0; i < kRepeats; ++i) Check(mesh.EnqueueAllGather(part, whole, axis), "all_gather");
  Check(mesh.Finish(), "finish");
  const double clocks = static_cast<double>(Check(mesh.Clocks(), "clocks"));
  std::printf(
      "collectives: all_gather along axis %u, a %s of %u chips with %llu bytes each: %.1f bytes a "
      "clock\n",
      axis, mesh.placement().closed[axis] ? "ring" : "line", length,
      static_cast<unsigned long long>(part.part_bytes),
      static_cast<double>((length - 1) * part.part_bytes) / clocks);
  std::ofstream file(path, std::ios::binary);
  std::vector<std::byte> bytes(whole.size_bytes());
  for (uint32_t chip = 0; chip < mesh.chips(); ++chip) {
    Check(mesh.Read(whole, chip, bytes), "read");
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  file.close();
  Check(file ? Status() : Status(Code::kUnavailable, "cannot write " + path), "save");
}

}  // namespace

int main(int argc, char** argv) {
  unsigned rows = 0, columns = 0;
  if (argc != 3 || std::sscanf(argv[1], "%ux%u", &rows, &columns) != 2) {
    std::fprintf(stderr, "usage: collectives ROWSxCOLUMNS FOLDER\n");
    return 2;
  }
  const std::string folder = std::string(argv[2]) + "/";
  ttfd::mesh::MeshOptions options{.shape = {rows, columns}};
  options.session.client_name = "collectives";
  Mesh mesh = Check(Mesh::Connect(options), "connect");
  const std::vector<char> numbers = Load(folder + "in");
  const size_t bytes = numbers.size() / mesh.chips();
  const MeshBuffer part = Check(mesh.Allocate(bytes), "allocate");
  for (uint32_t chip = 0; chip < mesh.chips(); ++chip) {
    Check(mesh.Write(part, chip, std::as_bytes(std::span(numbers).subspan(chip * bytes, bytes))),
          "write");
  }
  for (const uint32_t axis : {0u, 1u}) {
    if (mesh.length(axis) > 1) Gather(mesh, part, axis, folder + "axis" + std::to_string(axis));
  }
  return 0;
}
