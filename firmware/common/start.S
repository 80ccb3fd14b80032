// First instructions of every firmware image: a jump over the stamp, then stack, bss, main.
//
// The general purpose registers hold nothing at release; there is no global pointer. Data and stack
// are in the hart's local RAM, which only it can see, so nothing here has initial values (the linker
// script refuses a .data section).

  .section .text.start, "ax"
  .globl _start
_start:
  jal x0, boot            // one word; magic and protocol version follow (stamp.cc)

  .section .text.boot, "ax"
boot:
  lui sp, %hi(__stack_top)
  addi sp, sp, %lo(__stack_top)
  lui a0, %hi(__bss_start)
  addi a0, a0, %lo(__bss_start)
  lui a1, %hi(__bss_end)
  addi a1, a1, %lo(__bss_end)
1:
  bgeu a0, a1, 2f
  sw x0, 0(a0)
  addi a0, a0, 4
  jal x0, 1b
2:
  call FirmwareMain
3:
  fence
  jal x0, 3b
