// Part of `npm run build`: writes the core's interpreter as WebAssembly beside the code that makes it, so that no run has to.
import { writeFileSync } from 'node:fs';
import { tier0Bytes } from '../dist/cpu/core/tier0/bytes.js';

writeFileSync(new URL('../dist/cpu/core/tier0/tier0.wasm', import.meta.url), tier0Bytes());
