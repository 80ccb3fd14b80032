// Walks .debug_info: DWARF 5, section 7.5.
#include "runtime/elf/dwarf_info.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runtime/elf/byte_reader.h"
#include "runtime/elf/demangle.h"

namespace ttfd {
namespace {

constexpr uint64_t kTagInlinedSubroutine = 0x1d, kTagSubprogram = 0x2e, kTagCompileUnit = 0x11;
constexpr uint64_t kAtName = 0x03, kAtStmtList = 0x10, kAtLowPc = 0x11, kAtHighPc = 0x12,
                   kAtAbstractOrigin = 0x31, kAtSpecification = 0x47, kAtRanges = 0x55,
                   kAtCallFile = 0x58, kAtCallLine = 0x59, kAtLinkageName = 0x6e;
constexpr uint8_t kUnitCompile = 1;
constexpr size_t kMaxAttributes = 64;
constexpr size_t kMaxNesting = 64;
constexpr int kMaxOrigins = 4;  // a call's origin, its specification, ...
constexpr uint64_t kNone = ~uint64_t{0};

struct AttributeForm {
  uint64_t attribute = 0;
  uint64_t form = 0;
  int64_t constant = 0;  // of kFormImplicitConst
};
struct Abbreviation {
  uint64_t tag = 0;
  bool children = false;
  std::vector<AttributeForm> attributes;
};
using Abbreviations = std::unordered_map<uint64_t, Abbreviation>;

// One entry's attributes, as far as anybody needs them.
struct Entry {
  std::string_view name;
  std::string_view linkage_name;
  uint64_t low_pc = kNone;
  uint64_t high_pc = kNone;
  bool high_is_length = false;
  uint64_t ranges = kNone;
  uint64_t origin = kNone;
  uint64_t statements = kNone;
  uint64_t call_file = 0;
  uint64_t call_line = 0;
};

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// "Boot<FirmwareMain()::<lambda()> >" is "Boot<>", as Demangle has it.
std::string WithoutArguments(std::string_view name) {
  const size_t angle = name.starts_with("operator") ? name.npos : name.find('<');
  return angle == name.npos || angle == 0 ? std::string(name)
                                          : std::string(name.substr(0, angle)) + "<>";
}

class InfoReader {
 public:
  InfoReader(const DwarfSections& sections, const DwarfLimits& limits, NamePool* names)
      : sections_(sections), limits_(limits), names_(names), in_(sections.info) {
    entries_left_ = limits.entries;
    operations_left_ = limits.operations;
  }

  DwarfInfo Read() {
    while (in_.ok() && !in_.at_end() && !stop_) ReadUnit();
    for (size_t i = 0; i < info_.inlined.size(); ++i) {
      info_.inlined[i].name = NameOf(origins_[i], kMaxOrigins);
    }
    return std::move(info_);
  }

 private:
  struct Named {
    std::string_view name;
    std::string_view linkage_name;
    uint64_t origin = kNone;
  };

  void ReadUnit() {
    unit_ = in_.position();
    const uint64_t length = in_.U32();
    const uint64_t end = in_.position() + length;
    version_ = in_.U16();
    uint8_t type = kUnitCompile;
    uint64_t abbreviations = 0;
    if (version_ == 5) {
      type = in_.U8();
      in_.Skip(1);  // size of an address
      abbreviations = in_.U32();
    } else {
      abbreviations = in_.U32();
      in_.Skip(1);
    }
    if (!in_.ok() || end > sections_.info.size() || length == 0) {
      stop_ = true;
      return;
    }
    if ((version_ == 4 || version_ == 5) && type == kUnitCompile) {
      ReadEntries(AbbreviationsAt(abbreviations), end);
    }
    in_.Seek(end);
  }

  const Abbreviations& AbbreviationsAt(uint64_t offset) {
    const auto [found, fresh] = tables_.try_emplace(offset);
    Abbreviations& table = found->second;
    if (!fresh) return table;
    ByteReader in(sections_.abbrev, offset);
    while (in.ok() && Spend()) {
      const uint64_t code = in.Uleb();
      if (code == 0) break;
      Abbreviation abbreviation;
      abbreviation.tag = in.Uleb();
      abbreviation.children = in.U8() != 0;
      while (in.ok() && Spend()) {
        AttributeForm form;
        form.attribute = in.Uleb();
        form.form = in.Uleb();
        if (form.form == dwarf::kFormImplicitConst) form.constant = in.Sleb();
        if (form.attribute == 0 && form.form == 0) break;
        if (abbreviation.attributes.size() == kMaxAttributes) return table;
        abbreviation.attributes.push_back(form);
      }
      table.emplace(code, std::move(abbreviation));
    }
    return table;
  }

  bool Spend() {
    if (operations_left_ == 0) {
      stop_ = true;
      return false;
    }
    --operations_left_;
    return true;
  }

