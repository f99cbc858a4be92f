# A USDT probe with two sites and a semaphore, as <sys/sdt.h> lays its notes.
# Exits with the value of the semaphore.
# gcc -nostdlib -static -no-pie -Wl,--build-id=none -o usdt.elf usdt.S

        .globl  _start
        .text
        .type   _start, @function
_start: mov     $5, %edi
one:    nop
        mov     $6, %edi
two:    nop
        movzwl  semaphore(%rip), %edi
        mov     $231, %eax
        syscall

        .macro  note site, args
        .section .note.stapsdt, "", @note
        .balign 4
        .long   2f - 1f, 4f - 3f, 3
1:      .asciz  "stapsdt"
2:      .balign 4
3:      .quad   \site, _.stapsdt.base, semaphore
        .asciz  "shop"
        .asciz  "sale"
        .asciz  "\args"
4:      .balign 4
        .previous
        .endm

        note    one, "-4@%edi"
        note    two, "-4@%edi"

        .section .stapsdt.base, "aG", @progbits, .stapsdt.base, comdat
        .weak   _.stapsdt.base
_.stapsdt.base: .space 1

        .section .probes, "aw", @progbits
        .balign 2
semaphore: .short 0
