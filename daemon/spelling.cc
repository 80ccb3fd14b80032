#include "daemon/spelling.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ttfd {
namespace {

// Longer text is no misspelling of a word.
constexpr size_t kMaxText = 64;

// Levenshtein's distance, by rows of its table.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string NearestWord(std::string_view text, std::span<const std::string> known) {
  if (text.size() > kMaxText) return "";
  std::string nearest;
  size_t least = kMaxText;
  for (const std::string& word : known) {
    const size_t distance = Distance(text, word);
    if (distance >= least || distance > std::max<size_t>(word.size() / 3, 1)) continue;
    least = distance;
    nearest = word;
  }
  return nearest;
}

}  // namespace ttfd
