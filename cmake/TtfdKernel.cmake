# ttfd_add_kernel(<target> PROCESSOR brisc|ncrisc|trisc0|trisc1|trisc2 SOURCES a.cc ... [INCLUDES dir ...] [OPTIMIZE -O2]
#                 [DEFINES NAME=value ...] [FILE name] [OUTPUT dir] [DEBUG])
# ttfd_add_kernel(<target> COMPUTE SOURCES a.cc ... [...])
#
# DEBUG: with everything a debugger wants to know (-g), in a file ten times as long; combine it with OPTIMIZE -Og.
#
# Builds a kernel for one hart of a worker tile as <OUTPUT>/<FILE>.elf (default: <current binary
# directory>/<target>.elf); the target's property TTFD_ELF is that path. COMPUTE: builds one for each of the three
# harts of the Tensix engine, <FILE>_trisc0.elf, <FILE>_trisc1.elf and <FILE>_trisc2.elf, from the same sources;
# TTFD_ELF is the list of them in that order. Works in ttfd's own tree and, by find_package(ttfd) or include(), from
# an installed one; needs riscv64-unknown-elf-g++ (Debian: gcc-riscv64-unknown-elf). The program defines `void
# kernel_main()`; see <ttfd/kernel.h>, of compute kernels <ttfd/compute.h>.

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

# medany addresses everything relative to the program counter, so the block runs from any address; switch conversion
# would make tables of absolute addresses. Not -fpie: it puts absolute words into a .got without telling the loader.
set(TTFD_KERNEL_FLAGS -mcmodel=medany -fno-tree-switch-conversion -DTTFD_KERNEL=1)
# Symbols and lines (-g1) stay, for what is said about a kernel that faults. The relocations of the lines and the
# labels these need do not: they would make the file three times as long, and the loader looks at those of the code
# only.
set(TTFD_KERNEL_LINK_FLAGS -mcmodel=medany -Wl,--emit-relocs -Wl,--no-relax)

function(ttfd_add_kernel name)
  cmake_parse_arguments(ARG "COMPUTE;DEBUG" "PROCESSOR;OPTIMIZE;OUTPUT;FILE" "SOURCES;INCLUDES;DEFINES" ${ARGN})
  if(NOT TTFD_RISCV_CXX OR NOT TTFD_RISCV_OBJCOPY)
    message(FATAL_ERROR "ttfd_add_kernel(${name}): needs riscv64-unknown-elf-g++ (Debian: gcc-riscv64-unknown-elf)")
  endif()
  if(ARG_COMPUTE AND ARG_PROCESSOR)
    message(FATAL_ERROR "ttfd_add_kernel(${name}): COMPUTE is for three processors; give no PROCESSOR")
  endif()
  if(NOT ARG_COMPUTE AND NOT DEFINED TTFD_HART_${ARG_PROCESSOR})
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
  list(TRANSFORM ARG_DEFINES PREPEND -D)
  set(flags ${ARG_OPTIMIZE} ${debug} ${TTFD_KERNEL_FLAGS} ${ARG_DEFINES} ${includes})
  file(MAKE_DIRECTORY ${ARG_OUTPUT})
  set(elfs "")
  if(ARG_COMPUTE)
    foreach(processor IN ITEMS trisc0 trisc1 trisc2)
      set(elf ${ARG_OUTPUT}/${ARG_FILE}_${processor}.elf)
      ttfd_kernel_elf(${elf} ${processor} OBJECTS ${CMAKE_CURRENT_BINARY_DIR}/${name}.objects/${processor}
        SOURCES ${ARG_SOURCES} FLAGS ${flags} -DTTFD_COMPUTE=1)
      list(APPEND elfs ${elf})
    endforeach()
  else()
    set(elfs ${ARG_OUTPUT}/${ARG_FILE}.elf)
    ttfd_kernel_elf(${elfs} ${ARG_PROCESSOR} OBJECTS ${CMAKE_CURRENT_BINARY_DIR}/${name}.objects
      SOURCES ${ARG_SOURCES} FLAGS ${flags})
  endif()
  add_custom_target(${name} ALL DEPENDS ${elfs})
  set_target_properties(${name} PROPERTIES TTFD_ELF "${elfs}")
endfunction()

# Builds `elf` for one processor, by way of files in the folder OBJECTS.
function(ttfd_kernel_elf elf processor)
  cmake_parse_arguments(ARG "" "OBJECTS" "SOURCES;FLAGS" ${ARGN})
  set(objects "")
  foreach(source IN LISTS ARG_SOURCES ITEMS ${TTFD_SDK_ROOT}/firmware/sdk/entry.cc ${TTFD_SDK_ROOT}/firmware/common/memory.cc)
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(stem ${source} NAME)
    set(object ${ARG_OBJECTS}/${stem}.o)
    ttfd_riscv_object(${object} ${source} FLAGS ${ARG_FLAGS} -DTTFD_HART=${TTFD_HART_${processor}})
    list(APPEND objects ${object})
  endforeach()
  set(linked ${ARG_OBJECTS}/linked.elf)
  ttfd_riscv_link(${linked} ${TTFD_SDK_ROOT}/firmware/sdk/kernel.ld OBJECTS ${objects}
    FLAGS ${TTFD_KERNEL_LINK_FLAGS} -Wl,--defsym=__ttfd_hart=${TTFD_HART_${processor}})
  get_filename_component(file ${elf} NAME)
  add_custom_command(OUTPUT ${elf}
    COMMAND ${TTFD_RISCV_OBJCOPY} --remove-section=.rela.debug* --remove-section=.rela.ttfd* ${linked} ${linked}.small
    COMMAND ${TTFD_RISCV_OBJCOPY} --discard-locals ${linked}.small ${elf}
    DEPENDS ${linked} VERBATIM COMMENT "RISC-V ${file}")
endfunction()
