// Everything a kernel may have: read-only data, data, bss, a switch, calls.
extern "C" {
const unsigned kTable[4] = {11, 22, 33, 44};
unsigned initialised[3] = {1, 2, 3};
unsigned zeroed[5];

[[gnu::noinline]] unsigned Choose(unsigned which) {
  switch (which) {
    case 0:
      return kTable[3];
    case 1:
      return initialised[0];
    case 2:
      return zeroed[2] + 7;
    case 3:
      return 99;
    case 4:
      return kTable[1] * 3;
    case 5:
      return 5;
    default:
      return 0;
  }
}

[[gnu::section(".text.start")]] void _start(const unsigned* context) {
  for (unsigned i = 0; i < 6; ++i) zeroed[i % 5] += Choose(context[i]) + initialised[i % 3]++;
}
}
