// The commands that take or write files of users.
#include "client/cli/file_commands.h"

#include <fmt/format.h>

#include "client/cli/exit_code.h"
#include "client/cli/options.h"

namespace ttfd::cli {
namespace {

constexpr const char* kProgramGroup = "Options of a compiled program";

void AddProgram(CLI::App* run, ProgramOptions* o) {
  const char* const group = kProgramGroup;
  AddRepeatable(run, "--input", &o->inputs, "an input as a .npy file, in order; repeatable")
      ->check(AFile())
      ->option_text("FILE")
      ->group(group);
  AddRepeatable(run, "-o,--output", &o->outputs, "where an output goes as a .npy file; repeatable")
      ->option_text("FILE")
      ->group(group);
  run->add_option("--program", o->program, "its name or index; the first one if not given")
      ->option_text("PROGRAM")
      ->group(group);
  run->add_option("--check", o->check,
                  "golden: compare with the golden tensors of the file, and take its inputs from "
                  "there if none is given")
      ->option_text("WHAT")
      ->check(CLI::IsMember({"golden"}))
      ->group(group);
  run->add_flag("--allow-native", o->allow_native,
                "call functions of native code, each in a process with limits but all your rights")
      ->group(group);
  run->add_option("--profiles", o->profiles, "folder of schema profiles")
      ->option_text("FOLDER")
      ->group(group);
}

void AddRun(CLI::App* app, const Common& common, RunArguments* arguments,
            std::function<int()>* chosen) {
  RunOptions* o = &arguments->kernel;
  CLI::App* run = app->add_subcommand(
      "run", "Run one kernel with files as its buffers, or a program of a .ttnn or .ttm file");
  run->add_option("FILE", o->kernel, "an ELF file, or a compiled program")
      ->required()
      ->check(AFile());
  run->add_option("--processor", o->processor, "brisc, ncrisc, trisc0, trisc1 or trisc2")
      ->option_text("PROCESSOR");
  AddRepeatable(run, "--cores", &o->cores, "of a kernel: X,Y or X0,Y0-X1,Y1 or all; repeatable")
      ->option_text("TILES");
  AddRepeatable(run, "--arg", &o->arguments,
                "the next common argument: a number, or inN or outN, the address of that buffer; "
                "repeatable")
      ->option_text("VALUE");
  run->add_option("--per-core", o->per_core, "words of the tiles, comma separated, tile by tile")
      ->delimiter(',')
      ->option_text("WORDS");
  run->add_option("--words-per-core", o->words_per_core, "how many of them each tile gets")
      ->option_text("COUNT")
      ->check(AtLeastOne());
  AddRepeatable(run, "--in", &o->inputs, "becomes a DRAM buffer (in0, in1, ...); repeatable")
      ->check(AFile())
      ->option_text("FILE");
  AddRepeatable(run, "--out", &o->outputs, "a buffer that becomes a file (out0, ...); repeatable")
      ->option_text("FILE:SIZE");
  AddRepeatable(run, "--cb", &o->circular_buffers, "a circular buffer; repeatable")
      ->option_text("INDEX:PAGES:PAGE_BYTES");
  AddRepeatable(run, "--semaphore", &o->semaphores, "a semaphore; repeatable")
      ->option_text("INDEX:INITIAL");
  run->add_option("--page-bytes", o->page_bytes, "page size of the buffers")->option_text("SIZE");
  run->add_option("--kernel-timeout-ms", o->kernel_timeout_ms, "of one launch; none: the daemon's")
      ->option_text("MS");
  run->add_option("--repeat", o->repeat, "launches, one after the other")
      ->option_text("COUNT")
      ->check(AtLeastOne());
  AddProgram(run, &arguments->program);
  run->callback([&common, arguments, o, run, chosen] {
    *chosen = [&common, arguments, o, run]() -> int {
      const bool is_program = IsCompiledProgram(o->kernel);
      for (const CLI::Option* option : run->get_options()) {
        const bool of_program = option->get_group() == kProgramGroup;
        if (option->count() == 0 || option->get_positional() || of_program == is_program) continue;
        return Fail(
            UsageError(fmt::format("{} is an option of {}, and {} is not one", option->get_name(),
                                   of_program ? "compiled programs" : "kernels", o->kernel)));
      }
      return is_program ? RunProgram(common, o->kernel, arguments->program) : Run(common, *o);
    };
  });
}

void AddOp(CLI::App* app, const Common& common, OpArguments* o, std::function<int()>* chosen) {
  CLI::App* op =
      app->add_subcommand("op", "Run an operation on tensors, with arrays of .npy files");
  CLI::Option* name = op->add_option("OPERATION", o->name, "its name");
  op->add_flag("--list", o->list, "list all operations; needs no daemon")->excludes(name);
  op->add_option("FILE", o->inputs, "its inputs, in order")->check(AFile());
  AddRepeatable(op, "-o,--output", &o->outputs, "where an output goes; repeatable")
      ->option_text("FILE");
  AddRepeatable(op, "--set", &o->attributes, "an attribute, such as transpose_b=true; repeatable")
      ->option_text("NAME=VALUE");
  op->add_option("--dtype", o->dtype, "type of the inputs on the card: bfloat16, float32 or bfp8")
      ->option_text("TYPE");
  op->callback([&common, o, chosen] { *chosen = [&common, o] { return Operate(common, *o); }; });
}

void AddInspect(CLI::App* app, const Common& common, InspectArguments* o,
                std::function<int()>* chosen) {
  CLI::App* inspect =
      app->add_subcommand("inspect", "Show what a file of tt-mlir contains; needs no daemon");
  CLI::Option* file =
      inspect->add_option("FILE", o->file, "a .ttnn, .ttm or .ttsys file")->check(AFile());
  inspect->add_flag("--list", o->list, "list the operations of .ttnn files that run")
      ->excludes(file);
  inspect->add_flag("--ops", o->operations, "list operations; of TTMetal files, commands");
  inspect->add_flag("--kernels", o->kernels, "print the source of kernels");
  inspect->add_flag("--support", o->support, "list what cannot run, and why");
  inspect->add_option("--as", o->as, "print a program as calls of ttfd.tensor: python")
      ->option_text("LANGUAGE")
      ->check(CLI::IsMember({"python"}));
  inspect->add_option("--program", o->program, "only this program: its name or index")
      ->option_text("PROGRAM");
  inspect->add_option("--profiles", o->profiles, "folder of schema profiles")
      ->option_text("FOLDER");
  inspect->callback(
      [&common, o, chosen] { *chosen = [&common, o] { return Inspect(common, *o); }; });
}

void AddSystemDesc(CLI::App* app, const Common& common, SystemDescArguments* o,
                   std::function<int()>* chosen) {
  CLI::App* describe =
      app->add_subcommand("system-desc", "Describe the card for the tt-mlir compiler, in a file");
  describe->add_option("-o,--output", o->output, "the file, such as card.ttsys")
      ->required()
      ->option_text("FILE");
  describe
      ->add_option("--schema", o->description.schema,
                   "first digits of the hash of the compiler's schema; the newest if not given")
      ->option_text("HASH");
  describe->add_option("--profiles", o->description.profiles, "folder of schema profiles")
      ->option_text("FOLDER");
  describe->callback(
      [&common, o, chosen] { *chosen = [&common, o] { return DescribeSystem(common, *o); }; });
}

}  // namespace

void AddFileCommands(CLI::App* app, const Common& common, FileArguments* arguments,
                     std::function<int()>* run) {
  AddRun(app, common, &arguments->run, run);
  AddOp(app, common, &arguments->op, run);
  AddInspect(app, common, &arguments->inspect, run);
  AddSystemDesc(app, common, &arguments->system_desc, run);
}

}  // namespace ttfd::cli
