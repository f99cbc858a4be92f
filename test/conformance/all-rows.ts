/** Every row there is, in the order of their ids. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Later, Row, Rows } from './row.ts';

const DIRECTORY = join(import.meta.dirname, 'rows');

/** `C12b` follows `C12`. */
const numberOf = ({ id }: Row | Later): number => Number.parseInt(id.slice(1), 10);

export const allRows = async (): Promise<Rows> => {
  const files = readdirSync(DIRECTORY).filter((name) => name.endsWith('.ts'));
  const modules = await Promise.all(
    files.map((name) => import(join(DIRECTORY, name)) as Promise<{ default: Rows }>),
  );
  return modules
    .flatMap((module) => module.default)
    .sort((a, b) => numberOf(a) - numberOf(b) || a.id.localeCompare(b.id));
};