  // Entries come in the order of a walk through their tree; an entry 0 ends the children of one.
  void ReadEntries(const Abbreviations& table, uint64_t end) {
    std::vector<uint32_t> calls;  // of the entries around: how many inlined calls deep
    uint32_t depth = 0;
    files_.clear();
    unit_base_ = 0;
    while (in_.ok() && !stop_ && in_.position() < end) {
      const uint64_t offset = in_.position();
      const uint64_t code = in_.Uleb();
      if (code == 0) {
        if (calls.empty()) return;
        depth = calls.back();
        calls.pop_back();
        continue;
      }
      const auto found = table.find(code);
      if (found == table.end() || entries_left_-- == 0) {
        stop_ = true;
        return;
      }
      const Abbreviation& abbreviation = found->second;
      const Entry entry = ReadEntry(abbreviation);
      if (!in_.ok() || stop_) return;
      const bool call = abbreviation.tag == kTagInlinedSubroutine;
      if (abbreviation.tag == kTagCompileUnit) {
        TakeUnit(entry);
      } else if (abbreviation.tag == kTagSubprogram) {
        functions_.emplace(offset, Named{entry.name, entry.linkage_name, entry.origin});
      } else if (call) {
        TakeCall(entry, depth);
      }
      if (abbreviation.children) {
        if (calls.size() == kMaxNesting) {
          stop_ = true;
          return;
        }
        calls.push_back(depth);
        if (call) ++depth;
        if (abbreviation.tag == kTagSubprogram) depth = 0;
      }
    }
  }

  void TakeUnit(const Entry& entry) {
    unit_base_ = entry.low_pc == kNone ? 0 : entry.low_pc;
    if (entry.statements == kNone || !programs_.insert(entry.statements).second) return;
    LineProgram program = ReadLineProgram(sections_, entry.statements, names_, &operations_left_);
    files_ = std::move(program.files);
    for (LineSequence& sequence : program.sequences) {
      info_.sequences.push_back(std::move(sequence));
    }
  }

  void TakeCall(const Entry& entry, uint32_t depth) {
    if (entry.origin == kNone) return;
    InlinedCode code;
    code.depth = depth;
    code.call_file = entry.call_file < files_.size() ? files_[entry.call_file] : 0;
    code.call_line = static_cast<uint32_t>(entry.call_line);
    for (const Range& range : RangesOf(entry)) {
      if (range.begin >= range.end || range.end > 0xFFFFFFFFu) continue;
      if (info_.inlined.size() == limits_.inlined) return;
      code.begin = static_cast<uint32_t>(range.begin);
      code.end = static_cast<uint32_t>(range.end);
      info_.inlined.push_back(code);
      origins_.push_back(entry.origin);
    }
  }

  std::vector<Range> RangesOf(const Entry& entry) {
    if (entry.low_pc != kNone && entry.high_pc != kNone) {
      return {{entry.low_pc, entry.high_is_length ? entry.low_pc + entry.high_pc : entry.high_pc}};
    }
    if (entry.ranges == kNone) return {};
    return version_ == 5 ? RangeList5(entry.ranges) : RangeList4(entry.ranges);
  }

  std::vector<Range> RangeList4(uint64_t offset) {
    ByteReader in(sections_.ranges, offset);
    std::vector<Range> ranges;
    uint64_t base = unit_base_;
    while (in.ok() && Spend()) {
      const uint64_t begin = in.U32();
      const uint64_t end = in.U32();
      if (begin == 0 && end == 0) break;
      if (begin == 0xFFFFFFFFu) {
        base = end;
      } else {
        ranges.push_back({base + begin, base + end});
      }
    }
    return ranges;
  }

  std::vector<Range> RangeList5(uint64_t offset) {
    ByteReader in(sections_.rnglists, offset);
    std::vector<Range> ranges;
    uint64_t base = unit_base_;
    while (in.ok() && Spend()) {
      switch (in.U8()) {
        case 0:  // end_of_list
          return ranges;
        case 4: {  // offset_pair
          const uint64_t begin = in.Uleb();
          ranges.push_back({base + begin, base + in.Uleb()});
          break;
        }
        case 5:  // base_address
          base = in.U32();
          break;
        case 6: {  // start_end
          const uint64_t begin = in.U32();
          ranges.push_back({begin, in.U32()});
          break;
        }
        case 7: {  // start_length
          const uint64_t begin = in.U32();
          ranges.push_back({begin, begin + in.Uleb()});
          break;
        }
        default:  // by index into .debug_addr, which only split units have
          return ranges;
      }
    }
    return ranges;
  }

