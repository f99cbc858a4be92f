import type { Inode } from '../../memory/backing.ts';
import { coversOffset, type Vma } from '../../memory/vma.ts';
import { Uprobe } from './uprobe.ts';

/** All uprobes of the machine, by file and offset. */
export class Registry {
  readonly #byInode = new Map<Inode, Map<bigint, Uprobe>>();
  /** Changes with the set of uprobes; lets callers cache look-ups. */
  generation = 0;

  get isEmpty(): boolean {
    return this.#byInode.size === 0;
  }

  all(): readonly Uprobe[] {
    return [...this.#byInode.values()].flatMap((offsets) => [...offsets.values()]);
  }

  find(inode: Inode, offset: bigint): Uprobe | undefined {
    return this.#byInode.get(inode)?.get(offset);
  }

  /** A new uprobe. Preconditions: there is none at this place. */
  add(inode: Inode, offset: bigint, refCtrOffset: bigint): Uprobe {
    const uprobe = new Uprobe(inode, offset, refCtrOffset);
    this.insert(uprobe);
    return uprobe;
  }

  insert(uprobe: Uprobe): void {
    const offsets = this.#byInode.get(uprobe.inode) ?? new Map<bigint, Uprobe>();
    this.#byInode.set(uprobe.inode, offsets.set(uprobe.offset, uprobe));
    this.generation++;
  }

  remove(uprobe: Uprobe): void {
    const offsets = this.#byInode.get(uprobe.inode);
    if (offsets?.get(uprobe.offset) !== uprobe) return;
    offsets.delete(uprobe.offset);
    if (offsets.size === 0) this.#byInode.delete(uprobe.inode);
    this.generation++;
  }

  clear(): void {
    this.#byInode.clear();
    this.generation++;
  }

  /** Uprobes whose offset lies in the vma's part of its file. */
  inVma(vma: Vma): readonly Uprobe[] {
    const offsets = vma.file === null ? undefined : this.#byInode.get(vma.file);
    if (offsets === undefined) return [];
    return [...offsets.values()].filter((uprobe) => coversOffset(vma, uprobe.offset));
  }
}
