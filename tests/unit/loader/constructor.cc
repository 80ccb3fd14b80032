// A global that has to be constructed.
int Value();
int constructed = Value();
int Value() { return *reinterpret_cast<volatile int*>(0x1000); }
extern "C" [[gnu::section(".text.start")]] void _start(int* out) { *out = constructed; }
