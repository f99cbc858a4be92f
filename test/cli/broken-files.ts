/** Real broken files, made from a good one. */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROGRAM, temporaryDirectory } from './cli.ts';

/** Offsets in the ELF header and in a program header (gABI, figures 4-3 and 5-1). */
const Header = { class: 4, machine: 0x12, phoff: 0x20, phnum: 0x38 } as const;
const ProgramHeader = { size: 56, offset: 8, filesz: 32, memsz: 40 } as const;
const AARCH64 = 183;

const patched = (change: (bytes: Buffer) => void): Buffer => {
  const bytes = readFileSync(PROGRAM);
  change(bytes);
  return bytes;
};

/** The bytes of the n-th program header. */
const segment = (bytes: Buffer, index: number): Buffer =>
  bytes.subarray(Number(bytes.readBigUInt64LE(Header.phoff)) + index * ProgramHeader.size);

const PT_INTERP = 3;
const INTERPRETER = Buffer.from('/lib/nowhere.so\0');

/** A program that wants an interpreter: its first segment becomes PT_INTERP. */
const dynamic = (): Buffer => {
  const bytes = Buffer.concat([readFileSync(PROGRAM), INTERPRETER]);
  const first = segment(bytes, 0);
  first.writeUInt32LE(PT_INTERP, 0);
  first.writeBigUInt64LE(BigInt(bytes.length - INTERPRETER.length), ProgramHeader.offset);
  first.writeBigUInt64LE(BigInt(INTERPRETER.length), ProgramHeader.filesz);
  return bytes;
};

const FILES: Readonly<Record<string, () => Buffer>> = {
  empty: () => Buffer.alloc(0),
  text: () => Buffer.from('#!/bin/sh\necho no ELF\n'),
  arm: () => patched((bytes) => bytes.writeUInt16LE(AARCH64, Header.machine)),
  '32-bit': () => patched((bytes) => bytes.writeUInt8(1, Header.class)),
  'half-header': () => readFileSync(PROGRAM).subarray(0, 40),
  dynamic,
  truncated: () => readFileSync(PROGRAM).subarray(0, 0x1800),
  'no-segments': () => patched((bytes) => bytes.writeUInt16LE(0, Header.phnum)),
  'table-outside': () =>
    patched((bytes) => bytes.writeBigUInt64LE(0xffff_ffff_ffff_ff00n, Header.phoff)),
  'segment-outside': () =>
    patched((bytes) => segment(bytes, 1).writeBigUInt64LE(0x10_0000n, ProgramHeader.offset)),
  'segment-huge': () =>
    patched((bytes) => segment(bytes, 2).writeBigUInt64LE(1n << 46n, ProgramHeader.memsz)),
};

/** Paths by what is wrong with them. */
export const brokenFiles = (): Record<string, string> => {
  const dir = temporaryDirectory();
  chmodSync(dir, 0o755);
  const path = (name: string): string => join(dir, name);
  for (const [name, content] of Object.entries(FILES)) writeFileSync(path(name), content());
  mkdirSync(path('directory'));
  copyFileSync(PROGRAM, path('unreadable'));
  chmodSync(path('unreadable'), 0o000);
  const names = [...Object.keys(FILES), 'directory', 'unreadable', 'missing', 'text/inside'];
  return Object.fromEntries(names.map((name) => [name, path(name)]));
};
