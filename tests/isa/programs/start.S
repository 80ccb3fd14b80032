// Start of the compiled programs on both machines: stack, programs, registers, and on to the end that the machine needs.
  .section .start, "ax"
  .globl _start
_start:
  j begin
  .word finish          // the test reads it: everything before it is the result
begin:
  .irp number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  li x\number, 0
  .endr
  la sp, stack_end
  call Main
  // The registers too, but for ra, which becomes the base.
  la ra, registers
  .irp number, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  sw x\number, 4 * \number(ra)
  .endr
  j finish

  .section .bss.registers, "aw", @nobits
  .balign 4
registers:
  .space 128
