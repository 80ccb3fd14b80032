// One print of each kind, for tests of what arrives.
//
// Common arguments: 0, 1, 2 any words.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

char copied[] = "from .data";
const char long_text[] =
    "a constant string may be as long as it likes, because only its address is sent and the host "
    "has the rest of it, too";

}  // namespace

void kernel_main() {
  const uint32_t a = CommonArgument(0);
  const auto b = static_cast<int32_t>(CommonArgument(1));
  const uint64_t wide = static_cast<uint64_t>(CommonArgument(2)) << 32 | a;
  Print("no arguments");
  Print("%u %d %i %x %X %o %#x %c", a, b, b, a, a, a, a, 'q');
  Print("[%8u] [%-8u] [%08u] [%+d] [% d] [%.5u] [%*d] [%-*d]", a, a, a, b, b, a, 6, b, 6, b);
  Print("%llu %lld %llx %lu", wide, static_cast<long long>(wide), wide, a);
  Print("%hhu %hu %hhd %d %u", a, a, a, static_cast<int8_t>(b), static_cast<uint16_t>(b));
  Print("%s|%10s|%-10s|%.4s|%s", "constant", "right", "left", "cut here", long_text);
  copied[5] = static_cast<char>('A' + (a & 7));
  char local[80];
  for (uint32_t i = 0; i != sizeof(local); ++i) local[i] = static_cast<char>('a' + i % 26);
  local[sizeof(local) - 1] = 0;
  Print("%s %s %s", copied, local, static_cast<const char*>(nullptr));
  Print("%p %p %s 100%%", static_cast<void*>(nullptr), reinterpret_cast<void*>(0xB0000),
        true ? "yes" : "no");
  ttfd_printf("two\nlines and the last end is dropped\n");
}
