// Needs per-core argument 0, by one entry of the section that the SDK writes.
extern "C" {
unsigned place;

[[gnu::section(".text.start")]] void _start() {
  place = 1;  // by a relocation, which the loader wants to see
  asm volatile(
      ".Luse:\n.pushsection .ttfd.uses,\"o\",@progbits,.Luse\n.word 2, 0, .Luse\n.popsection");
}
}
