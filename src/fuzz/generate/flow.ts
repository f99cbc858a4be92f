/** What generated functions are made of: jumps, calls, loops and what they do to the stack. */
import { DATA, TEXT } from '../guest/layout.ts';
import type { Random } from '../random.ts';
import { type Assembler, le } from './assembler.ts';
import { onMemory, redZoneOperand, ripOperand } from './operands.ts';
import { type Snippet, STRAIGHT } from './snippets.ts';

const few = (asm: Assembler, random: Random, at: number, most = 3): void => {
  for (let left = random.below(most + 1); left > 0; left--)
    random.weighted(STRAIGHT).add(asm, random, at);
};

const RET = [0xc3];

/** Emits a subroutine behind the function; returns its label. */
const subroutine = (asm: Assembler, random: Random, at: number, end: readonly number[]): number => {
  const label = asm.label();
  asm.functions.push(label);
  asm.later.push(() => {
    asm.place(label);
    asm.depth = 0;
    few(asm, random, at);
    asm.emit(end === RET ? 'ret' : 'ret-imm', ...end);
  });
  return label;
};

/** `lea label(%rip),%rax` */
const leaRax = (asm: Assembler, label: number): void =>
  asm.relative('lea-code', [0x48, 0x8d, 0x05], label, 4);

const jump: Snippet = {
  kind: 'jump',
  weight: 4,
  add(asm, random, at) {
    const over = asm.label();
    if (random.chance(50)) asm.relative('jump', [0xeb], over, 1);
    else asm.relative('jump', [0xe9], over, 4);
    few(asm, random, at);
    asm.place(over);
  },
};

const branch: Snippet = {
  kind: 'branch',
  weight: 10,
  add(asm, random, at) {
    const over = asm.label();
    const condition = random.below(16);
    if (random.chance(50)) asm.relative('branch8', [0x70 + condition], over, 1);
    else asm.relative('branch32', [0x0f, 0x80 + condition], over, 4);
    few(asm, random, at);
    asm.place(over);
  },
};

const loop: Snippet = {
  kind: 'loop',
  weight: 4,
  add(asm, random, at) {
    const again = asm.label();
    asm.emit('constant', 0xb9, ...le(1 + random.below(4), 4));
    asm.place(again);
    few(asm, random, at);
    if (random.chance(50)) asm.relative('loop', [random.pick([0xe0, 0xe1, 0xe2])], again, 1);
    else {
      asm.emit('unary', 0xff, 0xc9);
      asm.relative('branch8', [0x75], again, 1);
    }
  },
};

const call: Snippet = {
  kind: 'call',
  weight: 6,
  add: (asm, random, at) => asm.relative('call', [0xe8], subroutine(asm, random, at, RET), 4),
};

/** Pushes an argument that the callee takes off. */
const callWithArgument: Snippet = {
  kind: 'ret-imm',
  weight: 2,
  add(asm, random, at) {
    asm.emit('push', 0x50);
    asm.relative('call', [0xe8], subroutine(asm, random, at, [0xc2, 8, 0]), 4);
  },
};

/** call *%rax, call *mem, jmp *%rax, jmp *mem. */
const indirect: Snippet = {
  kind: 'indirect',
  weight: 6,
  add(asm, random, at) {
    const calls = random.chance(60);
    const target = calls ? subroutine(asm, random, at, RET) : asm.label();
    leaRax(asm, target);
    const group = calls ? 2 : 4;
    const kind = calls ? 'call-indirect' : 'jump-indirect';
    if (random.chance(50)) asm.emit(kind, 0xff, 0xc0 | (group << 3));
    else {
      const cell = Number(DATA.start) + 0x900;
      const place = (reg: number, length: number): { rex: number; modrm: readonly number[] } =>
        ripOperand(reg, cell, Number(TEXT.start) + at + asm.bytes.length + length, false);
      asm.emit('rip', ...onMemory([0x89], place(0, 7)));
      asm.emit(kind, ...onMemory([0xff], place(group, 6), { wide: false }));
    }
    if (!calls) asm.place(target);
  },
};

