// Reads the names of the Itanium C++ ABI (section 5.1) as far as people need them.
#include "runtime/elf/demangle.h"

#include <algorithm>
#include <cctype>

namespace ttfd {
namespace {

constexpr int kMaxDepth = 16;
constexpr size_t kMaxNameBytes = 512;

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Demangler {
 public:
  explicit Demangler(std::string_view text) : text_(text) {}

  // An encoding: a name, then what its parameters are, which nobody asked for.
  std::string Encoding(int depth = 0) {
    if (depth > kMaxDepth) return Fail();
    if (Take('N')) return Nested(depth);
    if (Take('Z')) return Local(depth);
    std::string name;
    if (Peek() == 'S') Scope(&name);
    Component(&name, depth);
    if (Peek() == 'I') Arguments(&name);
    return name;
  }
  bool good() const { return good_; }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  std::string Fail() {
    good_ = false;
    at_ = text_.size();
    return {};
  }

  std::string Nested(int depth) {
    while (Peek() == 'K' || Peek() == 'V' || Peek() == 'r' || Peek() == 'R' || Peek() == 'O') ++at_;
    std::string name;
    while (good_ && !Take('E')) {
      if (Peek() == 'I') {
        Arguments(&name);
      } else if (Peek() == 'S') {
        Scope(&name);
      } else if (Peek() == 'T') {
        return Fail();
      } else {
        Component(&name, depth);
      }
    }
    return name;
  }

  // Something inside a function: Z <encoding> E <name>.
  std::string Local(int depth) {
    std::string name = Encoding(depth + 1);
    if (!good_) return {};
    SkipTo('E');
    if (Take('s')) return name;  // a string literal
    if (Take('d')) {             // of a default argument
      while (IsDigit(Peek())) ++at_;
      Take('_');
    }
    const std::string inner = Peek() == 'N' ? (++at_, Nested(depth + 1)) : One(depth);
    if (!inner.empty()) Join(&name, inner);
    return name;
  }

  std::string One(int depth) {
    std::string name;
    Component(&name, depth);
    if (Peek() == 'I') Arguments(&name);
    return name;
  }

  // One unqualified name.
  void Component(std::string* name, int) {
    Take('L');  // internal linkage
    if (IsDigit(Peek())) return Source(name);
    if (Take('U')) return Unnamed(name);
    if ((Peek() == 'C' || Peek() == 'D') && IsDigit(Peek(1))) {
      const bool destructor = Peek() == 'D';
      at_ += 2;
      std::string last = name->substr(name->rfind(':') == name->npos ? 0 : name->rfind(':') + 1);
      if (const size_t angle = last.find('<'); angle != last.npos) last.resize(angle);
      return Join(name, destructor ? "~" + last : last);
    }
    if (std::islower(static_cast<unsigned char>(Peek())) != 0 &&
        std::islower(static_cast<unsigned char>(Peek(1))) != 0) {
      at_ += 2;  // which operator it is takes a table nobody would miss
      return Join(name, "operator");
    }
    Fail();
  }

  void Source(std::string* name) {
    size_t length = 0;
    while (IsDigit(Peek())) {
      length = std::min<size_t>(length * 10 + static_cast<size_t>(Peek() - '0'), kMaxNameBytes + 1);
      ++at_;
    }
    if (length == 0 || length > text_.size() - at_) {
      Fail();
      return;
    }
    const std::string_view own = text_.substr(at_, length);
    at_ += length;
    if (own.starts_with("_GLOBAL__N")) return;
    Join(name, own);
  }

  // Ul <parameters> E [number] _, Ut [number] _.
  void Unnamed(std::string* name) {
    if (Take('l')) {
      SkipTo('E');
      Join(name, "{lambda}");
    } else if (Take('t')) {
      Join(name, "{unnamed}");
    } else {
      Fail();
      return;
    }
    while (IsDigit(Peek())) ++at_;
    if (!Take('_')) Fail();
  }

  // St, Sa and so on are scopes of std; S_, S0_ ... stand for something that came before, most often the
  // scopes of the whole name, which are not worth remembering here.
  void Scope(std::string* name) {
    ++at_;
    if (std::islower(static_cast<unsigned char>(Peek())) != 0) {
      Join(name, "std");
      ++at_;
      return;
    }
    while (IsDigit(Peek()) || std::isupper(static_cast<unsigned char>(Peek())) != 0) ++at_;
    if (!Take('_')) Fail();
  }

  void Arguments(std::string* name) {
    ++at_;
    SkipTo('E');
    *name += "<>";
  }

  // Passes everything up to the `E` of this level, which ends types, expressions and names alike.
  void SkipTo(char end) {
    int level = 0;
    while (good_) {
      const char c = Peek();
      if (c == '\0') {
        Fail();
      } else if (c == end && level == 0) {
        ++at_;
        return;
      } else if (c == 'E') {
        --level;
        ++at_;
      } else if (IsDigit(c)) {
        SkipSource();
      } else if (c == 'L') {
        ++at_;
        SkipLiteral(&level);
      } else if (c == 'S' || c == 'T') {
        SkipSubstitution();
      } else if (c == 'A') {
        ++at_;
        while (IsDigit(Peek())) ++at_;
        Take('_');
      } else if (c == 'U' && Peek(1) == 'l') {
        ++level;
        at_ += 2;
      } else {
        level += c == 'N' || c == 'I' || c == 'X' || c == 'J' || c == 'F' || c == 'Z' ? 1 : 0;
        ++at_;
      }
    }
  }
  void SkipSource() {
    std::string ignored;
    if (Peek() == '0' || at_ == 0) {
      ++at_;
      return;
    }
    if (Peek(-1) == 'E' && Peek(1) == '_') {  // the number of a lambda
      at_ += 2;
      return;
    }
    Source(&ignored);
  }
  // L <type> <digits> E; L _Z <encoding> E; also marks a name of internal linkage.
  void SkipLiteral(int* level) {
    if (IsDigit(Peek())) return;
    ++*level;
    if (std::islower(static_cast<unsigned char>(Peek())) == 0) return;
    ++at_;
    Take('n');
    while (IsDigit(Peek())) ++at_;
  }
  void SkipSubstitution() {
    ++at_;
    if (std::islower(static_cast<unsigned char>(Peek())) != 0) {
      ++at_;
      return;
    }
    while (IsDigit(Peek()) || std::isupper(static_cast<unsigned char>(Peek())) != 0) ++at_;
    Take('_');
  }

  static void Join(std::string* name, std::string_view more) {
    if (!name->empty()) *name += "::";
    *name += more;
  }

  const std::string_view text_;
  size_t at_ = 0;
  bool good_ = true;
};

}  // namespace

std::string Demangle(std::string_view mangled) {
  mangled = mangled.substr(0, kMaxNameBytes);
  if (!mangled.starts_with("_Z")) return std::string(mangled);
  Demangler demangler(mangled.substr(2));
  std::string name = demangler.Encoding();
  return demangler.good() && !name.empty() ? name : std::string(mangled);
}

}  // namespace ttfd
