# Client libraries against the scripted daemon (client/run.py): every scenario, with each library's driver; and clients with
# a mistake, which it must find.
set(client_conformance ${CMAKE_CURRENT_LIST_DIR}/client)

# client_conformance_test(NAME COMMAND ...)
function(ttfd_client_conformance_test name)
  add_test(NAME client_conformance.${name} COMMAND /usr/bin/python3 -B ${ARGN})
  set_tests_properties(client_conformance.${name} PROPERTIES LABELS conformance TIMEOUT 300 SKIP_RETURN_CODE 77
    ENVIRONMENT "GRPC_VERBOSITY=NONE;PYTHONPATH=${PROJECT_BINARY_DIR}/client/python")
endfunction()

# client_conformance(NAME MOST DRIVER [ARGUMENT ...]): at most MOST runs of a scenario.
function(ttfd_client_conformance name most)
  ttfd_client_conformance_test(${name} ${client_conformance}/run.py --most ${most} -- ${ARGN})
endfunction()

ttfd_program(NAME client_conformance_driver SRCS ${client_conformance}/driver.cc DEPS ttfd_client PACKAGES nlohmann_json::nlohmann_json)
ttfd_client_conformance(cpp 40 $<TARGET_FILE:client_conformance_driver>)
if(TTFD_PYTHON_MODULE)  # a binding of the same library
  ttfd_client_conformance(python 4 /usr/bin/python3 -B ${client_conformance}/driver.py)
endif()
ttfd_client_conformance(raw_python 10 /usr/bin/python3 -B ${client_conformance}/raw_driver.py)
ttfd_client_conformance_test(mutants ${client_conformance}/mutants.py)

# The JavaScript client runs in a folder of its own, into which npm installs what package-lock.json names.
set(js_dir ${CMAKE_CURRENT_BINARY_DIR}/js)
set(js_sources ${PROJECT_SOURCE_DIR}/client/js/package.json ${PROJECT_SOURCE_DIR}/client/js/package-lock.json
    ${PROJECT_SOURCE_DIR}/client/js/raw_session.mjs ${PROJECT_SOURCE_DIR}/client/js/raw_grpc_client.mjs ${client_conformance}/driver.mjs)
add_custom_command(OUTPUT ${js_dir}/copied
  COMMAND ${CMAKE_COMMAND} -E make_directory ${js_dir}
  COMMAND ${CMAKE_COMMAND} -E copy ${js_sources} ${js_dir}
  COMMAND ${CMAKE_COMMAND} -E touch ${js_dir}/copied
  DEPENDS ${js_sources} VERBATIM)
add_custom_target(client_js_sources ALL DEPENDS ${js_dir}/copied)
add_test(NAME client_js.packages COMMAND /usr/bin/python3 -B ${client_conformance}/prepare.py javascript ${js_dir})
set_tests_properties(client_js.packages PROPERTIES LABELS conformance TIMEOUT 120 SKIP_RETURN_CODE 77 FIXTURES_SETUP client_js)
ttfd_client_conformance_test(javascript ${client_conformance}/run.py --needs ${js_dir}/node_modules --most 4 --
  node ${js_dir}/driver.mjs ${PROJECT_SOURCE_DIR}/proto)
set_tests_properties(client_conformance.javascript PROPERTIES FIXTURES_REQUIRED client_js)

# The Go client is built with Debian's packages.
set(go_dir ${CMAKE_CURRENT_BINARY_DIR}/go)
add_test(NAME client_go.build COMMAND /usr/bin/python3 -B ${client_conformance}/prepare.py go ${go_dir} ${PROJECT_SOURCE_DIR})
set_tests_properties(client_go.build PROPERTIES LABELS conformance TIMEOUT 300 SKIP_RETURN_CODE 77 FIXTURES_SETUP client_go)
ttfd_client_conformance_test(go ${client_conformance}/run.py --needs ${go_dir}/driver --most 4 -- ${go_dir}/driver)
set_tests_properties(client_conformance.go PROPERTIES FIXTURES_REQUIRED client_go)
