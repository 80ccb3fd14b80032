// Writes the seeds of fuzz_compiled_file: random files of a few profiles.
//
// usage: make_compiled_seeds PROFILES FOLDER
#include <cstdio>
#include <fstream>

#include "tests/support/compiled_file.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s PROFILES FOLDER\n", argv[0]);
    return 2;
  }
  uint32_t turn = 0;
  for (const char* name :
       {"ttnn-433d79f929b1", "ttnn-daf072817298", "ttnn-abf3b3dc0d02", "ttnn-f9a26264effc",
        "ttnn-abb97a9b3e0f", "ttmetal-dcfff37afffd", "ttmetal-4a24ba5af1b4", "ttmetal-9c61739ba0dc",
        "system-92f6a8a87b72", "system-9c61739ba0dc"}) {
    const auto profile = ttfd::ttmlir::Profile::Read(argv[1], name);
    if (!profile.ok()) {
      std::fprintf(stderr, "%s\n", profile.status().ToString().c_str());
      return 1;
    }
    ttfd::Random random(turn);
    const auto root = ttfd::ttmlir::RandomCompiledRoot(**profile, 6, turn += 37, &random);
    std::ofstream(std::string(argv[2]) + "/" + name, std::ios::binary)
        << ttfd::ttmlir::WriteCompiledFile(**profile, root);
  }
  return 0;
}
