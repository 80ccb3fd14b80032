# ttfd_add_kernel(<target> PROCESSOR brisc|ncrisc|trisc0|trisc1|trisc2 SOURCES a.cc ... [INCLUDES dir ...] [OPTIMIZE -O2]
#                 [FILE name] [OUTPUT dir] [DEBUG])
#
# DEBUG: with everything a debugger wants to know (-g), in a file ten times as long; combine it with OPTIMIZE -Og.
#
# Builds a kernel for one hart of a worker tile as <OUTPUT>/<FILE>.elf (default: <current binary directory>/<target>.elf);
# the target's property TTFD_ELF is that path. Works in ttfd's own tree and, by find_package(ttfd) or include(), from an
# installed one; needs riscv64-unknown-elf-g++ (Debian: gcc-riscv64-unknown-elf). The program defines `void kernel_main()`;
# see <ttfd/kernel.h>.

if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../firmware/sdk/kernel.ld)  # ttfd's source tree
  get_filename_component(TTFD_SDK_ROOT ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
  set(TTFD_SDK_INCLUDES ${TTFD_SDK_ROOT}/firmware/sdk/include ${TTFD_SDK_ROOT})
else()  # installed: share/ttfd/cmake beside share/ttfd/sdk
  get_filename_component(TTFD_SDK_ROOT ${CMAKE_CURRENT_LIST_DIR}/../sdk ABSOLUTE)
  set(TTFD_SDK_INCLUDES ${TTFD_SDK_ROOT}/firmware/sdk/include ${TTFD_SDK_ROOT})
endif()
find_program(TTFD_RISCV_CXX riscv64-unknown-elf-g++)
find_program(TTFD_RISCV_OBJCOPY riscv64-unknown-elf-objcopy)
include(${CMAKE_CURRENT_LIST_DIR}/riscv.cmake)

# medany addresses everything relative to the program counter, so the block runs from any address; switch conversion would
# make tables of absolute addresses. Not -fpie: it puts absolute words into a .got without telling the loader.
set(TTFD_KERNEL_FLAGS -mcmodel=medany -fno-tree-switch-conversion -DTTFD_KERNEL=1)
# Symbols and lines (-g1) stay, for what is said about a kernel that faults. The relocations of the lines and the labels these
# need do not: they would make the file three times as long, and the loader looks at those of the code only.
set(TTFD_KERNEL_LINK_FLAGS -mcmodel=medany -Wl,--emit-relocs -Wl,--no-relax)

function(ttfd_add_kernel name)
  cmake_parse_arguments(ARG "DEBUG" "PROCESSOR;OPTIMIZE;OUTPUT;FILE" "SOURCES;INCLUDES" ${ARGN})
  if(NOT TTFD_RISCV_CXX OR NOT TTFD_RISCV_OBJCOPY)
    message(FATAL_ERROR "ttfd_add_kernel(${name}): needs riscv64-unknown-elf-g++ (Debian: gcc-riscv64-unknown-elf)")
  endif()
  if(NOT DEFINED TTFD_HART_${ARG_PROCESSOR})
    message(FATAL_ERROR "ttfd_add_kernel(${name}): PROCESSOR must be brisc, ncrisc, trisc0, trisc1 or trisc2")
  endif()
  if(ARG_DEBUG)
    set(debug -g)
  else()
    set(debug "")
  endif()
  if(NOT ARG_OPTIMIZE)
    set(ARG_OPTIMIZE -O2)
  endif()
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  if(NOT ARG_FILE)
    set(ARG_FILE ${name})
  endif()
  set(includes "")
  foreach(folder IN LISTS ARG_INCLUDES TTFD_SDK_INCLUDES)
    list(APPEND includes -I${folder})
  endforeach()
  set(objects "")
  foreach(source IN LISTS ARG_SOURCES ITEMS ${TTFD_SDK_ROOT}/firmware/sdk/entry.cc ${TTFD_SDK_ROOT}/firmware/common/memory.cc)
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(stem ${source} NAME)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.objects/${stem}.o)
    ttfd_riscv_object(${object} ${source}
      FLAGS ${ARG_OPTIMIZE} ${debug} ${TTFD_KERNEL_FLAGS} -DTTFD_HART=${TTFD_HART_${ARG_PROCESSOR}} ${includes})
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${ARG_OUTPUT})
  set(elf ${ARG_OUTPUT}/${ARG_FILE}.elf)
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/${name}.objects/linked.elf)
  ttfd_riscv_link(${linked} ${TTFD_SDK_ROOT}/firmware/sdk/kernel.ld OBJECTS ${objects}
    FLAGS ${TTFD_KERNEL_LINK_FLAGS} -Wl,--defsym=__ttfd_hart=${TTFD_HART_${ARG_PROCESSOR}})
  add_custom_command(OUTPUT ${elf}
    COMMAND ${TTFD_RISCV_OBJCOPY} --remove-section=.rela.debug* ${linked} ${linked}.small
    COMMAND ${TTFD_RISCV_OBJCOPY} --discard-locals ${linked}.small ${elf}
    DEPENDS ${linked} VERBATIM COMMENT "RISC-V ${ARG_FILE}.elf")
  add_custom_target(${name} ALL DEPENDS ${elf})
  set_target_properties(${name} PROPERTIES TTFD_ELF ${elf})
endfunction()
