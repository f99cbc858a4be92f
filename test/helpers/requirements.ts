/**
 * Tools some tests need. A test that lacks one says so through `ctx.skip(note)`; the closing lines
 * of the run list every such note. With CI=true `scripts/test.js` refuses to start without them.
 */
import { requirements } from '../../scripts/requirements.js';

export type RequirementName = keyof typeof requirements;

/** Why the tool cannot be used here, or null when it can. */
export const missing = (name: RequirementName): string | null => {
  const need = requirements[name];
  return need.present() ? null : `needs ${name}: apt install ${need.apt} (${need.why})`;
};
