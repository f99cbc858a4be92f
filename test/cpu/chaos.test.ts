import { cpuEngineContract } from '../contracts/cpu-engine.ts';
import { engines } from '../helpers/engines.ts';

for (const engine of engines) cpuEngineContract(engine, 'chaos');
