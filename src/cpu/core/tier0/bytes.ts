import { instructionForms } from '../../../x86/forms.ts';
import { buildTier0 } from './module.ts';

/** The interpreter of all forms, made anew. */
export const tier0Bytes = (): Uint8Array<ArrayBuffer> => buildTier0(instructionForms());
