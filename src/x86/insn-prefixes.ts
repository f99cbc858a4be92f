/** Legacy, REX, REX2, VEX, EVEX and XOP prefixes, in the order the kernel takes them. */
import { type Draft, peek, skip, type VectorPrefix } from './insn.ts';

export const Prefix = {
  Es: 0x26,
  Cs: 0x2e,
  Ss: 0x36,
  Ds: 0x3e,
  Fs: 0x64,
  Gs: 0x65,
  OperandSize: 0x66,
  AddressSize: 0x67,
  Lock: 0xf0,
  Repne: 0xf2,
  Rep: 0xf3,
} as const;

const LEGACY: ReadonlySet<number> = new Set(Object.values(Prefix));

/** The kernel remembers four different legacy prefixes; a fifth is taken for the opcode. */
const MAX_DISTINCT_PREFIXES = 4;

/** What a hypervisor's guest puts before an instruction it wants emulated: ud2 and three letters. */
const EMULATE_PREFIXES = ['xen', 'kvm'].map((name) => [
  0x0f,
  0x0b,
  ...[...name].map((letter) => letter.charCodeAt(0)),
]);

const readEmulatePrefix = (draft: Draft): void => {
  const found = EMULATE_PREFIXES.find((prefix) =>
    prefix.every((byte, index) => peek(draft, index) === byte),
  );
  if (found === undefined) return;
  draft.emulatePrefix = true;
  skip(draft, found.length);
};

const readLegacy = (draft: Draft): void => {
  for (;;) {
    const byte = peek(draft);
    if (byte === undefined || !LEGACY.has(byte)) return;
    if (!draft.prefixes.includes(byte)) {
      if (draft.prefixes.length === MAX_DISTINCT_PREFIXES) return;
      draft.prefixes.push(byte);
      if (byte === Prefix.AddressSize) draft.addressSize = 4;
      if (byte === Prefix.OperandSize) draft.operandSize = 2;
    }
    draft.prefixCount++;
    draft.lastPrefix = byte;
    skip(draft, 1);
  }
};

const WIDE_REX = 0x08;
const WIDE_VECTOR = 0x80;

/** True when a REX or REX2 prefix was there: no vector prefix is looked for behind it. */
const readRex = (draft: Draft): boolean => {
  const byte = peek(draft) ?? 0;
  const size = byte >> 4 === 4 ? 1 : byte === 0xd5 ? 2 : 0;
  if (size === 0) return false;
  draft.rex = Array.from({ length: size }, (_, index) => peek(draft, index) ?? 0);
  if ((draft.rex[size - 1] ?? 0) & WIDE_REX) draft.operandSize = 8;
  skip(draft, size);
  return true;
};

const vectorKind = (first: number | undefined, second: number): VectorPrefix | null => {
  switch (first) {
    case 0xc5:
      return 'vex2';
    case 0xc4:
      return 'vex3';
    case 0x62:
      return 'evex';
    case 0x8f:
      // XOP shares its byte with `pop r/m`, whose modrm.reg is 0.
      return (second & 0x38) === 0 ? null : 'xop';
    default:
      return null;
  }
};

const VECTOR_SIZE = { vex2: 2, vex3: 3, xop: 3, evex: 4 } as const;

const readVector = (draft: Draft): void => {
  const kind = vectorKind(peek(draft), peek(draft, 1) ?? 0);
  if (kind === null) return;
  const size = VECTOR_SIZE[kind];
  const bytes = Array.from({ length: size }, (_, index) => peek(draft, index) ?? 0);
  draft.vector = kind;
  if (kind === 'vex2') bytes.push((bytes[1] ?? 0) & 0x7f);
  else if ((bytes[2] ?? 0) & WIDE_VECTOR) draft.operandSize = 8;
  draft.vectorBytes = bytes;
  skip(draft, size);
};

/** False when the bytes ended. */
export const readPrefixes = (draft: Draft): boolean => {
  readEmulatePrefix(draft);
  readLegacy(draft);
  if (!readRex(draft)) readVector(draft);
  return draft.at < draft.end;
};
