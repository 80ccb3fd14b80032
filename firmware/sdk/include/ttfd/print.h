// printf for kernels: what a hart prints reaches the client that launched it, tagged with tile and hart.
//
//   #include <ttfd/kernel.h>
//   using namespace ttfd::kernel;
//
//   void kernel_main() { Print("page %u of %u\n", Argument(0), CommonArgument(0)); }
//
// ttfd_printf() is the same. The compiler holds the format to the arguments. Conversions are %d %i %u
// %x %X %o %c %s %p %% with flags, width, precision and the lengths hh h l ll j z t; an integer of any
// type up to 32 bits suits those without ll or j. There is no %f: print a scaled integer.
//
// Nothing is formatted here: the hart writes where the format lies, and the arguments, into a ring in L1, and the
// daemon does the rest (runtime/abi/print_ring.h). Of a string that is not a constant of the kernel at most
// kMaxPrintStringBytes are sent. When the ring is full the hart waits until the daemon has taken something out:
// printing much slows a kernel down, but nothing is lost.
#pragma once

#include <stdint.h>
#include <ttfd/arguments.h>

#include "firmware/common/wait.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/print_format.h"
#include "runtime/abi/print_ring.h"

extern "C" const char ttfd_read_only_begin[];  // of the kernel, from kernel.ld
extern "C" const char ttfd_read_only_end[];

namespace ttfd::kernel {

namespace internal {

enum class PrintArgument : uint8_t { kInteger32, kInteger64, kPointer, kString, kNone };

// These exist to be named by the compiler's message: they are no constant expressions.
void format_has_more_conversions_than_there_are_arguments();
void format_has_fewer_conversions_than_there_are_arguments();
void format_has_a_conversion_that_kernels_do_not_have();
void format_wants_a_string_here();
void format_wants_a_pointer_here_and_strings_must_be_cast_to_void_pointers();
void format_wants_an_integer_of_up_to_32_bits_here();
void format_wants_an_integer_of_64_bits_here();
void format_wants_an_integer_for_the_star();

template <typename T>
struct PrintType {
  static constexpr PrintArgument kArgument = sizeof(T) <= 4   ? PrintArgument::kInteger32
                                             : sizeof(T) == 8 ? PrintArgument::kInteger64
                                                              : PrintArgument::kNone;
};
template <typename T>
struct PrintType<T*> {
  static constexpr PrintArgument kArgument = PrintArgument::kPointer;
};
template <>
struct PrintType<char*> {
  static constexpr PrintArgument kArgument = PrintArgument::kString;
};
template <>
struct PrintType<const char*> {
  static constexpr PrintArgument kArgument = PrintArgument::kString;
};
template <>
struct PrintType<decltype(nullptr)> {
  static constexpr PrintArgument kArgument = PrintArgument::kPointer;
};
template <>
struct PrintType<float> {
  static constexpr PrintArgument kArgument = PrintArgument::kNone;
};
template <>
struct PrintType<double> {
  static constexpr PrintArgument kArgument = PrintArgument::kNone;
};

consteval void CheckPrintArgument(const abi::PrintConversion& conversion, PrintArgument argument) {
  switch (conversion.kind) {
    case abi::PrintKind::kString:
      if (argument != PrintArgument::kString) format_wants_a_string_here();
      return;
    case abi::PrintKind::kPointer:
      if (argument != PrintArgument::kPointer) {
        format_wants_a_pointer_here_and_strings_must_be_cast_to_void_pointers();
      }
      return;
    default:
      if (conversion.bytes == 8) {
        if (argument != PrintArgument::kInteger64) format_wants_an_integer_of_64_bits_here();
      } else if (argument != PrintArgument::kInteger32) {
        format_wants_an_integer_of_up_to_32_bits_here();
      }
  }
}

consteval void CheckPrintFormat(const char* text, const PrintArgument* arguments, uint32_t count) {
  const char* end = text;
  while (*end != 0) ++end;
  uint32_t next = 0;
  const auto take = [&] {
    if (next == count) format_has_more_conversions_than_there_are_arguments();
    return arguments[next++];
  };
  for (const char* at = text; at != end;) {
    if (*at != '%') {
      ++at;
      continue;
    }
    const abi::PrintConversion conversion = abi::ReadPrintConversion(at, end);
    if (conversion.kind == abi::PrintKind::kNotUnderstood) {
      format_has_a_conversion_that_kernels_do_not_have();
    }
    const uint32_t stars =
        (conversion.width_argument ? 1 : 0) + (conversion.precision_argument ? 1 : 0);
    for (uint32_t star = 0; star != stars; ++star) {
      if (take() != PrintArgument::kInteger32) format_wants_an_integer_for_the_star();
    }
    if (conversion.kind != abi::PrintKind::kPercent) CheckPrintArgument(conversion, take());
    at += conversion.length;
  }
  if (next != count) format_has_fewer_conversions_than_there_are_arguments();
}

// A format that was held to arguments of these types when it was compiled.
template <typename... Arguments>
struct PrintFormat {
  // Not explicit: a literal becomes one at the call.
  consteval PrintFormat(const char* format) : text(format) {  // NOLINT(google-explicit-constructor)
    constexpr PrintArgument kArguments[] = {PrintType<Arguments>::kArgument...,
                                            PrintArgument::kNone};
    CheckPrintFormat(format, kArguments, sizeof...(Arguments));
  }
  const char* text;
};

template <typename T>
struct SameType {
  using Type = T;
};

// Puts one record into this hart's ring; the first two of its words are filled in here.
[[gnu::noinline]] inline void SendPrint(uint32_t* words, uint32_t count) {
  constexpr uint32_t kPosition = abi::PrintPositionAddress(kHart);
  constexpr uint32_t kWritten = kPosition + offsetof(abi::PrintPosition, written);
  constexpr uint32_t kRead = kPosition + offsetof(abi::PrintPosition, read);
  // Tells the loader that the kernel prints, as firmware/common/noc.h does of commands. It is no instruction.
  asm inline(".weak ttfd_prints\n.set ttfd_prints, 1");
  words[0] = abi::PrintHeader(count);
  words[1] = MessageWord(offsetof(abi::LaunchMessage, print_tag));
  if (words[1] == 0) {
    return;
  }
  uint32_t at = firmware::Load(kWritten);
  const uint32_t end = at + 4 * count;
  firmware::WaitForMemory(abi::kWaypointPrint,
                          [end] { return end - firmware::Load(kRead) <= abi::kPrintRingBytes; });
  for (; at != end; at += 4) {
    firmware::Store(abi::PrintRingAddress(kHart) + (at & (abi::kPrintRingBytes - 1)), *words++);
  }
  firmware::Fence();  // the record is there before the count says so
  firmware::Store(kWritten, end);
}

// The words of a record. Strings that are copied take what the fixed ones leave.
template <uint32_t kFixed, bool kStrings>
class PrintRecord {
 public:
  static constexpr uint32_t kMost = kStrings ? abi::kMaxPrintWords : kFixed;

