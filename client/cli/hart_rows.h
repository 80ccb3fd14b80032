// Activity of the card's harts, as the rows of a table.
#pragma once

#include <string>
#include <vector>

#include "ttfd/admin.h"

namespace ttfd::cli {

// A heading and one row for harts of one kind (`name` up to its first coordinate) that are in the same state; it names
// the first of them and counts the others.
std::vector<std::vector<std::string>> HartRows(const std::vector<client::HartState>& harts);

}  // namespace ttfd::cli
