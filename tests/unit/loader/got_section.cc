// A .got that nothing in the code goes through.
extern "C" {
[[gnu::section(".got"), gnu::used]] int offsets = 1;
[[gnu::section(".text.start")]] void _start(int* out) { *out = offsets; }
}
