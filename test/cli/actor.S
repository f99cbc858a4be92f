# Does what the first letter of its argument says; for tests of `trapline run`.
# gcc -nostdlib -static -no-pie -Wl,--build-id=none -o actor.elf actor.S
#
#   e  exits with 7                  l  loops for ever
#   s  reads address 0               w  writes "no line end" to stderr, exits with 0
#   c  copies stdin to stdout        v  executes a VEX instruction
#   f  calls fork(2), exits with 0   i  exits with 5 on SIGINT, waits until then
#   o  writes lines to stdout until that fails
#   g  ignores SIGINT, loops         h  calls work for ever

        .globl  _start, work, site
        .text
        .type   _start, @function
_start: mov     16(%rsp), %rsi          # argv[1]
        mov     $7, %edi
        test    %rsi, %rsi
        jz      exit
        movzbl  (%rsi), %ebx
        mov     $42, %edi
        call    work
        cmp     $'s', %bl
        je      segv
        cmp     $'c', %bl
        je      copy
        cmp     $'f', %bl
        je      fork
        cmp     $'l', %bl
        je      loop
        cmp     $'w', %bl
        je      words
        cmp     $'v', %bl
        je      vex
        cmp     $'i', %bl
        je      wait
        cmp     $'o', %bl
        je      lines
        cmp     $'g', %bl
        je      deaf
        cmp     $'h', %bl
        je      hits
        mov     $7, %edi
exit:   mov     $231, %eax
        syscall

        .type   work, @function
work:   push    %rbx
site:   lea     1(%rdi), %rax
        pop     %rbx
        ret
        .size   work, . - work

        .type   locked, @function
locked: lock incl (%rdi)                # uprobes refuse a lock prefix
        ret
        .size   locked, . - locked

segv:   mov     0, %rax
loop:   jmp     loop
vex:    vmovdqa %ymm0, %ymm1
        jmp     done

fork:   mov     $57, %eax
        syscall
done:   xor     %edi, %edi
        jmp     exit

words:  mov     $2, %edi
        lea     text(%rip), %rsi
        mov     $11, %edx
        mov     $1, %eax
        syscall
        mov     $42, %edi
        call    work
        jmp     done

copy:   xor     %edi, %edi
        lea     buffer(%rip), %rsi
        mov     $4096, %edx
        xor     %eax, %eax
        syscall
        test    %rax, %rax
        jle     done
        mov     %rax, %rdx
        mov     $1, %edi
        mov     $1, %eax
        syscall
        jmp     copy

lines:  mov     $1, %edi
        lea     line(%rip), %rsi
        mov     $5, %edx
        mov     $1, %eax
        syscall
        test    %rax, %rax
        jg      lines
        mov     $9, %edi
        jmp     exit

hits:   mov     $42, %edi
        call    work
        jmp     hits

wait:   call    on_signal
        lea     ready(%rip), %rsi
        call    say
pause:  mov     $34, %eax
        syscall
        jmp     pause
onint:  mov     $5, %edi
        jmp     exit
back:   mov     $15, %eax
        syscall

deaf:   movq    $1, action(%rip)        # SIG_IGN
        call    on_signal
        lea     ready(%rip), %rsi
        call    say
        jmp     loop

on_signal:
        mov     $13, %eax               # rt_sigaction(SIGINT, &action, 0, 8)
        mov     $2, %edi
        lea     action(%rip), %rsi
        xor     %edx, %edx
        mov     $8, %r10d
        syscall
        ret

say:    mov     $2, %edi                # six bytes to stderr
        mov     $6, %edx
        mov     $1, %eax
        syscall
        ret

        .data
action: .quad   onint, 0x04000000, back, 0      # SA_RESTORER
text:   .ascii  "no line end"
line:   .ascii  "line\n"
ready:  .ascii  "ready\n"
        .bss
buffer: .space  4096
