// Four ways to sort, with a template and function pointers.
#include "tests/isa/programs/programs.h"

namespace {

constexpr uint32_t kCount = 200;
int32_t g_values[kCount];
int32_t g_spare[kCount];

using Before = bool (*)(int32_t, int32_t);
bool Signed(int32_t a, int32_t b) { return a < b; }
bool Unsigned(int32_t a, int32_t b) { return static_cast<uint32_t>(a) < static_cast<uint32_t>(b); }
bool ByBits(int32_t a, int32_t b) {
  const int first = __builtin_popcount(static_cast<uint32_t>(a));
  const int second = __builtin_popcount(static_cast<uint32_t>(b));
  return first != second ? first < second : a > b;
}

void Fill() {
  uint32_t state = Unknown(99);
  for (int32_t& value : g_values) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    value = static_cast<int32_t>(state);
  }
}

void Quick(int32_t* first, int32_t* last, Before before) {
  while (last - first > 1) {
    const int32_t pivot = first[(last - first) / 2];
    int32_t* low = first;
    int32_t* high = last - 1;
    while (low <= high) {
      while (before(*low, pivot)) ++low;
      while (before(pivot, *high)) --high;
      if (low > high) break;
      const int32_t held = *low;
      *low++ = *high;
      *high-- = held;
    }
    Quick(first, high + 1, before);
    first = low;
  }
}

template <typename T>
void Heap(T* values, uint32_t count) {
  const auto sink = [&](uint32_t at, uint32_t end) {
    for (;;) {
      uint32_t child = 2 * at + 1;
      if (child >= end) return;
      if (child + 1 < end && values[child] < values[child + 1]) ++child;
      if (!(values[at] < values[child])) return;
      const T held = values[at];
      values[at] = values[child];
      values[child] = held;
      at = child;
    }
  };
  for (uint32_t i = count / 2; i-- > 0;) sink(i, count);
  for (uint32_t end = count; end-- > 1;) {
    const T held = values[0];
    values[0] = values[end];
    values[end] = held;
    sink(0, end);
  }
}

void Merge(int32_t* values, int32_t* spare, uint32_t count) {
  if (count < 2) return;
  const uint32_t half = count / 2;
  Merge(values, spare, half);
  Merge(values + half, spare, count - half);
  uint32_t a = 0, b = half, to = 0;
  while (to < count) {
    const bool first = b == count || (a < half && values[a] <= values[b]);
    spare[to++] = first ? values[a++] : values[b++];
  }
  for (uint32_t i = 0; i < count; ++i) values[i] = spare[i];
}

uint32_t Digest() {
  uint32_t sum = 0;
  for (const int32_t value : g_values) sum = sum * 31 + static_cast<uint32_t>(value);
  return sum;
}

}  // namespace

void Sorting(uint32_t* results) {
  static const Before kOrders[] = {Signed, Unsigned, ByBits};
  for (uint32_t i = 0; i < 3; ++i) {
    Fill();
    Quick(g_values, g_values + kCount, kOrders[i]);
    results[i] = Digest();
  }
  Fill();
  Heap(g_values, kCount);
  results[3] = Digest();
  Fill();
  Merge(g_values, g_spare, kCount);
  results[4] = Digest();
  Fill();
  Heap(reinterpret_cast<int16_t*>(g_values), 2 * kCount);
  results[5] = Digest();
  Heap(reinterpret_cast<uint8_t*>(g_values), 4 * kCount);
  results[6] = Digest();
}
