// A profile: the definitions of one version of a schema of tt-mlir, read from a text file that make_profile.py wrote.
//
// A line is a record of words separated by spaces; '#' begins a comment line.
//
//   extends system-92f6a8a87b72                  includes another profile; later records replace its own
//   file TTNN                                    identifier of the files, at their byte 8
//   hash 433d79f9...                             their schema hash, or of files of 2024 their git hash
//   root TTNNBinary                              the table a file begins with
//   without SystemDescRoot                       definitions of that profile that this one does not have
//   enum DataType u16 Float32=0 Float16=1        names of numbers; `flags` where they are bits that may be combined
//   struct Dim2d 8 y@0:i32 x@4:i32               bytes; fields with their offsets, in place
//   table TensorRef global_id@0:u32 desc@1:Desc  fields with their slots in the table's vtable
//   union NumberType FP=1:FloatingPointType      numbers of members, and their tables
//
// The type of a field is basic (bool, i8 to u64, f32, f64, text), a definition's name, or a list [of one of these].
// After it `=` gives the default of a number that is absent, if it is not 0, and `?` says that it may be unset.
// A union takes two slots: its number, then its table; the field has the second.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ttfd/status.h"

namespace ttfd::ttmlir {

enum class Basic : uint8_t {
  kBool,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kF32,
  kF64,
  kText
};

// Bytes of a number; of text, of the offset that stands for it.
uint32_t BytesOf(Basic basic);

struct Definition;

// `definition` is null for a basic type. Of an enum `basic` is the type of its numbers.
struct Type {
  Basic basic = Basic::kU8;
  const Definition* definition = nullptr;
  bool list = false;
};

struct Field {
  std::string name;
  uint16_t place = 0;  // a slot in a table, an offset in a struct
  Type type;
  bool optional = false;
  double standard = 0;  // the default of a number
};

struct Definition {
  enum class Kind : uint8_t { kEnum, kFlags, kStruct, kTable, kUnion };
  struct Member {
    std::string name;
    int64_t number = 0;
    const Definition* table = nullptr;  // of a union
  };

  Kind kind = Kind::kTable;
  std::string name;
  Basic basic = Basic::kU8;     // of an enum
  uint32_t bytes = 0;           // of a struct
  std::vector<Field> fields;    // of a table or struct
  std::vector<Member> members;  // of an enum or union

  bool in_place() const { return kind == Kind::kStruct; }
  // null: there is none.
  const Field* FieldNamed(std::string_view name) const;
  const Member* MemberOf(int64_t number) const;
};

// Whether a value of the type is a union; a name of an enum or flags; a number or one of these names, and no list.
// IsUnion and IsEnum also hold of a list of such values.
bool IsUnion(const Type& type);
bool IsEnum(const Type& type);
bool IsNumber(const Type& type);

// Bytes that one value of the type takes where it lies: in a table, a struct or a list. `list` of the type is ignored.
uint32_t BytesInPlace(const Type& type);

// Immutable; any thread.
class Profile {
 public:
  // Reads `folder`/`name`.profile and what it extends. An error names file, line and word.
  static client::Result<std::shared_ptr<const Profile>> Read(const std::string& folder,
                                                             const std::string& name);
  // The same from text that extends nothing.
  static client::Result<std::shared_ptr<const Profile>> Parse(std::string_view text);

  const std::string& identifier() const { return identifier_; }
  const std::string& hash() const { return hash_; }
  const Definition& root() const { return *root_; }

 private:
  friend class ProfileParser;

  std::string identifier_;
  std::string hash_;
  const Definition* root_ = nullptr;
  std::map<std::string, Definition, std::less<>> definitions_;
};

}  // namespace ttfd::ttmlir
