# Wrong kernels and calls, and what their users read: test_mistakes.py has the table.
set(mistakes_folder ${CMAKE_CURRENT_BINARY_DIR}/mistakes)
set(mistakes_elfs "")
foreach(name IN ITEMS at_zero computed consumer counts deep from_stack no_argument no_buffer no_memory no_semaphore null_call odd_load
        off_grid past_end producer sends spins unaligned waits)
  ttfd_add_kernel(mistake_${name} PROCESSOR brisc SOURCES ${CMAKE_CURRENT_LIST_DIR}/kernels/${name}.cc FILE ${name}
    OUTPUT ${mistakes_folder})
endforeach()
ttfd_add_kernel(mistake_consumer_ncrisc PROCESSOR ncrisc SOURCES ${CMAKE_CURRENT_LIST_DIR}/kernels/consumer.cc
  FILE consumer_ncrisc OUTPUT ${mistakes_folder})
ttfd_add_kernel(mistake_unchecked PROCESSOR brisc SOURCES ${CMAKE_CURRENT_LIST_DIR}/kernels/no_buffer.cc FILE unchecked
  OUTPUT ${mistakes_folder} DEFINES TTFD_UNCHECKED=1)
if(TTFD_PYTHON_MODULE)
  add_test(NAME python.mistakes
    COMMAND /usr/bin/python3 -B -m pytest -p no:cacheprovider -rs -o faulthandler_timeout=75 -q
            ${CMAKE_CURRENT_LIST_DIR}/test_mistakes.py)
  set_tests_properties(python.mistakes PROPERTIES LABELS "python;integration;fault" TIMEOUT 300
    ENVIRONMENT "GRPC_VERBOSITY=NONE;TTFD_BUILD=${PROJECT_BINARY_DIR};TTFD_MISTAKES=${mistakes_folder};PYTHONPATH=${PROJECT_BINARY_DIR}/client/python:${PROJECT_SOURCE_DIR}/tests/python")
endif()
