// Turns the output of dump.S into the text of a golden: the stack in hex, then the maps lines.
const data = require('node:fs').readFileSync(0);
const at = data.toString('latin1').search(/[0-9a-f]{8,}-[0-9a-f]{8,} /);
const stack = data.subarray(0, at - 8);
console.log(`stack 0x${(0x7ffffffff000 - stack.length).toString(16)}`);
for (let i = 0; i < stack.length; i += 32) console.log(stack.subarray(i, i + 32).toString('hex'));
console.log(`brk 0x${data.readBigUInt64LE(at - 8).toString(16)}`);
console.log('maps');
for (const line of data.subarray(at).toString().trimEnd().split('\n')) {
  const [range, rights, offset, , , name = ''] = line.split(/\s+/);
  console.log(`${range} ${rights} ${offset} ${name.replace(/^.*\//, '')}`.trimEnd());
}
