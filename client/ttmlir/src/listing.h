// Listings of a file in the terms of binary.h: the same for all versions of the schema.
#pragma once

#include <string>
#include <vector>

#include "client/ttmlir/src/record.h"
#include "ttfd/ttmlir/binary.h"

namespace ttfd::ttmlir {

// `program` is a program of the root. `native` are libraries of the whole file, which count for each of its programs.
ProgramInfo ListProgram(const Record& program, const List& native);
std::vector<OperationInfo> ListOperations(const Record& program);
std::vector<KernelInfo> ListKernels(const Record& program);

// The operations of a TTNN program; the commands of all queues of a TTMetal program.
std::vector<Record> OperationsOf(const Record& program);

// Whether a field of an operation's table refers to tensors, and to those that it makes.
bool RefersToTensors(const Field& field);
bool IsResult(const Field& field, std::string_view operation);

// The location that an operation has as a field, or that ends what the compiler printed of it; without quotes.
std::string LocationOf(const Record& operation);

// "0.0.131" of a version; "BlockSharded" as "block sharded".
std::string VersionText(const Record& version);
std::string WordsOfName(std::string_view name);

}  // namespace ttfd::ttmlir
