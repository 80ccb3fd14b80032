// Guesses at misspelt words.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ttfd {

// The word of `known` that `text` most likely stands for: the one with the fewest letters to add, leave out or replace.
// Empty if that is more than a third of its letters.
std::string NearestWord(std::string_view text, std::span<const std::string> known);

}  // namespace ttfd
