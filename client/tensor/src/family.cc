// The families.
#include "client/tensor/src/family.h"

namespace ttfd::tensor {
namespace {

using client::Processor;
using Kernel = FamilyInfo::Kernel;

// A reader, three kernels of the engine with the same words, a writer, which most families share.
constexpr std::string_view kComputeWords[] = {"reader", "compute", "writer"};
#define TTFD_COMPUTE_FAMILY(name, writer)                                                     \
  {                                                                                           \
    {name "_reader", Processor::kNcrisc, 0}, {name "_compute_trisc0", Processor::kTrisc0, 1}, \
        {name "_compute_trisc1", Processor::kTrisc1, 1},                                      \
        {name "_compute_trisc2", Processor::kTrisc2, 1}, {                                    \
      writer, Processor::kBrisc, 2                                                            \
    }                                                                                         \
  }
constexpr Kernel kEltwise[] = TTFD_COMPUTE_FAMILY("eltwise", "tile_writer");
constexpr Kernel kMatmul[] = TTFD_COMPUTE_FAMILY("matmul", "tile_writer");
constexpr Kernel kReduce[] = TTFD_COMPUTE_FAMILY("reduce", "tile_writer");
constexpr Kernel kRows[] = TTFD_COMPUTE_FAMILY("rows", "tile_writer");
constexpr Kernel kAttention[] = TTFD_COMPUTE_FAMILY("attention", "attention_writer");
#undef TTFD_COMPUTE_FAMILY

constexpr std::string_view kMoveWords[] = {"move"};
constexpr Kernel kMove[] = {{"move", Processor::kNcrisc, 0}};
constexpr std::string_view kArgmaxWords[] = {"argmax"};
constexpr Kernel kArgmax[] = {{"argmax", Processor::kNcrisc, 0}};
constexpr std::string_view kIntegersWords[] = {"integers"};
constexpr Kernel kIntegers[] = {{"integers", Processor::kNcrisc, 0}};
constexpr std::string_view kStampWords[] = {"stamp"};
constexpr Kernel kStamp[] = {{"stamp", Processor::kBrisc, 0}};

constexpr FamilyInfo kFamilies[] = {
    {"eltwise", kComputeWords, kEltwise}, {"matmul", kComputeWords, kMatmul},
    {"reduce", kComputeWords, kReduce},   {"rows", kComputeWords, kRows},
    {"move", kMoveWords, kMove},          {"attention", kComputeWords, kAttention},
    {"argmax", kArgmaxWords, kArgmax},    {"integers", kIntegersWords, kIntegers},
    {"stamp", kStampWords, kStamp}};

}  // namespace

const FamilyInfo& InfoOf(Family family) { return kFamilies[static_cast<uint32_t>(family)]; }

}  // namespace ttfd::tensor
