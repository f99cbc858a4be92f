/** System calls 335 and 336 under seccomp; the profiles' `seccompBypass` says which pass. */
import type { Rows } from '../row.ts';

const later = 'seccomp';

const rows: Rows = [
  {
    id: 'C60',
    what: 'no probe, an entry probe hit twice, a return probe, each under allow-all',
    later,
  },
  { id: 'C61', what: 'a filter that allows only exit_group: probes run', later },
  { id: 'C62', what: 'a filter that kills 335 and 336: probes run', later },
  { id: 'C63', what: 'a filter that allows 335, 336 and exit: probes run', later },
  { id: 'C64', what: 'strict mode: probes run, other system calls kill', later },
];

export default rows;
