// Writes a file of tt-mlir's kinds, by the profile FOLDER/NAME.profile: JSON from standard input, the file to standard
// output.
//
// usage: write_compiled_file FOLDER NAME
#include <cstdio>
#include <iostream>

#include "tests/support/compiled_file.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER NAME\n", argv[0]);
    return 2;
  }
  const auto profile = ttfd::ttmlir::Profile::Read(argv[1], argv[2]);
  if (!profile.ok()) {
    std::fprintf(stderr, "%s\n", profile.status().ToString().c_str());
    return 1;
  }
  const nlohmann::json root = nlohmann::json::parse(std::cin, nullptr, /*allow_exceptions=*/false);
  const std::string file = ttfd::ttmlir::WriteCompiledFile(**profile, root);
  std::fwrite(file.data(), 1, file.size(), stdout);
  return 0;
}
