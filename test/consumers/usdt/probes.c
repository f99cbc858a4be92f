// Probes of <sys/sdt.h> behind semaphores, inlined at two places a round: none, three and twelve
// arguments. Runs four rounds; `phase` is where a test comes in between.
// built by build.sh; needs systemtap-sdt-dev
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define SEMAPHORE(name) unsigned short volatile name __attribute__((section(".probes")))
SEMAPHORE(test_usdt0_semaphore);
SEMAPHORE(test_usdt3_semaphore);
SEMAPHORE(test_usdt12_semaphore);

long volatile bla = 0xfedcba987654321;
struct { char c; short numbers[3]; } volatile record = {-2, {-30, 31, -32}};

static inline __attribute__((always_inline)) void trigger(int x) {
  long y = 42;
  if (test_usdt0_semaphore) STAP_PROBE(test, usdt0);
  if (test_usdt3_semaphore) STAP_PROBE3(test, usdt3, x, y, &bla);
  if (test_usdt12_semaphore)
    STAP_PROBE12(test, usdt12, x, x + 1, y, x + y, 5, y / 7, bla, &bla, -9, record.numbers[x],
                 (unsigned short)record.numbers[0], record.c);
}

__attribute__((noinline)) void phase(int n) { asm volatile("" : : "r"(n)); }

// Rounds never reach a negative number: what the compiler may not know.
int volatile rounds = 4;

void _start(void) {
  for (int i = 0; i < rounds; i++) {
    phase(i);
    trigger(1);
    trigger(2);
  }
  asm volatile("syscall" : : "a"(231), "D"(0));
  __builtin_unreachable();
}
