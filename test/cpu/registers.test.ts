import { cpuEngineContract } from '../contracts/cpu-engine.ts';
import { cpuEngines } from '../helpers/engines.ts';

for (const engine of cpuEngines) cpuEngineContract(engine, 'registers');
