// Programs of TTNN and TTMetal files run on a card.
//
//   #include <ttfd/ttmlir/submit.h>
//
//   #include <iostream>
//
//   const auto binary = ttfd::ttmlir::Binary::Load(argv[1]);
//   auto card = ttfd::tensor::Card::Open();
//   if (!binary.ok() || !card.ok()) return 1;
//   const std::vector inputs = {card->FromHost(a, {64, 128}), card->FromHost(b, {64, 128})};
//   const auto outputs = ttfd::ttmlir::Submit(*card, *binary, 0, inputs);
//   if (outputs.ok()) std::cout << outputs->front().spec().ToString() << "\n";
//
// An operation of a TTNN file becomes calls of the operations of <ttfd/tensor/ops.h>. Where a file says in which
// memory a tensor lies, on which cores an operation runs and how it is divided, that is a hint which has no effect: a
// tensor lies in DRAM.
//
// A command of a TTMetal file becomes calls of the card's queue. Its kernels are compiled from their source with
// <ttfd/metal.h>, by riscv64-unknown-elf-g++ on the PATH (Debian: gcc-riscv64-unknown-elf). A buffer lies where the
// daemon puts it, in the memory and on the workers that the file says.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ttfd/tensor/card.h"
#include "ttfd/ttmlir/binary.h"

namespace ttfd::ttmlir {

// How close the result of an operation, or an output, is to the golden tensor that the file has of it.
struct GoldenCheck {
  std::string name;           // "operation 3 MatmulOp at model.mlir:7:10", "output 0"
  double correlation = 0;     // Pearson's; 1 if both are constant and equal
  double relative_error = 0;  // the norm of the difference over that of the golden tensor
};

struct SubmitOptions {
  // Called, where the file has golden tensors, with each comparison, in order; it reads the results back, so the
  // program runs slower. Null: nothing is compared.
  std::function<void(const GoldenCheck& check)> on_golden = nullptr;
  // Functions of native code of the CPU, which the compiler puts into a file to compute constants, are called: each
  // call in a process of its own (ttfd-native), with limits on its time and memory but with all rights of its user.
  bool allow_native = false;
  std::chrono::milliseconds native_time = std::chrono::seconds(10);  // of a call
  uint64_t native_memory_bytes = uint64_t{1} << 30;  // of a call, without its tensors
  // The most for compiling all kernels of a TTMetal program, by processes with at most 1 GiB of memory each.
  std::chrono::milliseconds compile_time = std::chrono::minutes(5);
};

// An operation of TTNN files that runs.
struct SupportedOperation {
  std::string type;                // as the schema names it: "MatmulOp"
  std::vector<std::string> calls;  // of the operations of <ttfd/tensor/ops.h>; empty: none
};

// By type.
std::vector<SupportedOperation> SupportedOperations();

// Why an operation, or a program, cannot run.
struct Problem {
  size_t program = 0;
  std::optional<size_t> operation = {};  // none: the program itself
  std::string text;  // "operation 3 SortOp at model.mlir:7:10: this library does not have it"
};

// Lists what cannot run of a program and of those it calls; without a card. Empty: all of it can.
std::vector<Problem> ProblemsOf(const Binary& binary, size_t program,
                                const SubmitOptions& options = {});

// The golden inputs of a program, the last extent fastest; empty unless the file has them all.
std::vector<std::vector<float>> GoldenInputs(const Binary& binary, size_t program);

// OK: all of a program can run. Else UNIMPLEMENTED: it is a system description, or an operation cannot run, the first
// of which the message names. OUT_OF_RANGE: there is no such program.
client::Status CheckRunnable(const Binary& binary, size_t program,
                             const SubmitOptions& options = {});

// A program and those it calls as functions of Python, one statement for each call of an operation: with ttfd.tensor
// they do what Submit does. A program is `program_INDEX_NAME(card, inputs...)`, which returns its outputs.
// UNIMPLEMENTED: it is no TTNN file, or an operation cannot run. OUT_OF_RANGE: there is no such program.
client::Result<std::string> PythonOf(const Binary& binary, size_t program);

// Runs a program of a TTNN or TTMetal file. Inputs are as the program describes them in number and shape; their type
// and layout are converted. Before anything is sent, the inputs are checked, and that every operation and each of its
// fields is supported. Errors name file, program, operation and location.
//
// TTNN: a cache that the program updates is changed in place, and must have the type and layout that the program
// describes. Programs that the compiler marked as constant run once for the same inputs, and those that it traced are
// recorded once for the same weights; the binary keeps their last results and recordings on the card. The outputs are
// enqueued: reading one waits, and returns an error of the card. Shapes and numbers that an operation of the table
// refuses are found when it is called, after caches that were changed before.
//
// TTMetal: its kernels are compiled first. The call returns when the card has done all commands; an error of one is the
// call's, and leaves the card's queue open. FAILED_PRECONDITION: the card is recording.
//
// OUT_OF_RANGE: there is no such program. UNIMPLEMENTED: it is a system description, or an operation cannot run.
// INVALID_ARGUMENT: the inputs are not those of the program, or a kernel does not compile. FAILED_PRECONDITION: the
// compiler of kernels is not installed. DEADLINE_EXCEEDED: a kernel takes longer to compile than it may. Errors of
// allocation and launches are those of <ttfd/session.h>.
//
// Any thread; calls with the same card are as independent as its operations.
client::Result<std::vector<tensor::Tensor>> Submit(tensor::Card& card, const Binary& binary,
                                                   size_t program,
                                                   std::span<const tensor::Tensor> inputs,
                                                   const SubmitOptions& options = {});

}  // namespace ttfd::ttmlir
