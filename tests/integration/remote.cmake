# Suites of the runtime and of the daemon once more, on a chip without a PCIe port, behind a link of a neighbour. Left out:
# cases that expect the device to report a fault of its code, more than its rings hold, to count reads through
# windows, or a boot that is cut off at a certain look.
set(remote_labels LABELS integration remote ENVIRONMENT TTFD_TEST_DEVICE=remote)
ttfd_test_again(dispatch_boot_test PREFIX remote. ${remote_labels} FILTER -*.PassesOnWhatTheDeviceSaysWhenFirmwareFaults)
ttfd_test_again(dispatch_launch_test PREFIX remote. ${remote_labels})
ttfd_test_again(dispatch_print_test PREFIX remote. ${remote_labels})
ttfd_test_again(dispatch_queues_test PREFIX remote. ${remote_labels} FILTER -*.TrySubmit_KeepsTheCountersComparable:*.AThousandCommands*)
ttfd_test_again(dispatch_shutdown_test PREFIX remote. ${remote_labels} FILTER -*.ABootThat*)
ttfd_test_again(dispatch_trace_test PREFIX remote. ${remote_labels}
  FILTER -*.ACommandThatFoundNoSpace*:*.ReplaysItsLaunches*:*.CountsOnThrough*:*.ItsKernelsAreSentAgain*:*.ARecordingThatWasNotSent*)
ttfd_test_again(dispatch_transfer_test PREFIX remote. ${remote_labels}
  FILTER -*.AnErrorAmidACommand*:*.AreClearedAfterUseWhereTheCardIsNever*:*.*/Default*)
ttfd_test_again(daemon_queues_test PREFIX remote. ${remote_labels})
ttfd_test_again(dispatch_launch_test PREFIX remote-hazards. LABELS integration remote hazards
  ENVIRONMENT TTFD_TEST_DEVICE=remote TTFD_TEST_SIM=hazards=on,seed=1)
