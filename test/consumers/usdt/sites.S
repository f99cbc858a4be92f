# USDT probes written by hand: long nops, every kind of operand, many specs.
# built by build.sh
        .macro  note provider, name, site, args
        .pushsection .note.stapsdt, "", @note
        .balign 4
        .long   882f - 881f, 884f - 883f, 3
881:    .asciz  "stapsdt"
882:    .balign 4
883:    .quad   \site, _.stapsdt.base, 0
        .asciz  "\provider"
        .asciz  "\name"
        .asciz  "\args"
884:    .balign 4
        .popsection
        .endm

        .macro  nop5
        .byte   0x0f, 0x1f, 0x44, 0, 0
        .endm
        .macro  nop10
        .byte   0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
        .endm

        .globl  _start
        .text
        .type   _start, @function
_start: mov     $2, %ebx
1:      call    plain
        call    with_nop5
        call    with_nop10
        dec     %ebx
        jnz     1b
        call    operands
        call    floats
        mov     $10, %ebx
1:      call    red_zone5
        call    red_zone10
        dec     %ebx
        jnz     1b
        .ifndef SMALL
        call    specs
        .endif
        mov     $231, %eax
        xor     %edi, %edi
        syscall

# C45: one nop; a nop with a long one behind it.
        .type   plain, @function
plain:
991:    nop
        note    combo, plain, 991b, "-4@%ebx"
        ret
        .balign 32
        .type   with_nop5, @function
with_nop5:
991:    nop
        nop5
        note    combo, nop5, 991b, "-4@%ebx"
        ret
        .balign 32
        .type   with_nop10, @function
with_nop10:
991:    nop
        nop10
        note    combo, nop10, 991b, "-4@%ebx"
        ret

# Every kind of operand; C43 is `sib`.
        .type   operands, @function
operands:
        mov     $0x8877665544332211, %rax
        mov     $0x1122334455667788, %r9
        lea     array(%rip), %rdx
        mov     $2, %ecx
        push    %rbp
        mov     %rsp, %rbp
        push    $-77
991:    nop
        note    form, registers, 991b, "8@%rax -4@%eax 2@%ax -1@%al 1@%ah 8@%r9 4@%r9d 2@%r9w -1@%r9b"
992:    nop
        note    form, constants, 992b, "-4@$-5 4@$5 8@$0x7fffffffffffffff 1@$300 -1@$255"
993:    nop
        note    form, memory, 993b, "-8@-8(%rbp) -4@-8(%rbp) 2@(%rdx) -2@ 2(%rdx) 8@8(%rdx)"
994:    nop
        note    form, sib, 994b, "-2@(%rdx,%rcx,2) 2@2(%rdx,%rcx) -2@ -2 ( %rdx , %rcx , 2 )"
995:    nop
        note    form, symbols, 995b, "-4@counter(%rip) 4@counter 4@counter+4(%rip) -2@array(,%rcx,2) 8@(%rip)"
996:    nop
        note    form, empty, 996b, ""
997:    nop
        note    form, colon, 997b, ":8@%rax"
998:    nop
        note    form, unreadable, 998b, "8@(%rcx) 4@%ecx"
        pop     %rax
        pop     %rbp
        ret

        .type   floats, @function
floats: movsd   double(%rip), %xmm3
        movss   single(%rip), %xmm12
        mov     double(%rip), %rsi
        lea     double(%rip), %rdi
991:    nop
        note    form, floats, 991b, "8f@%xmm3 4f@%xmm12 8f@%rsi 8f@(%rdi) 4f@8(%rdi)"
        ret

# C46: three operands in the red zone.
        .macro  red_zone name, nop
        .balign 32
        .type   \name, @function
\name:  movl    $0xdeadbeef, -4(%rsp)
        movl    $0xcafebabe, -12(%rsp)
        movl    $0xfeedface, -20(%rsp)
991:    nop
        \nop
        note    redzone, \nop, 991b, "4@-4(%rsp) 4@-12(%rsp) 4@-20(%rsp)"
        ret
        .endm
        red_zone red_zone5, nop5
        red_zone red_zone10, nop10

# C44: 100 and 300 sites with different specs, 400 with one.
        .ifndef SMALL
        # Not by `note`: .altmacro, which counts, takes the quotes off what it hands on.
        .macro  numbered name, n
991:    nop
        .pushsection .note.stapsdt, "", @note
        .balign 4
        .long   993f - 992f, 995f - 994f, 3
992:    .asciz  "stapsdt"
993:    .balign 4
994:    .quad   991b, _.stapsdt.base, 0
        .asciz  "spec"
        .asciz  "\name"
        .ascii  "-4@$"
        .asciz  "\n"
995:    .balign 4
        .popsection
        .endm
        .altmacro
        .type   specs, @function
specs:
        .set    i, 0
        .rept   100
        numbered hundred, %i
        .set    i, i + 1
        .endr
        .set    i, 0
        .rept   300
        numbered many, %i
        .set    i, i + 1
        .endr
        .rept   400
        numbered same, 7
        .endr
        ret
        .noaltmacro
        .endif

        .data
array:  .short  -1, 2, -3, 4
        .quad   0x0123456789abcdef
double: .double 1.5
single: .float  -0.25
counter: .long  -6, 7

        .section .stapsdt.base, "aG", @progbits, .stapsdt.base, comdat
        .weak   _.stapsdt.base
_.stapsdt.base: .space 1
