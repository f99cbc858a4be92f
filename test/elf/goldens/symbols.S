# A shared library with every kind of symbol that the reader tells apart.
        .text
        .globl  exported
        .type   exported, @function
exported:
        nop
        ret
        .size   exported, . - exported

        .globl  weak_one
        .weak   weak_one
        .type   weak_one, @function
weak_one:
        ret
        .size   weak_one, . - weak_one

        .type   local_one, @function
local_one:
        nop
        nop
        ret
        .size   local_one, . - local_one

        .globl  chosen
        .type   chosen, @gnu_indirect_function
chosen:
        lea     local_one(%rip), %rax
        ret
        .size   chosen, . - chosen

        .globl  label                   # no type, no size: a plain assembly label
label:
        ret

        .globl  versioned_old, versioned_new
        .type   versioned_old, @function
        .type   versioned_new, @function
versioned_old:
        ret
        .size   versioned_old, . - versioned_old
versioned_new:
        nop
        ret
        .size   versioned_new, . - versioned_new
        .symver versioned_old, versioned@OLD
        .symver versioned_new, versioned@@NEW

        .globl  missing                 # undefined
        .data
        .quad   missing
        .globl  thing
        .type   thing, @object
thing:  .quad   1
        .size   thing, 8

        .section .note.trapline,"",@note
        .balign 4
        .long   9, 5, 42                # sizes of name and description, type
        .asciz  "trapline"
        .balign 4
        .ascii  "12345"
        .balign 4
        .long   4, 0, 7                 # a second one without description
        .asciz  "end"
        .section .note.GNU-stack,"",@progbits
