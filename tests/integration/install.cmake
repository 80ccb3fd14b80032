# cmake --install into a staging folder.
add_test(NAME install_test
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/install_test.py --build ${PROJECT_BINARY_DIR} --cmake ${CMAKE_COMMAND}
          --cxx ${CMAKE_CXX_COMPILER})
set_tests_properties(install_test PROPERTIES LABELS integration TIMEOUT 300)
