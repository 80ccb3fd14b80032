// Parts of programs: the kernels and buffers that a request names, checked and resolved.
//
// A program's circular buffers may lie on buffers of the session. The program does not keep these: for its launches and
// traces they are buffers like those that arguments name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/session/card_resources.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/operation.h"

namespace ttfd {

// At least one range, each inside the grid.
Refusal CheckCores(const std::vector<CoreRange>& cores, GridSize grid, const std::string& field);

// Checks all that can be known before the kernels are loaded and the buffers have memory. `create` gets the kernels and
// buffers, and its program what it has of them.
Refusal ResolveParts(const CreateProgramRequest& request, const HandleTable& handles,
                     const CardResources& card, CreateProgramOperation* create);

// The program's spec. REQUIRES that all kernels and buffers are ready; takes what it can of the request.
Refusal MakeSpec(CreateProgramOperation& create, ProgramSpec* spec);

// Adds the buffers that circular buffers of the program lie on; refuses if one of them was freed.
Refusal AddPlaces(const ProgramObject& program, const HandleTable& handles,
                  std::vector<std::shared_ptr<Buffer>>* buffers);

}  // namespace ttfd
