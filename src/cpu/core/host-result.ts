/** What a host routine answers when the instruction is done; other answers are exits. */
export const DONE = -1;
