// Helpers for the options of several commands. CLI11 is slow to compile: only the sources that describe the
// command line include it.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>

namespace ttfd::cli {

inline CLI::Validator InRange(double low, double high) {
  const std::string range = fmt::format("{} to {}", low, high);
  return {[low, high, range](const std::string& text) {
            double value = 0;
            const bool ok = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
            return ok ? "" : fmt::format("'{}' is not a number from {}", text, range);
          },
          range};
}

inline CLI::Validator AtLeastOne() { return InRange(1, std::numeric_limits<uint32_t>::max()); }
inline CLI::Validator AFile() { return CLI::Validator(CLI::ExistingFile).description(""); }

// An option that may be given several times, with one value each.
template <typename T>
CLI::Option* AddRepeatable(CLI::App* app, const char* name, T* values, const char* text) {
  return app->add_option(name, *values, text)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace ttfd::cli
