/**
 * Judges an instruction as the kernel does before it writes the first breakpoint of a uprobe
 * (spec section 2.4). Pure: bytes in, plain data out.
 */
import { decodeInsn, type Insn } from '../../x86/insn.ts';
import type { Profile } from '../profiles.ts';
import { adviceFor } from './advice.ts';
import type { Accepted, Analysis, Handling, Refused } from './analysis.ts';
import { classify } from './classify.ts';
import { optimisationOf } from './nops.ts';
import { refusalReason } from './refusals.ts';
import { steppingOf } from './stepping.ts';

/** Bytes the kernel copies from the file; what lies behind its end reads as 0. */
export const COPY_SIZE = 16;

const BREAKPOINT = 0xcc;

const copyOf = (bytes: Uint8Array): Uint8Array => {
  const copy = new Uint8Array(COPY_SIZE);
  copy.set(bytes.subarray(0, COPY_SIZE));
  return copy;
};

const HANDLING_TEXT: Readonly<Record<Handling['kind'], string>> = {
  nop: 'a nop: ip moves past it',
  jump: 'near jump: ip is computed',
  branch: 'conditional near jump: flags are evaluated, ip is computed',
  call: 'near call: the return address is pushed, ip is computed',
  push: 'push of a register: the value is stored, sp and ip move',
  step: 'single-stepped in a slot',
};

const acceptedReason = (insn: Insn, handling: Handling, optimise: Accepted['optimise']): string => {
  const parts = [HANDLING_TEXT[handling.kind]];
  if (handling.kind !== 'step' && insn.vector !== null)
    parts.push(`mistaken for it behind ${insn.vector.toUpperCase()}, so it does not execute`);
  if (optimise !== null) parts.push('the site becomes a call after its first hit');
  return parts.join('; ');
};

/** What `refuse` needs to try the bytes behind a refused prefix. */
interface Site {
  readonly bytes: Uint8Array;
  readonly profile: Profile;
  readonly pageOffset: number;
}

const refuse = (
  site: Site,
  errno: Refused['errno'],
  insn: Insn | null,
  reason: string,
): Refused => ({
  verdict: 'refuse',
  errno,
  length: insn === null ? null : insn.length,
  reason,
  advice:
    insn === null
      ? 'attach where an instruction begins'
      : adviceFor(insn, (skipped) => analyseBehind(site, skipped).verdict !== 'refuse'),
});

const analyseBehind = ({ bytes, profile, pageOffset }: Site, skipped: number): Analysis =>
  analyse(bytes.subarray(skipped), profile, { pageOffset: pageOffset + skipped });

const accept = (site: Site, insn: Insn, handling: Handling): Accepted => {
  const optimise = optimisationOf(insn, site.bytes, site.profile, site.pageOffset);
  return {
    verdict: handling.kind === 'step' ? 'step' : 'emulate',
    length: insn.length,
    reason: acceptedReason(insn, handling, optimise),
    handling,
    stepping: steppingOf(insn, site.bytes, handling),
    optimise,
  };
};

/**
 * @param bytes the file's bytes from the site on; 16 are looked at
 * @param options.pageOffset of the site: an instruction that crosses a page is not optimised
 */
export const analyse = (
  bytes: Uint8Array,
  profile: Profile,
  { pageOffset = 0 }: { readonly pageOffset?: number } = {},
): Analysis => {
  const site: Site = { bytes: copyOf(bytes), profile, pageOffset };
  const insn = decodeInsn(site.bytes);
  if (site.bytes[0] === BREAKPOINT)
    return refuse(site, 'ENOTSUPP', insn, 'the file itself has an int3 (0xcc) here');
  if (insn === null) return refuse(site, 'ENOEXEC', null, 'the kernel cannot decode these bytes');
  // The nop10 begins with 66 2E: where it is optimised, no prefix rule is asked.
  if (profile.acceptNop10 && optimisationOf(insn, site.bytes, profile, pageOffset) !== null)
    return accept(site, insn, { kind: 'nop' });
  const reason = refusalReason(insn);
  if (reason !== null) return refuse(site, 'ENOTSUPP', insn, reason);
  const classified = classify(insn, site.bytes, profile);
  return 'refused' in classified
    ? refuse(site, 'ENOTSUPP', insn, classified.refused)
    : accept(site, insn, classified.handling);
};
