// The arguments of a launch, checked against its program, with the addresses of buffers filled in.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "daemon/api/errors.h"
#include "daemon/api/request.h"
#include "daemon/session/objects.h"
#include "runtime/command/program.h"

namespace ttfd {

// Refuses a launch, trace or replay with an entry for a kernel that has no words: it has no use, and takes many times
// its bytes in memory.
Refusal CheckAnyWords(const Request& request);

// `buffers` are those of all BufferArguments, in order. `resolved` gets one entry a kernel; kernels without an entry in
// `arguments` get none.
Refusal ResolveArguments(const Program& program, std::vector<ArgumentsRequest>& arguments,
                         const std::vector<std::shared_ptr<Buffer>>& buffers,
                         std::vector<KernelArguments>* resolved);

// One kernel's. `buffers`: those of its BufferArguments, in order; `index` is for the error's field. Takes the words.
Refusal ResolveKernel(const Program& program, ArgumentsRequest& arguments, size_t index,
                      std::span<const std::shared_ptr<Buffer>> buffers, KernelArguments* resolved);

}  // namespace ttfd
