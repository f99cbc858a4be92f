// Prints the Debian packages that tests need and this machine lacks; `.ci/run` installs them.
import { requirements } from './requirements.js';

for (const { apt, optional, present } of Object.values(requirements))
  if (!optional && !present()) console.log(apt);
