#pragma once
#include <cstddef>
#include <span>
#include <string_view>
namespace ttfd::ops {
std::span<const std::byte> OperationElf(std::string_view name);
}  // namespace ttfd::ops
