// A table of constructors without an address in it: no relocation tells.
asm(".section .init_array, \"aw\"\n.word 0\n.text\n");
extern "C" {
int value;
[[gnu::section(".text.start")]] void _start(int* out) { *out = value; }
}
