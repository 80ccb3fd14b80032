// Reading the bytes of a file by the names of a profile.
//
// Every access is checked against the bytes, and reads zeros beyond them: the file is mapped, and may be changed after
// it was verified. A Record refers to the bytes and the profile of its file
// and must not outlive them. Any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "client/ttmlir/src/profile.h"

namespace ttfd::ttmlir {

using Bytes = std::span<const uint8_t>;

// 0 where `at` and the bytes of the number are not all within `bytes`.
template <typename Number>
Number LoadAt(Bytes bytes, uint64_t at) {
  Number number{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof(Number)) {
    std::memcpy(&number, bytes.data() + at, sizeof(Number));
  }
  return number;
}

// Where slot `slot` of the table at `table` lies; none: it is absent.
std::optional<uint64_t> SlotAt(Bytes bytes, uint64_t table, uint32_t slot);

class List;

// A table or struct of a file; or none, whose fields are all absent.
class Record {
 public:
  Record() = default;
  Record(Bytes bytes, uint64_t at, const Definition* definition)
      : bytes_(bytes), at_(at), definition_(definition) {}

  explicit operator bool() const { return definition_ != nullptr; }
  // Definition of the record. REQUIRES: it is not none.
  const Definition& definition() const { return *definition_; }
  Bytes bytes() const { return bytes_; }
  uint64_t at() const { return at_; }

  // Where the value of the field lies; none: absent, so that its default counts, or not a field of this record.
  std::optional<uint64_t> PlaceOf(const Field& field) const;

  // By the name of a field. What is absent, or of another type, is its default, 0, "" or none.
  bool Has(std::string_view field) const;
  int64_t Integer(std::string_view field) const;  // a u64 above 2^63 - 1 becomes negative
  double Real(std::string_view field) const;
  std::string_view Text(std::string_view field) const;
  std::string_view Name(std::string_view field) const;  // of an enum's number
  Record Child(std::string_view field) const;  // a table, a struct, or the member of a union
  std::string_view MemberName(std::string_view field) const;  // of a union
  List Items(std::string_view field) const;

 private:
  Bytes bytes_;
  uint64_t at_ = 0;
  const Definition* definition_ = nullptr;
};

// The elements of a field that is a list.
class List {
 public:
  List() = default;
  // `at` is where the number of elements lies; `kinds` the same of the list of a union's numbers, else unused.
  List(Bytes bytes, uint64_t at, uint64_t kinds, const Type& type);

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Type& type() const { return type_; }
  // Where element `i` lies.
  uint64_t PlaceOf(uint32_t i) const { return at_ + 4 + uint64_t{i} * stride_; }
  // Member of the union that element `i` is; null: not a list of unions, or no member has its number.
  const Definition::Member* MemberOf(uint32_t i) const;

  int64_t Integer(uint32_t i) const;
  double Real(uint32_t i) const;
  std::string_view Text(uint32_t i) const;
  Record Child(uint32_t i) const;
  // Elements of one byte, all of them.
  Bytes Raw() const;

 private:
  Bytes bytes_;
  uint64_t at_ = 0;
  uint64_t kinds_ = 0;
  Type type_;
  uint32_t stride_ = 0;
  uint32_t size_ = 0;
};

// The number of basic type `basic` at `at`.
int64_t IntegerAt(Bytes bytes, uint64_t at, Basic basic);
double RealAt(Bytes bytes, uint64_t at, Basic basic);
// The text that the offset at `at` leads to.
std::string_view TextAt(Bytes bytes, uint64_t at);
// Where the offset at `at` leads to.
inline uint64_t TargetAt(Bytes bytes, uint64_t at) { return at + LoadAt<uint32_t>(bytes, at); }

}  // namespace ttfd::ttmlir
