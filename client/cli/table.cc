// Widths of columns, and the rows laid out in them.
#include "client/cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "client/cli/printing.h"

namespace ttfd::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kGap = 2;             // between two columns
constexpr size_t kShortestColumn = 8;  // a column is truncated to its heading, and not below this
constexpr size_t kProse = 24;  // a last column that is longer is text, and wrapped to no less

std::vector<size_t> NaturalWidths(const Rows& rows) {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], ColumnsOf(row[i]));
    }
  }
  return widths;
}

size_t Total(const std::vector<size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), size_t{0}) +
         kGap * (std::max<size_t>(widths.size(), 1) - 1);
}

// The columns that are shown, and how wide each is.
struct Layout {
  std::vector<size_t> widths;
  bool wraps_last = false;
};

// Takes what `widths` have too much for `columns` from the widest, never below `floors`.
void Shrink(std::vector<size_t>* widths, const std::vector<size_t>& floors, size_t columns) {
  for (size_t excess = Total(*widths) - std::min(columns, Total(*widths)); excess != 0; --excess) {
    size_t* widest = nullptr;
    for (size_t i = 0; i < widths->size(); ++i) {
      size_t* const width = &(*widths)[i];
      if (*width > floors[i] && (widest == nullptr || *width > *widest)) {
        widest = width;
      }
    }
    if (widest == nullptr) {
      return;
    }
    --*widest;
  }
}

Layout LayOut(const Rows& rows, size_t columns) {
  Layout layout{.widths = NaturalWidths(rows)};
  std::vector<size_t>& widths = layout.widths;
  if (columns == 0 || Total(widths) <= columns) {
    return layout;
  }
  layout.wraps_last = widths.back() > kProse;
  std::vector<size_t> floors;
  for (size_t i = 0; i < widths.size(); ++i) {
    floors.push_back(std::min(widths[i], std::max(ColumnsOf(rows.front()[i]), kShortestColumn)));
  }
  if (layout.wraps_last) {
    floors.back() = kProse;
  }
  while (floors.size() > 1 && Total(floors) > columns) {
    floors.pop_back();
    widths.pop_back();
    layout.wraps_last = false;
  }
  if (layout.wraps_last) {  // which loses nothing
    const size_t excess = Total(widths) - columns;
    widths.back() -= std::min(excess, widths.back() - kProse);
  }
  Shrink(&widths, floors, columns);
  return layout;
}

// One row; its last column may take several lines.
std::string RowText(const std::vector<std::string>& row, const Layout& layout) {
  const std::vector<size_t>& widths = layout.widths;
  const size_t last = widths.size() - 1;
  std::string line;
  for (size_t i = 0; i < last; ++i) {
    const std::string cell = Truncate(row[i], widths[i]);
    line += cell + std::string(widths[i] - ColumnsOf(cell) + kGap, ' ');
  }
  const std::string indent(ColumnsOf(line), ' ');
  std::vector<std::string> parts = {Truncate(row[last], widths[last])};
  if (layout.wraps_last) {
    parts = WrapWords(row[last], widths[last]);
  }
  std::string text;
  for (const std::string& part : parts) {
    line += part;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    line = indent;
  }
  return text;
}

}  // namespace

std::string Table(const Rows& rows, size_t columns) {
  Rows cells = rows;
  for (std::vector<std::string>& row : cells) {
    for (std::string& cell : row) {
      cell = Printable(cell);
    }
  }
  const Layout layout = LayOut(cells, columns);
  std::string text;
  for (const std::vector<std::string>& row : cells) {
    text += RowText(row, layout);
  }
  const std::vector<std::string>& headings = cells.front();
  if (layout.widths.size() == headings.size() || rows.size() == 1) {
    return text;
  }
  std::string left_out;
  for (size_t i = layout.widths.size(); i < headings.size(); ++i) {
    left_out += (left_out.empty() ? "" : ", ") + headings[i];
  }
  left_out = fmt::format("(no room for {}: use a wider terminal or --json)", left_out);
  for (const std::string& line : WrapWords(left_out, columns)) {
    text += line + "\n";
  }
  return text;
}

}  // namespace ttfd::cli
