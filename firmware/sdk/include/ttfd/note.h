// A note of the kernel, which errors and reports of hangs and faults show while it is set: "task 7".
//
//   Note task(ttfd::abi::NoteKind('t', 'a', 's', 'k'));
//   for (uint32_t number = 0; number != 10; ++number) {
//     task.Set(number);
//     // ... the work of the task
//     task.Clear();
//   }
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/io.h"
#include "firmware/common/status.h"

namespace ttfd::kernel {

// One of a hart, which must not outlive its kernel.
class Note {
 public:
  // `kind`: abi::NoteKind, letters or blanks.
  explicit Note(uint32_t kind) : kind_(kind) {}
  ~Note() { Clear(); }
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;

  void Set(uint32_t value) {
    firmware::Store(firmware::kStatus + offsetof(abi::HartStatus, note), value);
    firmware::Store(firmware::kStatus + offsetof(abi::HartStatus, note_kind), kind_);
  }
  void Clear() { firmware::ClearNote(); }

 private:
  const uint32_t kind_;
};

}  // namespace ttfd::kernel
