// Default destination of kernel prints.
#include <cstdio>

#include "ttfd/kernel_print.h"

namespace ttfd::client {

void WriteToStandardError(const KernelPrint& print) {
  if (print.lost != 0) {
    std::fprintf(stderr, "[ttfd] %llu lines of kernels were not read in time and are lost\n",
                 static_cast<unsigned long long>(print.lost));
  }
  std::fprintf(stderr, "[%s (%u,%u) %s] %s\n", print.kernel.c_str(), print.core.x, print.core.y,
               ProcessorName(print.processor), print.text.c_str());
}

}  // namespace ttfd::client
