/** Runs in a browser: the demo program under probes. What it did becomes the document, as JSON. */
import unicornText from '@specy/x86/unicorn';
import calc from '../../demo/calc.elf';
import { Machine, MemoryTree, traceBody, unicorn } from '../../src/index.ts';

/** The inner module of @specy/x86: what is before its export, with a console that keeps silent. */
const loadUnicorn = () => {
  const body = unicornText.slice(0, unicornText.lastIndexOf('export{uc}'));
  const silent = { log() {}, warn() {}, error() {} };
  return new Function('console', `${body};return MUnicorn`)(silent);
};

const run = async () => {
  const trace: string[] = [];
  let output = '';
  const machine = Machine.create({
    engine: unicorn(loadUnicorn()),
    program: {
      path: '/calc',
      tree: new MemoryTree({ calc: { bytes: calc, mode: 0o755 } }),
      file: 'calc',
    },
    argv: ['calc', '6 * (3 + 4)'],
    io: {
      stdout: (bytes) => {
        output += new TextDecoder().decode(bytes);
        return null;
      },
    },
  });
  machine.tracefs.sink = {
    wantsRegisters: false,
    emit: (record) => trace.push(traceBody(record)),
  };
  machine.tracefs.define('p:calc/apply @:apply name=+0(%di):string left=%si:s64 right=%dx:s64');
  machine.tracefs.define('r:calc/apply_return @:apply value=$retval:s64');
  const end = await machine.run();
  machine.dispose();
  return { end, output, trace };
};

declare const document: { body: { textContent: string } };

const show = (text: string): void => {
  document.body.textContent = text;
};
run().then(
  (result) => show(JSON.stringify(result)),
  (error: unknown) => show(String(error)),
);
