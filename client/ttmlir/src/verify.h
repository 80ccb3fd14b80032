// The verifier: whether the bytes of a file are what a profile says, checked completely before anything is read.
#pragma once

#include "client/ttmlir/src/record.h"
#include "ttfd/status.h"

namespace ttfd::ttmlir {

// Tables within tables, the root among them.
inline constexpr int kMaxDepth = 64;
// Values (numbers, texts, tables, elements of lists) that are reached from the root, in total, of a file of `bytes`. A
// value that several tables share counts each time. Files of the compiler have about a quarter of a value a byte.
inline constexpr uint64_t MaxValues(uint64_t bytes) { return 65'536 + 2 * bytes; }

// Checks size, offsets, vtables, fields, lists, texts, numbers of unions, depth and total. The bytes begin with their
// size, as tt-mlir writes them. INVALID_ARGUMENT names the place: "programs[1].operations[17].type.in.desc: ...".
client::Status Verify(Bytes bytes, const Profile& profile);

// The root of bytes that were verified.
inline Record RootOf(Bytes bytes, const Profile& profile) {
  return Record(bytes, TargetAt(bytes, sizeof(uint32_t)), &profile.root());
}

}  // namespace ttfd::ttmlir
