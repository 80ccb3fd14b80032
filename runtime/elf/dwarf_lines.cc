// Executes line programs: DWARF 5, section 6.2.
#include "runtime/elf/dwarf_lines.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/elf/byte_reader.h"

namespace ttfd {
namespace {

constexpr size_t kMaxFiles = 1024;
constexpr uint64_t kMaxFormats = 16;

// Content types of the file table.
constexpr uint64_t kContentPath = 1;
constexpr uint64_t kContentFolder = 2;

struct Header {
  uint16_t version = 0;
  uint8_t min_instruction_bytes = 1;
  int8_t line_base = 0;
  uint8_t line_range = 1;
  uint8_t opcode_base = 1;
  std::vector<uint8_t> operands;  // of the standard opcodes, from 1
  uint64_t program = 0;           // where it begins and ends in the section
  uint64_t end = 0;
};

// A path's last part: what people look for, the same wherever it was built. Headers of the kernel SDK and base
// firmware keep the folders by which they are included, which a user's source does not.
std::string FileName(std::string_view folder, std::string_view name) {
  constexpr std::string_view kIncluded = "firmware/sdk/include/";
  const std::string path = std::string(folder) + "/" + std::string(name);
  if (const size_t at = path.rfind(kIncluded); at != path.npos) {
    return path.substr(at + kIncluded.size());
  }
  for (const std::string_view root :
       {"firmware/sdk/", "firmware/common/", "firmware/worker/", "runtime/hw/"}) {
    if (const size_t at = path.rfind(root); at != path.npos) return path.substr(at);
  }
  return path.substr(path.rfind('/') + 1);
}

class LineReader {
 public:
  LineReader(const DwarfSections& sections, uint64_t offset, NamePool* names, uint64_t* budget)
      : sections_(sections), in_(sections.line, offset), names_(names), budget_(budget) {}

  LineProgram Read() {
    if (ReadHeader()) {
      in_.Seek(header_.program);
      Execute();
    }
    return std::move(program_);
  }

 private:
  bool ReadHeader() {
    const uint64_t length = in_.U32();
    header_.end = std::min<uint64_t>(in_.position() + length, sections_.line.size());
    header_.version = in_.U16();
    if (header_.version < 2 || header_.version > 5) return false;
    if (header_.version >= 5) in_.Skip(2);  // sizes of addresses and segment selectors
    const uint64_t header_length = in_.U32();
    header_.program = in_.position() + header_length;
    header_.min_instruction_bytes = in_.U8();
    if (header_.version >= 4) in_.Skip(1);  // operations of an instruction: one
    in_.Skip(1);                            // default_is_stmt
    header_.line_base = static_cast<int8_t>(in_.U8());
    header_.line_range = in_.U8();
    header_.opcode_base = in_.U8();
    for (uint32_t opcode = 1; opcode < header_.opcode_base; ++opcode) {
      header_.operands.push_back(in_.U8());
    }
    if (!in_.ok() || header_.line_range == 0 || header_.program > header_.end) return false;
    return header_.version >= 5 ? ReadFiles5() : ReadFiles4();
  }

  bool ReadFiles4() {
    folders_.emplace_back();  // folders count from 1, as files
    while (in_.ok() && !spent_) {
      const std::string_view folder = in_.String(kMaxSymbolNameBytes);
      if (folder.empty()) break;
      AddFolder(folder);
    }
    program_.files.push_back(0);
    while (in_.ok() && !spent_) {
      const std::string_view name = in_.String(kMaxSymbolNameBytes);
      if (name.empty()) break;
      const uint64_t folder = in_.Uleb();
      in_.Uleb(), in_.Uleb();  // time, size
      AddFile(folder, name);
    }
    return in_.ok() && !spent_;
  }

  bool ReadFiles5() {
    ReadTable(false);
    ReadTable(true);
    return in_.ok() && !spent_;
  }

  void ReadTable(bool files) {
    std::vector<std::pair<uint64_t, uint64_t>> formats;  // content type, form
    const uint64_t count = in_.U8();
    if (count > kMaxFormats) {
      spent_ = true;
      return;
    }
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t type = in_.Uleb();
      formats.emplace_back(type, in_.Uleb());
    }
    const uint64_t entries = in_.Uleb();
    for (uint64_t i = 0; i < entries && in_.ok() && !spent_; ++i) {
      Spend();
      std::string_view path;
      uint64_t folder = 0;
      for (const auto& [type, form] : formats) {
        const auto [text, number] = ReadField(form);
        if (type == kContentPath) path = text;
        if (type == kContentFolder) folder = number;
      }
      files ? AddFile(folder, path) : AddFolder(path);
    }
  }

  struct Field {  // of a file table
    std::string_view text;
    uint64_t number = 0;
  };

