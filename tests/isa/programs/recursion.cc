// Deep and wide recursion: what a stack is for.
#include "tests/isa/programs/programs.h"

namespace {

uint32_t Ackermann(uint32_t m, uint32_t n) {
  if (m == 0) return n + 1;
  return n == 0 ? Ackermann(m - 1, 1) : Ackermann(m - 1, Ackermann(m, n - 1));
}

uint32_t Fibonacci(uint32_t n) { return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2); }

uint32_t Queens(uint32_t size, uint32_t row, uint32_t columns, uint32_t up, uint32_t down) {
  if (row == size) return 1;
  uint32_t ways = 0;
  for (uint32_t column = 0; column < size; ++column) {
    const uint32_t a = 1u << column, b = 1u << (column + row), c = 1u << (column + size - row);
    if ((columns & a) != 0 || (up & b) != 0 || (down & c) != 0) continue;
    ways += Queens(size, row + 1, columns | a, up | b, down | c);
  }
  return ways;
}

uint32_t g_moves[64];
uint32_t Hanoi(uint32_t disks, uint32_t from, uint32_t to, uint32_t move) {
  if (disks == 0) return move;
  const uint32_t other = 3 - from - to;
  move = Hanoi(disks - 1, from, other, move);
  g_moves[move % 64] = g_moves[(move + 1) % 64] * 5 + disks * 9 + from * 3 + to;
  return Hanoi(disks - 1, other, to, move + 1);
}

bool IsOdd(uint32_t n);
bool IsEven(uint32_t n) { return n == 0 || IsOdd(n - 1); }
bool IsOdd(uint32_t n) { return n != 0 && IsEven(n - 1); }

}  // namespace

void Recursion(uint32_t* results) {
  results[0] = Ackermann(2, Unknown(9));        // 21
  results[1] = Fibonacci(Unknown(15));          // 610
  results[2] = Queens(6, Unknown(0), 0, 0, 0);  // 4
  results[3] = Hanoi(7, 0, Unknown(2), 0);      // 127
  results[4] = IsEven(Unknown(100));
  for (uint32_t i = 0; i < 32; ++i) results[5 + i] = g_moves[i];
}
