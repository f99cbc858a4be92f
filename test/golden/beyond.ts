/** Goldens that an engine cannot reach, and why; shown as not run. */
const NO_FLOAT_EXCEPTIONS =
  'the engine never raises unmasked SSE exceptions, and x87 ones only at fwait';

const NO_FORK = 'one task for now: fork is ENOSYS';

export const beyond: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  core: { 'lives-fork': NO_FORK },
  unicorn: {
    floatfaults: NO_FLOAT_EXCEPTIONS,
    'floatfaults-plain': NO_FLOAT_EXCEPTIONS,
    'lives-fork': NO_FORK,
  },
  'unicorn-native': {
    floatfaults: NO_FLOAT_EXCEPTIONS,
    'floatfaults-plain': NO_FLOAT_EXCEPTIONS,
    'lives-fork': NO_FORK,
  },
};