  Field ReadField(uint64_t form) {
    switch (form) {
      case dwarf::kFormString:
        return {in_.String(kMaxSymbolNameBytes)};
      case dwarf::kFormStrp:
        return {StringIn(sections_.str, in_.U32(), kMaxSymbolNameBytes)};
      case dwarf::kFormLineStrp:
        return {StringIn(sections_.line_str, in_.U32(), kMaxSymbolNameBytes)};
      case dwarf::kFormUdata:
        return {{}, in_.Uleb()};
      case dwarf::kFormData1:
        return {{}, in_.U8()};
      case dwarf::kFormData2:
        return {{}, in_.U16()};
      case dwarf::kFormData4:
        in_.Skip(4);
        return {};
      case dwarf::kFormData8:
        in_.Skip(8);
        return {};
      case dwarf::kFormData16:
        in_.Skip(16);
        return {};
      case dwarf::kFormBlock:
        in_.Skip(in_.Uleb());
        return {};
      default:
        spent_ = true;
        return {};
    }
  }

  void AddFolder(std::string_view folder) {
    Spend();
    if (folders_.size() >= kMaxFiles) spent_ = true;
    if (!spent_) folders_.push_back(folder);
  }

  void AddFile(uint64_t folder, std::string_view name) {
    if (program_.files.size() >= kMaxFiles) {
      spent_ = true;
      return;
    }
    const std::string_view in = folder < folders_.size() ? folders_[folder] : "";
    program_.files.push_back(names_->Add(FileName(in, name)));
  }

  void Spend() {
    if (*budget_ == 0) spent_ = true;
    *budget_ -= *budget_ == 0 ? 0 : 1;
  }

  void Execute() {
    while (in_.ok() && !spent_ && in_.position() < header_.end) {
      Spend();
      const uint8_t opcode = in_.U8();
      if (opcode >= header_.opcode_base) {
        const auto adjusted = static_cast<uint32_t>(opcode - header_.opcode_base);
        Advance(adjusted / header_.line_range);
        line_ += static_cast<uint32_t>(header_.line_base +
                                       static_cast<int32_t>(adjusted % header_.line_range));
        Append(false);
      } else if (opcode == 0) {
        Extended();
      } else {
        Standard(opcode);
      }
    }
  }

  void Advance(uint64_t operations) {
    address_ += static_cast<uint32_t>(operations) * header_.min_instruction_bytes;
  }

  void Standard(uint8_t opcode) {
    switch (opcode) {
      case 1:  // copy
        return Append(false);
      case 2:  // advance_pc
        return Advance(in_.Uleb());
      case 3:  // advance_line
        line_ += static_cast<uint32_t>(in_.Sleb());
        return;
      case 4:  // set_file
        file_ = in_.Uleb();
        return;
      case 8:  // const_add_pc
        return Advance((255u - header_.opcode_base) / header_.line_range);
      case 9:  // fixed_advance_pc
        address_ += in_.U16();
        return;
      default:
        for (uint32_t i = 0; i < header_.operands[opcode - 1u] && in_.ok(); ++i) in_.Uleb();
    }
  }

  void Extended() {
    const uint64_t length = in_.Uleb();
    const uint64_t next = in_.position() + length;
    if (length == 0) return;
    switch (in_.U8()) {
      case 1:  // end_sequence
        Append(true);
        if (!sequence_.empty()) program_.sequences.push_back(std::exchange(sequence_, {}));
        address_ = 0;
        line_ = 1;
        file_ = 1;
        break;
      case 2:  // set_address
        if (length == 5) address_ = in_.U32();
        break;
      default:
        break;
    }
    in_.Seek(next);
  }

  // Only what differs is kept. Code that goes back is no sequence.
  void Append(bool end) {
    const uint32_t file = file_ < program_.files.size() ? program_.files[file_] : 0;
    const LineRow row{address_, file, end ? 0 : line_};
    if (!sequence_.empty()) {
      LineRow& last = sequence_.back();
      if (address_ < last.address) {
        spent_ = true;
        return;
      }
      if (address_ == last.address) {
        last = row;
        return;
      }
      if (!end && last.file == file && last.line == row.line) return;
    }
    sequence_.push_back(row);
  }

  const DwarfSections& sections_;
  ByteReader in_;
  NamePool* const names_;
  uint64_t* const budget_;
  Header header_;
  std::vector<std::string_view> folders_;
  LineProgram program_;
  LineSequence sequence_;
  uint32_t address_ = 0;
  uint32_t line_ = 1;
  uint64_t file_ = 1;
  bool spent_ = false;  // there is more than anybody may ask for, or it makes no sense
};

}  // namespace

LineProgram ReadLineProgram(const DwarfSections& sections, uint64_t offset, NamePool* names,
                            uint64_t* budget) {
  return LineReader(sections, offset, names, budget).Read();
}

}  // namespace ttfd
