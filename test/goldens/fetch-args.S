# Program of fetch-args.txt: registers and memory for fetch arguments to read.
# gcc -nostdlib -static -no-pie -Wl,--build-id=none -o fetch-args.elf fetch-args.S

        .globl  _start, site, again, func
        .text
_start:
        lea     stack(%rip), %rsp
        mov     $-2, %rax
        lea     numbers(%rip), %rbx
        movabs  $0x8899aabbccddeeff, %rcx
        lea     text(%rip), %rdx
        lea     pointers(%rip), %rsi
        mov     $0x10, %rdi             # never mapped
        lea     chain(%rip), %rbp
        mov     $0x41, %r8
        lea     odd(%rip), %r9
        lea     empty(%rip), %r10
        lea     tail(%rip), %r12
        lea     long4095(%rip), %r13
        lea     broken(%rip), %r14
        lea     invalid(%rip), %r15
        mov     $0x246, %r11
        cmp     %rax, %rax
site:   nop
        mov     $0x10, %rbx
        mov     $0x10, %rdx
        mov     $0x10, %rsi
        mov     $0x10, %rbp
        mov     $0x10, %rsp
again:  nop
        lea     stack(%rip), %rsp
        call    func
        xor     %edi, %edi
        mov     $231, %eax              # exit_group
        syscall
func:   lea     text(%rip), %rax
        ret

        .data
        .balign 4096
        .space  128
stack:  .quad   0x1111111111111111, 0x2222222222222222, text, 0
        .space  64
numbers: .quad  0x8877665544332211, -2, 7, 0
text:   .asciz  "hello, world"
pointers: .quad text, empty, 0x10, odd
chain:  .quad   chain2
chain2: .quad   text, 0x123
odd:    .asciz  "a\"b\nc\\\t\303\251"
invalid: .ascii "\377\001\303"
        .byte   0
empty:  .asciz  ""
long4095: .fill 4094, 1, 'x'
        .byte   0
long4097: .fill 4096, 1, 'z'
        .byte   0
        .balign 4096
        .space  4096 - 4 - 24
        .quad   0
broken: .quad   text, odd               # the third pointer of the array is not readable whole
tail:   .ascii  "tail"
