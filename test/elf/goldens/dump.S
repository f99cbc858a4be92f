/* Writes the stack from rsp up to its top to stdout, then brk(0) as 8 bytes, then /proc/self/maps. */
        .globl  _start
        .text
_start:
        mov     $1, %eax                # write(1, rsp, top - rsp)
        mov     $1, %edi
        mov     %rsp, %rsi
        movabs  $0x7ffffffff000, %rdx
        sub     %rsp, %rdx
        syscall
        mov     $12, %eax               # brk(0)
        xor     %edi, %edi
        syscall
        lea     buffer(%rip), %rsi
        mov     %rax, (%rsi)
        mov     $1, %eax                # write(1, buffer, 8)
        mov     $1, %edi
        mov     $8, %edx
        syscall
        mov     $2, %eax                # open("/proc/self/maps", O_RDONLY)
        lea     path(%rip), %rdi
        xor     %esi, %esi
        syscall
        mov     %eax, %r12d
1:      mov     $0, %eax                # read(maps, buffer, sizeof buffer)
        mov     %r12d, %edi
        lea     buffer(%rip), %rsi
        mov     $4096, %edx
        syscall
        test    %rax, %rax
        jle     2f
        mov     %rax, %rdx              # write(1, buffer, n)
        mov     $1, %eax
        mov     $1, %edi
        lea     buffer(%rip), %rsi
        syscall
        jmp     1b
2:      mov     $60, %eax               # exit(0)
        xor     %edi, %edi
        syscall

        .data
path:   .asciz  "/proc/self/maps"
        .bss
        .balign 16
buffer: .skip   4096
#ifdef HUGE                             /* more than a huge page in all */
        .skip   0x300000
#endif
tail:   .skip   0x5000
        .section .note.GNU-stack,"",@progbits
