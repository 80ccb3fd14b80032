# Cross-compiling for the harts of a Tensix tile: Debian's riscv64-unknown-elf-g++ for rv32im, by custom commands, because one
# CMake project has one target compiler. Dependencies are tracked by depfiles. Expects TTFD_RISCV_CXX and TTFD_RISCV_OBJCOPY.

# rv32im is the multilib whose libgcc is right; `c` is taken by Tensix instructions, `a` lacks LR/SC.
# -fno-builtin and -fno-tree-loop-distribute-patterns keep gcc from turning our memset into a call of itself;
# min-pagesize=0 lets small L1 addresses be dereferenced.
set(TTFD_RISCV_MACHINE -march=rv32im -mabi=ilp32 -mstrict-align)
set(TTFD_RISCV_FLAGS ${TTFD_RISCV_MACHINE} -std=c++20 -ffreestanding -fno-builtin -fno-exceptions -fno-rtti
  -fno-threadsafe-statics -fno-tree-loop-distribute-patterns -fno-delete-null-pointer-checks --param=min-pagesize=0
  -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-stack-protector -g1
  -Wall -Wextra -Wshadow -Wno-volatile)
set(TTFD_RISCV_LINK_FLAGS ${TTFD_RISCV_MACHINE} -nostdlib -nostartfiles -static -Wl,--gc-sections -Wl,--build-id=none
  -Wl,--no-warn-rwx-segments -Wl,--fatal-warnings)

# Hart numbers of runtime/hw/tensix.h.
set(TTFD_HART_brisc 0)
set(TTFD_HART_ncrisc 1)
set(TTFD_HART_trisc0 2)
set(TTFD_HART_trisc1 3)
set(TTFD_HART_trisc2 4)

# Compiles `source` to `object`; sets nothing. FLAGS come after the common ones.
function(ttfd_riscv_object object source)
  cmake_parse_arguments(ARG "" "" "FLAGS" ${ARGN})
  if(NOT -g IN_LIST ARG_FLAGS)  # a debugger looks for the sources; nobody else is told where this was built
    foreach(root ${TTFD_SDK_ROOT} ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
      list(APPEND ARG_FLAGS -ffile-prefix-map=${root}=.)
    endforeach()
  endif()
  file(RELATIVE_PATH depfile_target ${CMAKE_BINARY_DIR} ${object})
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${TTFD_RISCV_CXX} ${TTFD_RISCV_FLAGS} ${ARG_FLAGS} -MD -MF ${object}.d -MT ${object}
            -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d VERBATIM
    COMMENT "RISC-V ${depfile_target}")
endfunction()

# Links `objects` to `elf` with `script`; FLAGS are link flags.
function(ttfd_riscv_link elf script)
  cmake_parse_arguments(ARG "" "" "OBJECTS;FLAGS" ${ARGN})
  add_custom_command(OUTPUT ${elf}
    COMMAND ${TTFD_RISCV_CXX} ${TTFD_RISCV_LINK_FLAGS} ${ARG_FLAGS} -T ${script} ${ARG_OBJECTS} -lgcc -o ${elf}
    DEPENDS ${script} ${ARG_OBJECTS} VERBATIM COMMENT "RISC-V link ${elf}")
endfunction()

# Adds to a host library the bytes of `FILES` as symbols <PREFIX>_<file name without extension>_{begin,end}.
function(ttfd_embed library)
  cmake_parse_arguments(ARG "" "PREFIX" "FILES" ${ARGN})
  set(assembly ${CMAKE_CURRENT_BINARY_DIR}/${library}_embedded.S)
  set(text "  .section .note.GNU-stack,\"\",%progbits\n  .section .rodata\n")
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(stem ${file} NAME_WE)
    string(APPEND text "  .balign 16\n  .globl ${ARG_PREFIX}_${stem}_begin\n  .globl ${ARG_PREFIX}_${stem}_end\n"
      "${ARG_PREFIX}_${stem}_begin:\n  .incbin \"${file}\"\n${ARG_PREFIX}_${stem}_end:\n")
  endforeach()
  file(CONFIGURE OUTPUT ${assembly} CONTENT "${text}" @ONLY)
  # The assembler's dependency scan does not see what .incbin reads.
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS "${ARG_FILES}")
  target_sources(${library} PRIVATE ${assembly})
  # One target makes the files, so that parallel builds do not make them twice.
  add_custom_target(${library}_files DEPENDS ${ARG_FILES})
  add_dependencies(${library} ${library}_files)
endfunction()