  Entry ReadEntry(const Abbreviation& abbreviation) {
    Entry entry;
    for (const AttributeForm& attribute : abbreviation.attributes) {
      std::string_view text;
      const uint64_t value = Value(attribute, &text);
      switch (attribute.attribute) {
        case kAtName:
          entry.name = text;
          break;
        case kAtLinkageName:
          entry.linkage_name = text;
          break;
        case kAtLowPc:
          entry.low_pc = value;
          break;
        case kAtHighPc:
          entry.high_pc = value;
          entry.high_is_length = attribute.form != dwarf::kFormAddr;
          break;
        case kAtRanges:
          if (attribute.form == dwarf::kFormSecOffset) entry.ranges = value;
          break;
        case kAtAbstractOrigin:
        case kAtSpecification:
          entry.origin = value;
          break;
        case kAtStmtList:
          entry.statements = value;
          break;
        case kAtCallFile:
          entry.call_file = value;
          break;
        case kAtCallLine:
          entry.call_line = value;
          break;
        default:
          break;
      }
    }
    return entry;
  }

  // Passes one attribute; numbers are returned, of references the offset in the section.
  uint64_t Value(const AttributeForm& attribute, std::string_view* text) {
    switch (attribute.form) {
      case dwarf::kFormAddr:
      case dwarf::kFormData4:
      case dwarf::kFormSecOffset:
      case dwarf::kFormRefAddr:
      case dwarf::kFormStrx4:
      case dwarf::kFormAddrx4:
        return in_.U32();
      case dwarf::kFormData1:
      case dwarf::kFormFlag:
      case dwarf::kFormStrx1:
      case dwarf::kFormAddrx1:
        return in_.U8();
      case dwarf::kFormData2:
      case dwarf::kFormStrx2:
      case dwarf::kFormAddrx2:
        return in_.U16();
      case dwarf::kFormData8:
      case dwarf::kFormRefSig8:
        return in_.U64();
      case dwarf::kFormUdata:
      case dwarf::kFormStrx:
      case dwarf::kFormAddrx:
      case dwarf::kFormRnglistx:
      case dwarf::kFormLoclistx:
        return in_.Uleb();
      case dwarf::kFormSdata:
        return static_cast<uint64_t>(in_.Sleb());
      case dwarf::kFormRef1:
        return unit_ + in_.U8();
      case dwarf::kFormRef2:
        return unit_ + in_.U16();
      case dwarf::kFormRef4:
        return unit_ + in_.U32();
      case dwarf::kFormRef8:
        return unit_ + in_.U64();
      case dwarf::kFormRefUdata:
        return unit_ + in_.Uleb();
      case dwarf::kFormImplicitConst:
        return static_cast<uint64_t>(attribute.constant);
      case dwarf::kFormFlagPresent:
        return 1;
      default:
        return TextOrBlock(attribute.form, text);
    }
  }

  uint64_t TextOrBlock(uint64_t form, std::string_view* text) {
    switch (form) {
      case dwarf::kFormString:
        *text = in_.String(kMaxSymbolNameBytes);
        return 0;
      case dwarf::kFormStrp:
        *text = StringIn(sections_.str, in_.U32(), kMaxSymbolNameBytes);
        return 0;
      case dwarf::kFormLineStrp:
        *text = StringIn(sections_.line_str, in_.U32(), kMaxSymbolNameBytes);
        return 0;
      case dwarf::kFormData16:
        in_.Skip(16);
        return 0;
      case dwarf::kFormBlock1:
        in_.Skip(in_.U8());
        return 0;
      case dwarf::kFormBlock2:
        in_.Skip(in_.U16());
        return 0;
      case dwarf::kFormBlock4:
        in_.Skip(in_.U32());
        return 0;
      case dwarf::kFormBlock:
      case dwarf::kFormExprloc:
        in_.Skip(in_.Uleb());
        return 0;
      default:
        stop_ = true;  // what comes behind it cannot be found
        return 0;
    }
  }

  uint32_t NameOf(uint64_t origin, int hops) {
    const auto found = functions_.find(origin);
    if (found == functions_.end()) return 0;
    const Named& named = found->second;
    if (!named.linkage_name.empty()) {
      const std::string plain = Demangle(named.linkage_name);
      if (!plain.starts_with("_Z") || named.name.empty()) return names_->Add(plain);
    }
    if (!named.name.empty()) return names_->Add(WithoutArguments(named.name));
    return hops == 0 ? 0 : NameOf(named.origin, hops - 1);
  }

  const DwarfSections& sections_;
  const DwarfLimits& limits_;
  NamePool* const names_;
  ByteReader in_;
  DwarfInfo info_;
  std::vector<uint64_t> origins_;  // of info_.inlined
  std::unordered_map<uint64_t, Named> functions_;
  std::unordered_map<uint64_t, Abbreviations> tables_;
  std::unordered_set<uint64_t> programs_;
  std::vector<uint32_t> files_;  // of this unit
  uint64_t unit_ = 0;
  uint64_t unit_base_ = 0;
  uint16_t version_ = 0;
  uint64_t entries_left_ = 0;
  uint64_t operations_left_ = 0;
  bool stop_ = false;
};

}  // namespace

DwarfInfo ReadDwarf(const DwarfSections& sections, const DwarfLimits& limits, NamePool* names) {
  return InfoReader(sections, limits, names).Read();
}

}  // namespace ttfd
