import type { EventContext } from '../../src/consumers/event/event.ts';
import type { Consumer } from '../../src/uprobes/index.ts';

/** Stands for uprobes: keeps what events register, for tests that make hits by hand. */
export const registrar = (): EventContext['uprobes'] & { readonly consumers: Consumer[] } => {
  const consumers: Consumer[] = [];
  const byHandle = new Map<unknown, Consumer>();
  return {
    consumers,
    register: (_inode, _offset, consumer) => {
      const handle = { missed: 0, inserted: true };
      byHandle.set(handle, consumer);
      consumers.push(consumer);
      return handle;
    },
    apply: () => null,
    unregister: (handle) => {
      const index = consumers.indexOf(byHandle.get(handle)!);
      if (index >= 0) consumers.splice(index, 1);
    },
  };
};
