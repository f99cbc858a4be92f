import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../src/consumers/event/definition.ts';
import { faultError } from '../../src/consumers/event/fault.ts';

const hintOf = (line: string): string | undefined => {
  const parsed = parseDefinition(line);
  return parsed.ok ? 'accepted' : faultError(parsed.fault).hint;
};

/** A refused definition, and what its hint proposes instead. */
const CASES: readonly (readonly [refused: string, word: string, accepted: string])[] = [
  ['p /a:1 %rax', '%ax', 'p /a:1 %ax'],
  ['p /a:1 $retval', '%return', 'p /a:1%return $retval'],
  ['p /a:1 %si:string', '+0(%si):string', 'p /a:1 +0(%si):string'],
  ['p /a:1 %si:u8[4]', '+0(%si):u8[4]', 'p /a:1 +0(%si):u8[4]'],
  ['p /a:1 %si:int', 's8', 'p /a:1 %si:s8'],
  ['p /a:1 di', '%di', 'p /a:1 %di'],
  ['p /a:1 $arg1', '%di', 'p /a:1 %di'],
  ['p /a:1 +8', '+8(%di)', 'p /a:1 +8(%di)'],
  ['p /a:1 $stck', '$stackN', 'p /a:1 $stack1'],
  ['p:/e /a:1', 'EVENT alone', 'p:e /a:1'],
  ['p /a:1(2)%return', '%return(REF)', 'p /a:1%return(2)'],
  ['p /a:1 @main', '@+OFFSET', 'p /a:1 @+16'],
  ['p /a:1 $comm:u8', ':string', 'p /a:1 $comm:string'],
  ['p /a:1 \\x', '\\NUMBER', 'p /a:1 \\1'],
  ['p /a:1 %di:u8[65]', '64', 'p /a:1 +0(%di):u8[64]'],
  ['p /a:1 %di:b9@0/8', 'bWIDTH@OFFSET/SIZE', 'p /a:1 %di:b8@0/8'],
  ['p /a:1 x=%di x=%si', 'NAME=FETCH', 'p /a:1 x=%di y=%si'],
];

describe('a refused definition', () => {
  for (const [refused, word, accepted] of CASES)
    it(`${refused} proposes ${word}`, () => {
      expect(hintOf(refused)).toContain(word);
      expect(hintOf(accepted)).toBe('accepted');
    });
});
