// A value and the next one: what is planned is taken as a whole, or dropped without a trace.
#pragma once

#include <array>
#include <cstddef>

namespace ttfd {

template <typename T>
class Staged {
 public:
  explicit Staged(const T& value = T()) : values_{value, value} {}

  // The planned value if there is one, else the current one.
  const T& operator*() const { return values_[staged_ ? 1 - now_ : now_]; }
  const T* operator->() const { return &**this; }
  // For a change that counts from Commit on.
  T& Change() {
    T& next = values_[1 - now_];
    if (!staged_) next = now();
    staged_ = true;
    return next;
  }
  // Without what is planned; it is elsewhere after Commit. Changes count at once, and REQUIRE that nothing is planned.
  T& now() { return values_[now_]; }
  const T& now() const { return values_[now_]; }

  void Commit() {
    if (staged_) now_ = 1 - now_;
    staged_ = false;
  }
  void Drop() { staged_ = false; }

 private:
  std::array<T, 2> values_;  // the other one is kept for the memory it has
  size_t now_ = 0;
  bool staged_ = false;
};

}  // namespace ttfd
