/** The fuzzer's door for the command line. */
export type { EngineName } from '../cpu/engines.ts';
export { Campaign, type Totals } from './search/campaign.ts';
export { Corpus } from './search/corpus.ts';
export type { Finding } from './search/finding.ts';
export { mergeCorpora } from './search/merge.ts';
export { type AgainstName, Pool } from './search/pool.ts';
export { standardCost } from './standard.ts';