  explicit PrintRecord(const char* format) {
    words_[2] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(format));
  }
  [[gnu::always_inline]] void Send() { SendPrint(words_, count_); }

  template <typename T>
  [[gnu::always_inline]] void Add(T value) {
    if constexpr (PrintType<T>::kArgument == PrintArgument::kString) {
      AddString(value);
    } else if constexpr (PrintType<T>::kArgument == PrintArgument::kPointer) {
      words_[count_++] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(value));
    } else if constexpr (sizeof(T) == 8) {
      words_[count_++] = static_cast<uint32_t>(static_cast<uint64_t>(value));
      words_[count_++] = static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32);
    } else {
      words_[count_++] = static_cast<uint32_t>(value);
    }
  }

 private:
  [[gnu::noinline]] void AddString(const char* text) {
    const auto address = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(text));
    if (text == nullptr || (text >= ttfd_read_only_begin && text < ttfd_read_only_end)) {
      words_[count_++] = address;
      return;
    }
    uint32_t room = 4 * (kMost - kFixed - copied_);
    room = room < abi::kMaxPrintStringBytes ? room : abi::kMaxPrintStringBytes;
    uint32_t* const header = &words_[count_++];
    uint32_t bytes = 0;
    uint32_t word = 0;
    for (; bytes != room && text[bytes] != 0; ++bytes) {
      word |= static_cast<uint32_t>(static_cast<uint8_t>(text[bytes])) << 8 * (bytes & 3);
      if ((bytes & 3) == 3) {
        words_[count_++] = word;
        word = 0;
      }
    }
    if ((bytes & 3) != 0) words_[count_++] = word;
    copied_ += (bytes + 3) / 4;
    *header = abi::kPrintCopied | (text[bytes] != 0 ? abi::kPrintCut : 0) | bytes;
  }

  uint32_t words_[kMost];
  uint32_t count_ = abi::kPrintHeaderWords;
  uint32_t copied_ = 0;
};

}  // namespace internal

template <typename... Arguments>
[[gnu::always_inline]] inline void Print(
    internal::PrintFormat<typename internal::SameType<Arguments>::Type...> format,
    Arguments... arguments) {
  constexpr bool kStrings =
      (false || ... ||
       (internal::PrintType<Arguments>::kArgument == internal::PrintArgument::kString));
  constexpr uint32_t kFixed =
      (abi::kPrintHeaderWords + ... +
       (internal::PrintType<Arguments>::kArgument == internal::PrintArgument::kInteger64 ? 2u
                                                                                         : 1u));
  static_assert(kFixed <= abi::kMaxPrintWords, "too many arguments for one print");
  internal::PrintRecord<kFixed, kStrings> record(format.text);
  (record.Add(arguments), ...);
  record.Send();
}

}  // namespace ttfd::kernel

#define ttfd_printf(...) ::ttfd::kernel::Print(__VA_ARGS__)
