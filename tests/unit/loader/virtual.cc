// A virtual function: its table holds addresses.
void* operator new(__SIZE_TYPE__, void* at) noexcept { return at; }
struct Base {
  virtual void Run();
};
volatile int ran;
void Base::Run() { ran = 1; }
Base* volatile target;
extern "C" [[gnu::section(".text.start")]] void _start(void*) {
  static unsigned char place[sizeof(Base)];
  target = new (place) Base;
  target->Run();
}