/** rep movsb and its like, a few times round. */
const repeat: Snippet = {
  kind: 'rep',
  weight: 2,
  add(asm, random) {
    asm.emit('constant', 0xb9, ...le(random.below(4), 4));
    asm.emit('rep', random.pick([0xf2, 0xf3]), random.pick([0xa4, 0xa5, 0xaa, 0xa6, 0xae]));
  },
};

/** The stack pointer goes where nothing is mapped, or to the first byte that is. */
const badStack: Snippet = {
  kind: 'bad-stack',
  weight: 2,
  add(asm, random, at) {
    asm.emit('stack-switch', 0xbc, ...le(random.pick([0x430000, 0x430000, 0x420000, 0x430018]), 4));
    few(asm, random, at, 2);
    const victim = random.below(4);
    if (victim === 0) asm.emit('push', 0x50 + random.below(8));
    else if (victim === 1) asm.relative('call', [0xe8], subroutine(asm, random, at, RET), 4);
    else if (victim === 2) asm.emit('nop5', 0x0f, 0x1f, 0x44, 0, 0);
    else asm.emit('nop10', 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0);
  },
};

/** A leaf that keeps a value in the red zone across a nop. */
const redZone: Snippet = {
  kind: 'red-zone',
  weight: 6,
  add(asm, random, at) {
    // The ends matter most.
    const slot = random.pick([1, 2, 3, 4, 16, 16, 1 + random.below(16)]);
    asm.emit('red-zone-store', ...onMemory([0x89], redZoneOperand(random.below(3), slot)));
    random.pick([
      () => asm.emit('nop5', 0x0f, 0x1f, 0x44, 0, 0),
      () => asm.emit('nop10', 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0),
      () => few(asm, random, at, 2),
    ])();
    asm.emit('red-zone-load', ...onMemory([0x8b], redZoneOperand(random.below(3), slot)));
  },
};

/** A callee that does not return: longjmp without the library. */
const longJump: Snippet = {
  kind: 'longjmp',
  weight: 2,
  add(asm, random, at) {
    const [target, callee] = [asm.label(), asm.label()];
    asm.functions.push(callee);
    asm.relative('lea-code', [0x4c, 0x8d, 0x05], target, 4); // lea target(%rip),%r8
    asm.emit('move', 0x49, 0x89, 0xe1); // mov %rsp,%r9
    asm.relative('call', [0xe8], callee, 4);
    few(asm, random, at);
    asm.place(target);
    asm.later.push(() => {
      asm.place(callee);
      if (random.chance(40)) asm.relative('call', [0xe8], subroutine(asm, random, at, RET), 4);
      asm.emit('stack-switch', 0x4c, 0x89, 0xcc); // mov %r9,%rsp
      asm.emit('jump-indirect', 0x41, 0xff, 0xe0); // jmp *%r8
    });
  },
};

/** A function that calls itself, about as often as returns can be pending. */
const recursion: Snippet = {
  kind: 'recursion',
  weight: 1,
  add(asm, random, at) {
    const again = asm.label();
    asm.functions.push(again);
    asm.emit('constant', 0xbf, ...le(61 + random.below(9), 4));
    asm.relative('call', [0xe8], again, 4);
    asm.later.push(() => {
      const out = asm.label();
      asm.place(again);
      few(asm, random, at, 1);
      asm.emit('unary', 0xff, 0xcf);
      asm.relative('branch8', [0x74], out, 1);
      asm.relative('call', [0xe8], again, 4);
      asm.place(out);
      asm.emit('ret', 0xc3);
    });
  },
};

export const FLOW: readonly Snippet[] = [
  jump,
  branch,
  loop,
  call,
  callWithArgument,
  indirect,
  repeat,
  badStack,
  redZone,
  recursion,
  longJump,
];
