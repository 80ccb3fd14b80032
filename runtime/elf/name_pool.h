// Names, each kept once, within a limit in bytes. Number 0 is no name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ttfd {

class NamePool {
 public:
  explicit NamePool(size_t max_bytes) : max_bytes_(max_bytes) { names_.emplace_back(); }

  // 0 if the name is empty or there is no room for it.
  uint32_t Add(std::string_view name) {
    if (name.empty()) return 0;
    std::string key(name);
    if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
    if (bytes_ + name.size() > max_bytes_) return 0;
    bytes_ += name.size();
    names_.push_back(key);
    const auto number = static_cast<uint32_t>(names_.size() - 1);
    numbers_.emplace(std::move(key), number);
    return number;
  }

  // Gives the names away, by number.
  std::vector<std::string> Take() { return std::move(names_); }
  const std::string& operator[](uint32_t number) const { return names_[number]; }

 private:
  const size_t max_bytes_;
  size_t bytes_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

}  // namespace ttfd
