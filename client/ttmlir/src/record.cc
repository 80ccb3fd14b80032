// Reading the bytes of a file by the names of a profile.
#include "client/ttmlir/src/record.h"

#include <algorithm>

namespace ttfd::ttmlir {
namespace {

constexpr uint32_t kVtableHeaderBytes = 4;  // its own size and the table's

}  // namespace

std::optional<uint64_t> SlotAt(Bytes bytes, uint64_t table, uint32_t slot) {
  const uint64_t vtable = table - static_cast<int64_t>(LoadAt<int32_t>(bytes, table));
  const uint32_t entry = kVtableHeaderBytes + 2 * slot;
  if (entry + 2 > LoadAt<uint16_t>(bytes, vtable)) return std::nullopt;
  const uint16_t offset = LoadAt<uint16_t>(bytes, vtable + entry);
  if (offset == 0) return std::nullopt;
  return table + offset;
}

int64_t IntegerAt(Bytes bytes, uint64_t at, Basic basic) {
  switch (basic) {
    case Basic::kBool:
    case Basic::kU8:
      return LoadAt<uint8_t>(bytes, at);
    case Basic::kI8:
      return LoadAt<int8_t>(bytes, at);
    case Basic::kI16:
      return LoadAt<int16_t>(bytes, at);
    case Basic::kU16:
      return LoadAt<uint16_t>(bytes, at);
    case Basic::kI32:
      return LoadAt<int32_t>(bytes, at);
    case Basic::kU32:
      return LoadAt<uint32_t>(bytes, at);
    case Basic::kI64:
    case Basic::kU64:
      return LoadAt<int64_t>(bytes, at);
    case Basic::kF32:
    case Basic::kF64:
    case Basic::kText:
      break;
  }
  return 0;
}

double RealAt(Bytes bytes, uint64_t at, Basic basic) {
  if (basic == Basic::kF32) return LoadAt<float>(bytes, at);
  if (basic == Basic::kF64) return LoadAt<double>(bytes, at);
  return static_cast<double>(IntegerAt(bytes, at, basic));
}

std::string_view TextAt(Bytes bytes, uint64_t at) {
  const uint64_t target = TargetAt(bytes, at);
  const uint64_t begin = std::min<uint64_t>(target + 4, bytes.size());
  const uint64_t size = std::min<uint64_t>(LoadAt<uint32_t>(bytes, target), bytes.size() - begin);
  return {reinterpret_cast<const char*>(bytes.data()) + begin, size};
}

std::optional<uint64_t> Record::PlaceOf(const Field& field) const {
  if (definition_ == nullptr) return std::nullopt;
  if (definition_->in_place()) return at_ + field.place;
  return SlotAt(bytes_, at_, field.place);
}

bool Record::Has(std::string_view field) const {
  const Field* const found = definition_ == nullptr ? nullptr : definition_->FieldNamed(field);
  return found != nullptr && PlaceOf(*found).has_value();
}

int64_t Record::Integer(std::string_view field) const {
  const Field* const found = definition_ == nullptr ? nullptr : definition_->FieldNamed(field);
  if (found == nullptr || !IsNumber(found->type)) return 0;
  const auto place = PlaceOf(*found);
  return place ? IntegerAt(bytes_, *place, found->type.basic)
               : static_cast<int64_t>(found->standard);
}

double Record::Real(std::string_view field) const {
  const Field* const found = definition_ == nullptr ? nullptr : definition_->FieldNamed(field);
  if (found == nullptr || !IsNumber(found->type)) return 0;
  const auto place = PlaceOf(*found);
  return place ? RealAt(bytes_, *place, found->type.basic) : found->standard;
}

std::string_view Record::Text(std::string_view field) const {
  const Field* const found = definition_ == nullptr ? nullptr : definition_->FieldNamed(field);
  if (found == nullptr || found->type.list || found->type.definition != nullptr ||
      found->type.basic != Basic::kText) {
    return {};
  }
  const auto place = PlaceOf(*found);
  return place ? TextAt(bytes_, *place) : std::string_view();
}

std::string_view Record::Name(std::string_view field) const {
  const Field* const found = definition_ == nullptr ? nullptr : definition_->FieldNamed(field);
  if (found == nullptr || !IsNumber(found->type) || found->type.definition == nullptr) return {};
  const Definition::Member* const member = found->type.definition->MemberOf(Integer(field));
  return member == nullptr ? std::string_view() : member->name;
}

std::string_view Record::MemberName(std::string_view field) const {
  const Field* const found = definition_ == nullptr ? nullptr : definition_->FieldNamed(field);
  if (found == nullptr || found->type.list || !IsUnion(found->type)) return {};
  const auto place = SlotAt(bytes_, at_, found->place - 1);
  const auto* const member =
      place ? found->type.definition->MemberOf(LoadAt<uint8_t>(bytes_, *place)) : nullptr;
  return member == nullptr ? std::string_view() : member->name;
}

Record Record::Child(std::string_view field) const {
  const Field* const found = definition_ == nullptr ? nullptr : definition_->FieldNamed(field);
  if (found == nullptr || found->type.list || found->type.definition == nullptr) return {};
  const auto place = PlaceOf(*found);
  if (!place) return {};
  const Definition* definition = found->type.definition;
  if (definition->in_place()) return Record(bytes_, *place, definition);
  if (IsUnion(found->type)) {
    const auto kind = SlotAt(bytes_, at_, found->place - 1);
    const auto* const member =
        kind ? definition->MemberOf(LoadAt<uint8_t>(bytes_, *kind)) : nullptr;
    if (member == nullptr) return {};
    definition = member->table;
  } else if (definition->kind != Definition::Kind::kTable) {
    return {};
  }
  return Record(bytes_, TargetAt(bytes_, *place), definition);
}

List Record::Items(std::string_view field) const {
  const Field* const found = definition_ == nullptr ? nullptr : definition_->FieldNamed(field);
  if (found == nullptr || !found->type.list) return {};
  const auto place = PlaceOf(*found);
  if (!place) return {};
  uint64_t kinds = bytes_.size();
  if (IsUnion(found->type)) {
    if (const auto at = SlotAt(bytes_, at_, found->place - 1)) kinds = TargetAt(bytes_, *at);
  }
  return List(bytes_, TargetAt(bytes_, *place), kinds, found->type);
}

List::List(Bytes bytes, uint64_t at, uint64_t kinds, const Type& type)
    : bytes_(bytes), at_(at), kinds_(kinds), type_(type), stride_(BytesInPlace(type)) {
  const uint64_t space = at + 4 <= bytes.size() ? bytes.size() - at - 4 : 0;
  size_ = static_cast<uint32_t>(
      std::min<uint64_t>(LoadAt<uint32_t>(bytes, at), stride_ == 0 ? 0 : space / stride_));
}

const Definition::Member* List::MemberOf(uint32_t i) const {
  return IsUnion(type_) ? type_.definition->MemberOf(LoadAt<uint8_t>(bytes_, kinds_ + 4 + i))
                        : nullptr;
}

int64_t List::Integer(uint32_t i) const { return IntegerAt(bytes_, PlaceOf(i), type_.basic); }

double List::Real(uint32_t i) const { return RealAt(bytes_, PlaceOf(i), type_.basic); }

std::string_view List::Text(uint32_t i) const { return TextAt(bytes_, PlaceOf(i)); }

Record List::Child(uint32_t i) const {
  if (i >= size_ || type_.definition == nullptr) return {};
  if (type_.definition->in_place()) return Record(bytes_, PlaceOf(i), type_.definition);
  const Definition* definition = type_.definition;
  if (const Definition::Member* const member = MemberOf(i)) definition = member->table;
  if (definition->kind != Definition::Kind::kTable) return {};
  return Record(bytes_, TargetAt(bytes_, PlaceOf(i)), definition);
}

Bytes List::Raw() const { return stride_ == 1 ? bytes_.subspan(at_ + 4, size_) : Bytes(); }

}  // namespace ttfd::ttmlir
