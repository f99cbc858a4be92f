/** The open files of a process (files_struct) with its place in the file tree (fs_struct). */
export interface FileTable {
  /** The last task that used the table is gone. */
  closeAll(): void;
  capture(): unknown;
  restore(state: unknown): void;
}
