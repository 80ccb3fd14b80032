// A weak symbol that nobody defines.
extern "C" {
[[gnu::weak]] int Missing();
[[gnu::section(".text.start")]] void _start(int* out) { *out = Missing(); }
}
