// Virtual calls, references to members, a ring of objects in static storage: the rest of freestanding C++.
#include "tests/isa/programs/programs.h"

namespace {

class Shape {
 public:
  virtual uint32_t Area() const = 0;
  virtual void Grow(uint32_t by) = 0;
  Shape* next = nullptr;
};

class Square : public Shape {
 public:
  uint32_t Area() const override { return side_ * side_; }
  void Grow(uint32_t by) override { side_ += by; }

 private:
  uint32_t side_ = 3;
};

class Box : public Shape {
 public:
  uint32_t Area() const override { return 2 * (a_ * b_ + b_ * c_ + a_ * c_); }
  void Grow(uint32_t by) override {
    uint16_t Box::*const edges[] = {&Box::a_, &Box::b_, &Box::c_};
    this->*edges[by % 3] = static_cast<uint16_t>(this->*edges[by % 3] * 5 + by);
  }

 private:
  uint16_t a_ = 1;
  uint16_t b_ = 2;
  uint16_t c_ = 3;
};

template <uint32_t kSize>
class Ring {
 public:
  void Push(uint32_t value) { values_[end_++ % kSize] = value; }
  uint32_t Sum() const {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < kSize; ++i) sum = sum * 7 + values_[(end_ + i) % kSize];
    return sum;
  }

 private:
  uint32_t values_[kSize] = {};
  uint32_t end_ = 0;
};

}  // namespace

void Classes(uint32_t* results) {
  Square square;
  Box box;
  Box other;
  square.next = &box;
  box.next = &other;
  other.next = &square;
  Ring<7> odd;
  Ring<8> even;
  Shape* shape = &square;
  for (uint32_t i = 0; i < 60; ++i) {
    shape->Grow(Unknown(i));
    odd.Push(shape->Area());
    even.Push(shape->Area() ^ i);
    shape = shape->next;
    results[i] = odd.Sum() + even.Sum();
  }
}
