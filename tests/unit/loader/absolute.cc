// A fixed address reached relative to the program counter.
extern "C" {
extern volatile int fixed_place;
[[gnu::section(".text.start")]] void _start(int* out) { *out = fixed_place; }
}
