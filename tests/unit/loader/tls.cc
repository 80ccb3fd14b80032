// Thread-local data.
thread_local int mine = 4;
extern "C" [[gnu::section(".text.start")]] void _start(int* out) { *out = mine++; }
