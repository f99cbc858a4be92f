import { MemoryTree } from '../../kernel/files/memory-tree.ts';
import type { Mount } from '../../kernel/files/mounts.ts';

/** perf_event_attr.type of uprobes: handed out at boot; the number it has on Linux 6.18. */
export const UPROBE_PMU_TYPE = 8;

const text = (line: string) => ({ bytes: `${line}\n`, mode: 0o444 });

/** How tools learn the type and the bits of `config`. */
export const pmuFiles = (): Mount => ({
  path: '/sys/bus/event_source/devices/uprobe',
  tree: new MemoryTree(
    {
      type: text(`${UPROBE_PMU_TYPE}`),
      perf_event_mux_interval_ms: { bytes: '4\n', mode: 0o644 },
      'format/ref_ctr_offset': text('config:32-63'),
      'format/retprobe': text('config:0'),
    },
    { readOnly: true },
  ),
  root: '',
  writable: false,
});
