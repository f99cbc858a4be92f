/** First address user space cannot have (4-level paging): TASK_SIZE of x86-64. */
export const TASK_SIZE = 0x7ffffffff000n;

/** vm.mmap_min_addr as distributions set it. */
export const MMAP_MIN_ADDRESS = 65536n;

/** vm.max_map_count. */
export const MAX_MAP_COUNT = 65530;

/** stack_guard_gap: 256 pages below a mapping that grows down stay free. */
export const STACK_GUARD_GAP = 256n << 12n;
