// A kernel of 40 KiB, most of it a table that must be whole: adds it up into the word at common 0.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {
struct Table {
  uint32_t words[10000];
};
constexpr Table Make() {
  Table table{};
  for (uint32_t i = 0; i < 9999; ++i) table.words[i] = i * 2654435761u;
  table.words[9999] = 0x5A175A17;  // tests find and change it, to tell images apart
  return table;
}
constexpr Table table = Make();
}  // namespace

void kernel_main() {
  uint32_t sum = 0;
  for (const volatile uint32_t* word = table.words; word != table.words + 10000; ++word) {
    sum += *word;
  }
  *L1Pointer<volatile uint32_t>(CommonArgument(0)) = sum;
}
