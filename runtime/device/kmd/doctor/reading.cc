// Texts, numbers, lines.
#include "runtime/device/kmd/doctor/reading.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace ttfd::kmd {
namespace {

template <typename Number>
std::optional<Number> Parse(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number, hexadecimal ? 16 : 10);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

}  // namespace

bool Lists(Files& files, const std::string& folder, std::string_view name) {
  const std::vector<std::string> names = files.List(folder);
  return std::find(names.begin(), names.end(), name) != names.end();
}

FileFact ReadFact(Files& files, const std::string& path) {
  FileFact fact = {.text = files.ReadText(path)};
  const size_t slash = path.rfind('/');
  const std::string folder = slash == 0 ? "/" : path.substr(0, slash);
  fact.exists = fact.text.has_value() || Lists(files, folder, path.substr(slash + 1));
  return fact;
}

std::optional<int64_t> NumberIn(const std::optional<std::string>& text) {
  return text.has_value() ? Parse<int64_t>(*text) : std::nullopt;
}

std::optional<uint64_t> UnsignedIn(const std::optional<std::string>& text) {
  return text.has_value() ? Parse<uint64_t>(*text) : std::nullopt;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace ttfd::kmd
