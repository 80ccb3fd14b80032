// Says what its data and bss hold at the start of a run, then spoils them. BRISC.
//
// Common arguments: 0 L1 address of the report: runs counted in .data (always 41 + 1), runs counted in
// .bss (always 1), a word behind both that is never restored (counts the runs).
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

uint32_t counted_in_data = 41;
uint32_t counted_in_bss;
uint32_t large_bss[64];

}  // namespace

void kernel_main() {
  auto* const report = L1Pointer<volatile uint32_t>(CommonArgument(0));
  for (uint32_t& word : large_bss) {
    counted_in_bss += word;
    word = 7;
  }
  report[0] = ++counted_in_data;
  report[1] = ++counted_in_bss;
  report[2] = report[2] + 1;
}
