#include "runtime/simlib/category.h"

namespace ttfd::simlib {

const char* CategoryName(Category category) {
  switch (category) {
    case Category::kUndefinedBehavior:
      return "UndefinedBehavior";
    case Category::kNonContractualBehavior:
      return "NonContractualBehavior";
    case Category::kUntestedFunctionality:
      return "UntestedFunctionality";
    case Category::kUnimplementedFunctionality:
      return "UnimplementedFunctionality";
    case Category::kUnsupportedFunctionality:
      return "UnsupportedFunctionality";
    case Category::kSystemError:
      return "SystemError";
    case Category::kConfigurationError:
      return "ConfigurationError";
  }
  return "AssertionFailure";
}

// Where one of our kinds covers several of the official simulator's checks, the category is that of the most
// frequent one; docs/simulator.md lists the others.
Category CategoryOf(sim::FaultKind kind) {
  switch (kind) {
    case sim::FaultKind::kNone:
    case sim::FaultKind::kOutOfBounds:  // of buffers, which the library has none of
      return Category::kSystemError;
    case sim::FaultKind::kIllegalInstruction:
    case sim::FaultKind::kTensixInstruction:
    case sim::FaultKind::kMissingWait:
    case sim::FaultKind::kInstructionFetch:
    case sim::FaultKind::kNocAlignment:
    case sim::FaultKind::kNocInlineToMemory:
    case sim::FaultKind::kNocBusy:
    case sim::FaultKind::kAddressTranslation:
      return Category::kUndefinedBehavior;
    case sim::FaultKind::kMisaligned:
      return Category::kNonContractualBehavior;
    case sim::FaultKind::kUnsupportedInstruction:
    case sim::FaultKind::kUnsupportedCsr:
    case sim::FaultKind::kRegisterWidth:
    case sim::FaultKind::kNocLength:
    case sim::FaultKind::kTlbWindow:
      return Category::kUnsupportedFunctionality;
    case sim::FaultKind::kUnmapped:
    case sim::FaultKind::kUnsupportedRegister:
    case sim::FaultKind::kUnsupportedValue:
    case sim::FaultKind::kNoSuchTile:
    case sim::FaultKind::kNocControl:
    case sim::FaultKind::kNocLocalSide:
    case sim::FaultKind::kNocMulticast:
    case sim::FaultKind::kNocAtomic:
    case sim::FaultKind::kLinkCommand:
    case sim::FaultKind::kHostMemory:
      return Category::kUnimplementedFunctionality;
  }
  return Category::kSystemError;
}

}  // namespace ttfd::simlib
