#!/usr/bin/env node
import { reportError } from './errors.ts';
import { endOnLostOutput } from './output.ts';
import { runCommandLine } from './program.ts';

endOnLostOutput();
try {
  process.exitCode = await runCommandLine(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportError(error);
}
