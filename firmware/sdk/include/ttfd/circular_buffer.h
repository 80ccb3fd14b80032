// Circular buffers between two harts of a tile: one pushes pages, the other pops them.
//
//        popped                pushed
//          v                     v
//   |  0  |  1  |  2  |  3  |  4  |  5  |      pages 1..3 hold data; pushed - popped = 3
//
// The two counts are free-running words in L1, each written by one hart only. They are L1 words and
// not stream registers because data and count then lie in one region: stores to it are processed in
// order, where a register store could overtake the data.
//
// Each hart makes its own CircularBuffer of an index, once, at the start of kernel_main(). Programs use low indices: a
// launch clears the counts of all up to the highest.
#pragma once

#include <stdint.h>
#include <ttfd/arguments.h>

#include "firmware/common/wait.h"
#include "runtime/hw/tensix_isa.h"

namespace ttfd::kernel {

class CircularBuffer {
 public:
  constexpr CircularBuffer() = default;  // none: of no pages
  // One that the program does not give is refused (<ttfd/given.h>).
  [[gnu::always_inline]] explicit CircularBuffer(uint32_t index)
      : CircularBuffer(internal::ConfigAddress(), internal::Given<abi::kCircularBuffer>(index)) {
    if (!__builtin_constant_p(index)) internal::CheckPages(pages_, index);
  }

  uint32_t page_bytes() const { return page_bytes_; }
  uint32_t pages() const { return pages_; }
  // L1 address of page 0, for a hart that uses the whole buffer as its scratch.
  uint32_t address() const { return base_; }
  // L1 address of this hart's next page: what Reserve() or Wait() returned.
  uint32_t position() const { return position_; }

  // Format of the elements, as the client gave it for the buffer; a page is one tile of it then. Read from L1 in each
  // call. REQUIRES has_format().
  hw::tensix::Format format() const { return static_cast<hw::tensix::Format>(FormatWord() - 1); }
  // False: the client gave none, pages are bytes.
  bool has_format() const { return FormatWord() != 0; }
  // Format word of a circular buffer that the hart has not made: 0 without a format, else 1 more than its number.
  [[gnu::always_inline]] static uint32_t FormatWordOf(uint32_t index) {
    internal::RequireGiven<abi::kCircularBuffer>(index);
    return firmware::Load(internal::ConfigAddress() + index * sizeof(abi::CircularBufferConfig) +
                          offsetof(abi::CircularBufferConfig, format));
  }

  // Producer: waits until `pages` (at most pages()) are free behind the write position, and returns
  // their L1 address. They are contiguous if every call uses a divisor of pages().
  uint32_t Reserve(uint32_t pages = 1) {
    const uint32_t state = state_;
    const uint32_t allowed = pages_ - pages;
    firmware::WaitForMemory(abi::kWaypointCircularBuffer, [state, allowed] {
      return firmware::Load(state + kPushed) - firmware::Load(state + kPopped) <= allowed;
    });
    return position_;
  }

  // Producer: whether `pages` are free, without waiting. Pages that were reserved and not yet pushed count as free.
  bool HasSpace(uint32_t pages) const {
    firmware::Fence();
    const uint32_t used = firmware::Load(state_ + kPushed) - firmware::Load(state_ + kPopped);
    return used + pages <= pages_;
  }

  // Producer: hands `pages` reserved pages, now filled, to the consumer.
  void Push(uint32_t pages = 1) { Step(kPushed, pages); }

  // Consumer: waits until `pages` hold data, and returns the address of the first.
  uint32_t Wait(uint32_t pages = 1) {
    const uint32_t state = state_;
    firmware::WaitForMemory(abi::kWaypointCircularBuffer, [state, pages] {
      return firmware::Load(state + kPushed) - firmware::Load(state + kPopped) >= pages;
    });
    return position_;
  }

  // Consumer: gives `pages` pages back.
  void Pop(uint32_t pages = 1) { Step(kPopped, pages); }

 private:
  static constexpr uint32_t kPushed = offsetof(abi::CircularBufferState, pushed);
  static constexpr uint32_t kPopped = offsetof(abi::CircularBufferState, popped);

  // `config_address`: of the launch's configuration, which begins with those of the circular buffers.
  CircularBuffer(uint32_t config_address, uint32_t index)
      : state_(abi::kCircularBufferStateAddress + index * sizeof(abi::CircularBufferState)),
        config_(config_address + index * sizeof(abi::CircularBufferConfig)),
        base_(firmware::Load(config_ + offsetof(abi::CircularBufferConfig, address))),
        pages_(firmware::Load(config_ + offsetof(abi::CircularBufferConfig, pages))),
        page_bytes_(firmware::Load(config_ + offsetof(abi::CircularBufferConfig, page_bytes))) {
    end_ = base_ + pages_ * page_bytes_;
    position_ = base_;
  }

  uint32_t FormatWord() const {
    return firmware::Load(config_ + offsetof(abi::CircularBufferConfig, format));
  }

  void Step(uint32_t counter, uint32_t pages) {
    position_ += pages * page_bytes_;
    if (position_ >= end_) {
      position_ -= end_ - base_;
    }
    firmware::Fence();  // what the compiler still holds is stored before the count
    firmware::Store(state_ + counter, firmware::Load(state_ + counter) + pages);
  }

  uint32_t state_ = 0;
  uint32_t config_ = 0;
  uint32_t base_ = 0;
  uint32_t pages_ = 0;
  uint32_t page_bytes_ = 0;
  uint32_t end_ = 0;
  uint32_t position_ = 0;  // this hart's next page
};

}  // namespace ttfd::kernel
