/*
 * Runs pieces of code on this machine's CPU: reads cases from stdin, writes what each came to.
 * A signal handler enters the code by returning into it and leaves it by returning to where it was,
 * so that every register is the code's own.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define CODE 0x400000000UL
#define DATA 0x600000000UL
/* two pages that can be written, between them the window; then one that can only be read, then none */
#define WINDOW (DATA + 0x1000 - 256)

struct input {
  uint8_t code[64];
  uint64_t gpr[16]; /* by hardware number */
  uint64_t flags;
  uint8_t fx[512];
  uint8_t window[512];
};

struct output {
  uint64_t signal, code, address;
  uint64_t gpr[16];
  uint64_t rip, flags;
  uint8_t fx[512];
  uint8_t window[512];
};

static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static struct input in;
static struct output out;
static ucontext_t home;
static uint8_t home_fx[512];

static void enter(int signal, siginfo_t *info, void *context) {
  ucontext_t *uc = context;
  (void)signal;
  (void)info;
  home = *uc;
  memcpy(home_fx, uc->uc_mcontext.fpregs, 512);
  for (int i = 0; i < 16; i++) uc->uc_mcontext.gregs[order[i]] = in.gpr[i];
  uc->uc_mcontext.gregs[REG_RIP] = CODE;
  uc->uc_mcontext.gregs[REG_EFL] = in.flags;
  /* the last 48 bytes are the kernel's */
  memcpy(uc->uc_mcontext.fpregs, in.fx, 464);
}

static void leave(int signal, siginfo_t *info, void *context) {
  ucontext_t *uc = context;
  out.signal = signal;
  out.code = info->si_code;
  out.address = (uint64_t)info->si_addr;
  for (int i = 0; i < 16; i++) out.gpr[i] = uc->uc_mcontext.gregs[order[i]];
  out.rip = uc->uc_mcontext.gregs[REG_RIP] - CODE;
  out.flags = uc->uc_mcontext.gregs[REG_EFL];
  memcpy(out.fx, uc->uc_mcontext.fpregs, 512);
  memcpy(uc->uc_mcontext.gregs, home.uc_mcontext.gregs, sizeof uc->uc_mcontext.gregs);
  memcpy(uc->uc_mcontext.fpregs, home_fx, 464);
}

static void *map(uint64_t at, size_t size, int prot) {
  void *p = mmap((void *)at, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (p == MAP_FAILED) exit(2);
  return p;
}

static int read_all(void *into, size_t size) {
  return fread(into, 1, size, stdin) == size;
}

int main(void) {
  static const int ends[] = {SIGTRAP, SIGSEGV, SIGILL, SIGFPE, SIGBUS};
  stack_t stack = {.ss_sp = map(0x700000000UL, 0x40000, PROT_READ | PROT_WRITE), .ss_size = 0x40000};
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  uint8_t *code = map(CODE, 0x1000, PROT_READ | PROT_WRITE | PROT_EXEC);
  map(DATA, 0x2000, PROT_READ | PROT_WRITE);
  map(DATA + 0x2000, 0x1000, PROT_READ);
  sigaltstack(&stack, NULL);
  action.sa_sigaction = enter;
  sigaction(SIGUSR1, &action, NULL);
  action.sa_sigaction = leave;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) sigaction(ends[i], &action, NULL);
  while (read_all(&in, sizeof in)) {
    memset(code, 0xcc, 0x1000);
    memcpy(code, in.code, sizeof in.code);
    memset((void *)DATA, 0, 0x2000);
    memcpy((void *)WINDOW, in.window, sizeof in.window);
    raise(SIGUSR1);
    memcpy(out.window, (void *)WINDOW, sizeof out.window);
    fwrite(&out, sizeof out, 1, stdout);
  }
  return 0;
}
