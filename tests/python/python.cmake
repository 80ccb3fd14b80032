# The Python client, ttfdctl and what the documents show against the real daemon, by Debian's python3 and pytest: one ctest a file.
# Label install: what a user of an installed ttfd has; it needs the target ttfd_install alone, and the release preset runs it.
if(NOT TTFD_PYTHON_MODULE)
  return()
endif()
set(python_tests_dir ${CMAKE_CURRENT_LIST_DIR})
# A test that takes a quarter of its time says where its threads are.
set(python_tests /usr/bin/python3 -B -m pytest -p no:cacheprovider -rs -o faulthandler_timeout=75)
set(install_areas install sdk examples documents)
foreach(area IN ITEMS session threads arguments kernels errors traces prints ttfdctl hangs leases limits devices mesh users sandbox tls reconnect debugger demo graph standin tensor compiled_programs system_description quickstart
                      faults exit tiles hugepages javascript ${install_areas})
  add_test(NAME python.${area}
    COMMAND ${python_tests} -q ${python_tests_dir}/test_${area}.py)
  if(area IN_LIST install_areas)
    set(labels install)
  else()
    set(labels "python;integration")
  endif()
  set_tests_properties(python.${area} PROPERTIES LABELS "${labels}" TIMEOUT 300
    ENVIRONMENT "GRPC_VERBOSITY=NONE;TTFD_BUILD=${PROJECT_BINARY_DIR};PYTHONPATH=${PROJECT_BINARY_DIR}/client/python:${python_tests_dir}")
endforeach()

# Every operation on tensors; once more with the official simulator, where TTFD_TTSIM_LIB names it.
add_test(NAME python.OpTable COMMAND ${python_tests} -q ${python_tests_dir}/test_op_table.py -k "not ttsim")
add_test(NAME ttsim.OpTable COMMAND ${python_tests} -q ${python_tests_dir}/test_op_table.py -k ttsim)
set_tests_properties(python.OpTable PROPERTIES LABELS "python;integration" TIMEOUT 300)
set_tests_properties(ttsim.OpTable PROPERTIES LABELS ttsim SKIP_REGULAR_EXPRESSION "1 skipped" TIMEOUT 1200)
set_tests_properties(python.OpTable ttsim.OpTable PROPERTIES
  ENVIRONMENT "GRPC_VERBOSITY=NONE;TTFD_BUILD=${PROJECT_BINARY_DIR};PYTHONPATH=${PROJECT_BINARY_DIR}/client/python:${python_tests_dir}")

# Meshes on the official simulator, where TTFD_TTSIM_X2_LIB and TTFD_TTSIM_X4_LIB name one of two and one of four chips.
add_test(NAME ttsim.Mesh COMMAND ${python_tests} -q ${python_tests_dir}/test_mesh.py -k ttsim)
set_tests_properties(ttsim.Mesh PROPERTIES LABELS ttsim SKIP_REGULAR_EXPRESSION "4 skipped" TIMEOUT 1200
  ENVIRONMENT "GRPC_VERBOSITY=NONE;TTFD_BUILD=${PROJECT_BINARY_DIR};PYTHONPATH=${PROJECT_BINARY_DIR}/client/python:${python_tests_dir}")

# A language model: its operations at the shapes of a large one, and the example.
add_test(NAME python.Llama COMMAND ${python_tests} -q ${python_tests_dir}/test_llama.py ${python_tests_dir}/test_llama_model.py)
set_tests_properties(python.Llama PROPERTIES LABELS "python;integration" TIMEOUT 300
  ENVIRONMENT "GRPC_VERBOSITY=NONE;TTFD_BUILD=${PROJECT_BINARY_DIR};PYTHONPATH=${PROJECT_BINARY_DIR}/client/python:${python_tests_dir}")

# Programs of TTNN files; a large one, which takes minutes.
add_test(NAME python.Ttnn COMMAND ${python_tests} -q ${python_tests_dir}/test_ttnn.py ${python_tests_dir}/test_ttnn_traces.py ${python_tests_dir}/test_ttnn_table.py)
add_test(NAME python.TtnnLarge COMMAND ${python_tests} -q -o faulthandler_timeout=0 ${python_tests_dir}/test_ttnn.py -k large)
add_test(NAME python.TtMetal COMMAND ${python_tests} -q ${python_tests_dir}/test_ttmetal.py ${python_tests_dir}/test_ttmetal_refused.py)
set_tests_properties(python.Ttnn python.TtMetal PROPERTIES LABELS "python;integration" TIMEOUT 300)
set_tests_properties(python.TtnnLarge PROPERTIES LABELS slow TIMEOUT 3600)
set_tests_properties(python.Ttnn python.TtMetal python.TtnnLarge PROPERTIES
  ENVIRONMENT "GRPC_VERBOSITY=NONE;TTFD_BUILD=${PROJECT_BINARY_DIR};PYTHONPATH=${PROJECT_BINARY_DIR}/client/python:${python_tests_dir}")
set_property(TEST python.TtnnLarge APPEND PROPERTY ENVIRONMENT TTFD_TTNN_LARGE=1)

set_property(TEST python.standin APPEND PROPERTY LABELS kmd-standin)
set_property(TEST python.javascript APPEND PROPERTY FIXTURES_REQUIRED client_js)  # tests/conformance/client.cmake

# Some of the points in the run above; all of them.
add_test(NAME fault.all_points.python COMMAND ${python_tests} -q -s -o faulthandler_timeout=0 ${python_tests_dir}/test_faults.py)
set_tests_properties(fault.all_points.python PROPERTIES LABELS "slow;fault" TIMEOUT 7200
  ENVIRONMENT "GRPC_VERBOSITY=NONE;TTFD_FAULT_POINTS=all;TTFD_BUILD=${PROJECT_BINARY_DIR};PYTHONPATH=${PROJECT_BINARY_DIR}/client/python:${python_tests_dir}")
set_property(TEST python.faults APPEND PROPERTY LABELS fault)
