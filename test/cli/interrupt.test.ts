import { describe, expect, it } from 'vitest';
import { ACTOR, start } from './cli.ts';

describe('Ctrl-C', () => {
  it('is SIGINT to the program', async () => {
    const running = start(['run', ACTOR, 'i']);
    await running.seen('ready');
    running.child.kill('SIGINT');
    expect(await running.end).toMatchObject({ status: 5, signal: null, stderr: 'ready\n' });
  });

  it('ends a program that does nothing about it', async () => {
    const running = start(['run', '-p', 'p:x @:work', ACTOR, 'l']);
    await running.seen(': x: (');
    running.child.kill('SIGINT');
    expect(await running.end).toMatchObject({ status: 130, signal: null });
  });

  it('a second time ends the run with what was traced', async () => {
    const running = start(['run', '--profile', '-p', 'p:x @:work', ACTOR, 'g']);
    await running.seen('ready');
    running.child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 500));
    running.child.kill('SIGINT');
    const { status, stderr } = await running.end;
    expect(status).toBe(130);
    expect(stderr).toMatch(/: x: \(0x[0-9a-f]+\)\n/);
    expect(stderr).toMatch(/ x {43} +1\ntrapline: ended from outside\n$/);
  });
});

describe('a closed pipe', () => {
  it('of the program’s stdout is SIGPIPE to it', async () => {
    const running = start(['run', ACTOR, 'o']);
    running.child.stdout.once('data', () => running.child.stdout.destroy());
    expect(await running.end).toMatchObject({ status: 141, signal: null, stderr: '' });
  });

  it('of the trace ends the run quietly', async () => {
    const running = start(['run', '-o', '-', '-p', 'p @:work', ACTOR, 'h']);
    running.child.stdout.once('data', () => running.child.stdout.destroy());
    expect(await running.end).toMatchObject({ status: 141, signal: null, stderr: '' });
  });

  it('of a listing ends it quietly', async () => {
    const running = start(['profiles', '--json']);
    running.child.stdout.destroy();
    expect(await running.end).toMatchObject({ status: 0, signal: null, stderr: '' });
  });
});
