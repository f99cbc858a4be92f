/** What would work instead of what the kernel refuses; the kernel itself does not say. */
import { PtRegs } from '../../abi/ptregs.ts';
import type { FaultCode } from './fault.ts';

const NAME = 'a letter or _, then letters, digits and _';

export const HINTS: Readonly<Partial<Record<FaultCode, string>>> = {
  BAD_REFCNT_SUFFIX: 'the reference counter comes last: PATH:OFFSET%return(REF)',
  BAD_ADDR_SUFFIX: 'the only suffix is %return: PATH:OFFSET%return(REF)',
  TOO_MANY_ARGS: 'an event has at most 128 arguments; define a second one',
  NO_GROUP_NAME: 'write GROUP/EVENT, or EVENT alone for the group uprobes',
  GROUP_TOO_LONG: 'a name has at most 63 characters',
  BAD_GROUP_NAME: NAME,
  NO_EVENT_NAME: 'write p:EVENT, or p alone for a name made of file and offset',
  EVENT_TOO_LONG: 'a name has at most 63 characters',
  BAD_EVENT_NAME: NAME,
  ARG_NAME_TOO_LONG: 'a name has at most 32 characters',
  BAD_ARG_NAME: NAME,
  USED_ARG_NAME: 'give the argument a name of its own: NAME=FETCH',
  ARG_TOO_LONG: 'an argument has at most 63 characters behind its name',
  ARRAY_TOO_BIG: 'an array has at most 64 elements',
  BAD_ARRAY_NUM: 'arrays are TYPE[N] with N from 1 to 64',
  BAD_TYPE:
    'types are u8 u16 u32 u64, s8 …, x8 …, char, string, ustring and bWIDTH@OFFSET/SIZE, each with [N] for an array',
  NEED_STRING_TYPE: 'leave the type away, or write :string',
  BAD_STRING: 'point at the text: +0(%si):string; arrays need memory too: +0(%si):u8[4]',
  BAD_BITFIELD:
    'bits must lie in their container: bWIDTH@OFFSET/SIZE with WIDTH + OFFSET up to SIZE',
  BAD_VAR: 'variables are $stack, $stackN, $retval and $comm',
  NOFENTRY_ARGS: 'uprobes know registers only: %di %si %dx %cx %r8 %r9 are the first six arguments',
  RETVAL_ON_PROBE: 'make it a return probe: r:… or PATH:OFFSET%return',
  BAD_REG_NAME: `registers are ${Object.keys(PtRegs)
    .map((name) => `%${name}`)
    .join(' ')}`,
  SYM_ON_UPROBE: 'write the address as a number, or @+OFFSET for a place in the file',
  DEREF_NEED_BRACE: 'write +OFFSET(FETCH), as +8(%di)',
  COMM_CANT_DEREF: '$comm is the text already: write $comm alone',
  TOO_MANY_OPS: 'at most 14 dereferences fit into each other',
  BAD_IMM: 'immediate values are \\NUMBER or \\"text"',
  NOSUP_BTFARG: 'write where the value is: a register as %di, memory as +8(%di)',
  BAD_FETCH_ARG: 'write a register (%di), memory (+8(%di)), a variable ($stack0) or a number (\\1)',
  EVENT_TOO_BIG: 'all arguments together may take 3072 bytes',
  DIFF_PROBE_TYPE: 'another kind needs another name',
  DIFF_ARG_TYPE: 'probes of one event have the same arguments; give this one another name',
};
