# Suites of the runtime once more, on the kmd backend over the stand-in for the driver. Left out: cases that expect the
# device to report a fault of its code, or to look into a Tensix engine.
function(ttfd_on_kmd program)
  ttfd_test_again(${program} PREFIX kmd. LABELS integration kmd-standin ENVIRONMENT TTFD_TEST_DEVICE=kmd-standin ${ARGN})
endfunction()
ttfd_on_kmd(dispatch_boot_test FILTER -*.PassesOnWhatTheDeviceSaysWhenFirmwareFaults)
ttfd_on_kmd(compute_engine_test FILTER -*KernelThatWaits*)
ttfd_on_kmd(dispatch_launch_test)
ttfd_on_kmd(dispatch_queues_test)
ttfd_on_kmd(dispatch_trace_test)
ttfd_on_kmd(dispatch_transfer_test)
