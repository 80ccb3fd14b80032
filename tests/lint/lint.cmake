# The lints as tests (label lint): each is a Python 3 script without dependencies; self_test.py shows that each finds something.
function(ttfd_lint name script)
  add_test(NAME lint.${name} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${script} ${ARGN})
  set_tests_properties(lint.${name} PROPERTIES LABELS lint TIMEOUT 120 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endfunction()

ttfd_lint(layers check_layers.py --layers ${PROJECT_BINARY_DIR}/layers.txt)
ttfd_lint(style check_style.py)
ttfd_lint(format check_format.py)
ttfd_lint(spelling check_spelling.py)
ttfd_lint(shell check_shell.py)
ttfd_lint(golden check_golden.py)
ttfd_lint(self_test self_test.py)
