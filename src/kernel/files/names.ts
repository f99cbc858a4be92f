/** Limits of file names. Names are bytes in Linux and strings here: `base/byte-text.ts`. */
export {
  bytesText as nameFromBytes,
  textBytes as nameToBytes,
  textForPeople as nameForPeople,
} from '../../base/byte-text.ts';

/** Longest path a system call takes, NUL included. */
export const PATH_MAX = 4096;
/** Longest name of one component. */
export const NAME_MAX = 255;
