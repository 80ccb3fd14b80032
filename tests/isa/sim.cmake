# Instructions and refusals of the embedded device.
# Programs for the model and for qemu-riscv32.
add_library(isa_peer STATIC ${CMAKE_CURRENT_LIST_DIR}/peer_program.cc ${CMAKE_CURRENT_LIST_DIR}/random_program.cc
  ${CMAKE_CURRENT_LIST_DIR}/random_sequence.cc ${CMAKE_CURRENT_LIST_DIR}/../support/run_command.cc)
ttfd_compile_options(isa_peer)
target_include_directories(isa_peer PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(isa_peer PUBLIC runtime_device_sim)


ttfd_test(NAME isa_test LABELS isa DEPS isa_peer SRCS ${CMAKE_CURRENT_LIST_DIR}/instruction_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/refusal_test.cc ${CMAKE_CURRENT_LIST_DIR}/disassemble_test.cc)

include(${CMAKE_CURRENT_LIST_DIR}/programs/programs.cmake)
ttfd_test(NAME isa_qemu_test LABELS isa DEPS isa_peer SRCS ${CMAKE_CURRENT_LIST_DIR}/qemu_random_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/qemu_compiled_test.cc)
target_compile_definitions(isa_qemu_test PRIVATE TTFD_ISA_PROGRAMS="${TTFD_ISA_PROGRAMS}")
add_dependencies(isa_qemu_test isa_programs)

# Fifty times as many sequences, others than the test above runs.
add_test(NAME isa_soak COMMAND isa_qemu_test --gtest_filter=QemuRandom.*)
set_tests_properties(isa_soak PROPERTIES LABELS slow TIMEOUT 1200
  ENVIRONMENT "TTFD_ISA_SEED=1000000;TTFD_ISA_SEQUENCES=200000")

# Without jumps the interpreter takes a frame of the host's stack for every instruction.
set(tail_calls_skip "")
if(TTFD_SANITIZE_ADDRESS OR TTFD_SANITIZE_THREAD OR TTFD_FUZZ)
  set(tail_calls_skip "a sanitizer keeps a frame for every call; the interpreter returns to its loop there")
elseif(NOT CMAKE_BUILD_TYPE MATCHES "Rel")
  set(tail_calls_skip "built without optimisation; the interpreter returns to its loop there")
elseif(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(tail_calls_skip "reads x86-64 instructions")
endif()
add_test(NAME isa.tail_calls COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/check_tail_calls.py --skip "${tail_calls_skip}"
  "$<FILTER:$<TARGET_OBJECTS:runtime_sim>,INCLUDE,/interpret[.]cc[.]o$>")
set_tests_properties(isa.tail_calls PROPERTIES LABELS isa TIMEOUT 120 SKIP_RETURN_CODE 77 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
