# The compiled programs of isa_qemu_test: every optimisation, with and without bit manipulation, for qemu-riscv32 and for the
# model.
include(${PROJECT_SOURCE_DIR}/cmake/riscv.cmake)
set(TTFD_ISA_PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/isa_programs)
set(isa_program_files "")
set(isa_program_names "")
foreach(machine IN ITEMS rv32im rv32im_zba_zbb)
  foreach(optimize IN ITEMS O0 O1 O2 O3 Os)
    set(name ${machine}_${optimize})
    list(APPEND isa_program_names ${name})
    set(objects "")
    foreach(source IN ITEMS start.S main.cc checksums.cc sha256.cc sorting.cc wide_numbers.cc blocks.cc recursion.cc
            switches.cc bits.cc atomics.cc classes.cc ../../../firmware/common/memory.cc)
      get_filename_component(stem ${source} NAME)
      set(object ${TTFD_ISA_PROGRAMS}/${name}.objects/${stem}.o)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} NORMALIZE)
      ttfd_riscv_object(${object} ${source}
        FLAGS -${optimize} -march=${machine} -I${PROJECT_SOURCE_DIR})
      list(APPEND objects ${object})
    endforeach()
    foreach(target IN ITEMS qemu model)
      set(file ${TTFD_ISA_PROGRAMS}/${name}.${target})
      ttfd_riscv_object(${file}.end.o ${CMAKE_CURRENT_LIST_DIR}/end_${target}.S)
      ttfd_riscv_link(${file}.elf ${CMAKE_CURRENT_LIST_DIR}/programs.ld OBJECTS ${objects} ${file}.end.o
        FLAGS -Wl,--no-gc-sections)
      add_custom_command(OUTPUT ${file}.bin COMMAND ${TTFD_RISCV_OBJCOPY} -O binary ${file}.elf ${file}.bin
        DEPENDS ${file}.elf VERBATIM COMMENT "RISC-V ${name}.${target}.bin")
      list(APPEND isa_program_files ${file}.bin)
    endforeach()
  endforeach()
endforeach()
add_custom_target(isa_programs DEPENDS ${isa_program_files})
