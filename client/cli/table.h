// Tables for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ttfd::cli {

// Rows of equal length, the first one the heading, each column as wide as it must be; cells pass Printable. On a screen
// of `columns` (0: endless) a table that is too wide loses columns from the right until the others have room for their
// headings, and names them below; then a long last column is wrapped between words, and the widest of the others are
// truncated.
std::string Table(const std::vector<std::vector<std::string>>& rows, size_t columns = 0);

}  // namespace ttfd::cli
