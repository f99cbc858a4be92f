import { expect, it } from 'vitest';
import { Reg } from '../../../src/cpu/engine.ts';
import { DATA, initialFx, type Rig } from './rig.ts';

/** Offsets in the FXSAVE image (SDM vol. 1, table 10-2). */
const Fx = { control: 0, status: 2, tags: 4, mxcsr: 24, st: 32, xmm: 160 } as const;

const bytesOf = (image: Uint8Array, at: number, size: number): number[] => [
  ...image.subarray(at, at + size),
];
/** 80-bit values (SDM vol. 1, 4.2.2): 1.0, 2.0 and pi rounded to nearest. */
const ONE = [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f];
const TWO = [0, 0, 0, 0, 0, 0, 0, 0x80, 0x00, 0x40];
const PI = [0x35, 0xc2, 0x68, 0x21, 0xa2, 0xda, 0x0f, 0xc9, 0x00, 0x40];

/** x87, MMX and SSE state. */
export const simdTests = (rig: () => Rig): void => {
  it('starts as execve leaves it', () => {
    rig().load('cc  int3');
    const image = rig().fx();
    const view = new DataView(image.buffer);
    expect([0, 2, 4].map((at) => view.getUint16(at, true))).toEqual([0x37f, 0, 0]);
    expect(view.getUint32(Fx.mxcsr, true)).toBe(0x1f80);
    expect(bytesOf(image, Fx.st, 384)).toEqual(new Array(384).fill(0));
  });

  it('keeps what is written', () => {
    const image = initialFx();
    const view = new DataView(image.buffer);
    view.setUint16(Fx.control, 0x27f, true);
    view.setUint16(Fx.status, 0x3000, true);
    image[Fx.tags] = 0b1100_0000;
    view.setUint32(Fx.mxcsr, 0x9fc0, true);
    image.set(PI, Fx.st);
    image.set(ONE, Fx.st + 16);
    for (let i = 0; i < 256; i++) image[Fx.xmm + i] = i;
    rig().engine.regs.writeFx(image);
    const back = rig().fx();
    new DataView(back.buffer).setUint32(28, 0, true); // MXCSR_MASK is the engine's to tell
    expect(back).toEqual(image);
  });

  it('agrees with what fxsave stores and fxrstor loads', () => {
    rig().load(`
      d9 e8                  fld1
      d9 eb                  fldpi
      de c1                  faddp
      d9 e8                  fld1
      66 0f 6e c8            movd xmm1,eax
      0f ae 03               fxsave [rbx]
      cc                     int3
      0f ae 0b               fxrstor [rbx]
      cc                     int3`);
    rig().set(Reg.Rax, 0x1234_5678n);
    rig().set(Reg.Rbx, DATA);
    rig().run();
    const stored = rig().peek(DATA, 512);
    const image = rig().fx();
    for (const [at, size] of [
      [Fx.control, 5],
      [Fx.mxcsr, 4],
      [Fx.xmm, 256],
    ] as const)
      expect(bytesOf(stored, at, size)).toEqual(bytesOf(image, at, size));
    for (let i = 0; i < 8; i++)
      expect(bytesOf(stored, Fx.st + 16 * i, 10)).toEqual(bytesOf(image, Fx.st + 16 * i, 10));
    stored.set(ONE, Fx.st);
    stored.set([9, 9], Fx.xmm);
    rig().engine.poke(DATA, stored);
    rig().run();
    expect(bytesOf(rig().fx(), Fx.st, 10)).toEqual(ONE);
    expect(bytesOf(rig().fx(), Fx.xmm, 2)).toEqual([9, 9]);
  });

  it('pushes and pops the x87 stack', () => {
    rig().load('d9 e8  fld1\n d9 eb  fldpi\n cc  int3\n dd d8  fstp st(0)\n cc  int3');
    rig().run();
    const two = rig().fx();
    // TOP = 6, registers 6 and 7 in use
    expect([(two[3]! >> 3) & 7, two[Fx.tags]]).toEqual([6, 0b1100_0000]);
    expect(bytesOf(two, Fx.st, 10)).toEqual(PI);
    expect(bytesOf(two, Fx.st + 16, 10)).toEqual(ONE);
    rig().run();
    const one = rig().fx();
    expect([(one[3]! >> 3) & 7, one[Fx.tags]]).toEqual([7, 0b1000_0000]);
    expect(bytesOf(one, Fx.st, 10)).toEqual(ONE);
  });

  it('computes with loaded state, and rounds as told', () => {
    rig().load(`
      de c1                  faddp
      f2 0f 5e c1            divsd xmm0,xmm1
      f3 0f 2d c2            cvtss2si eax,xmm2
      cc                     int3`);
    const image = initialFx();
    const view = new DataView(image.buffer);
    view.setUint16(Fx.status, 0x3000, true);
    image[Fx.tags] = 0b1100_0000;
    image.set(ONE, Fx.st);
    image.set(ONE, Fx.st + 16);
    view.setFloat64(Fx.xmm, 1, true);
    view.setFloat64(Fx.xmm + 16, 3, true);
    view.setFloat32(Fx.xmm + 32, 2.5, true);
    // RC = 10, towards +infinity: 1/3 is rounded up, 2.5 becomes 3 (SDM vol. 1, table 4-8)
    view.setUint32(Fx.mxcsr, 0x5f80, true);
    rig().engine.regs.writeFx(image);
    rig().run();
    const after = rig().fx();
    expect(bytesOf(after, Fx.st, 10)).toEqual(TWO);
    expect(new DataView(after.buffer).getBigUint64(Fx.xmm, true)).toBe(0x3fd5_5555_5555_5556n);
    expect(rig().get(Reg.Rax)).toBe(3n);
  });

  it('has the MMX registers in the x87 stack', () => {
    rig().load('0f 6e c8  movd mm1,eax\n cc  int3\n 0f 77  emms\n cc  int3');
    rig().set(Reg.Rax, 0x1122_3344n);
    rig().run();
    // SDM vol. 1, 9.2.1: all registers valid, TOP 0, bits 64-79 ones
    const image = rig().fx();
    expect([(image[3]! >> 3) & 7, image[Fx.tags]]).toEqual([0, 0xff]);
    expect(bytesOf(image, Fx.st + 16, 8)).toEqual([0x44, 0x33, 0x22, 0x11, 0, 0, 0, 0]);
    rig().run();
    expect(rig().fx()[Fx.tags]).toBe(0);
  });

  it('executes what it says it has', () => {
    const { extensions } = rig().engine.capabilities;
    for (const [feature, listing, result] of [
      ['SSE3', 'f2 0f 12 c1  movddup xmm0,xmm1', [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8]],
      [
        'SSSE3',
        '66 0f 38 1c c1  pabsb xmm0,xmm1',
        [1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2, 1, 0],
      ],
      [
        'SSE4_1',
        '66 0f 38 20 c1  pmovsxbw xmm0,xmm1',
        [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0],
      ],
      ['SSE4_2', '66 0f 38 37 c1  pcmpgtq xmm0,xmm1', new Array(16).fill(0).fill(0xff, 8)],
      // FIPS 197: InvMixColumns of a column of equal bytes is the column
      ['AES', '66 0f 38 db c2  aesimc xmm0,xmm2', new Array(16).fill(5)],
    ] as const) {
      rig().load(`${listing}\n cc  int3`);
      expect(extensions).toContain(feature);
      const image = initialFx();
      image.set([1, 2, 3, 4, 5, 6, 7, 8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0], 176);
      image.fill(0, 160, 168);
      image.set([0, 0, 0, 0, 0, 0, 0, 0x7f], 168);
      image.fill(5, 192, 208);
      rig().engine.regs.writeFx(image);
      rig().run();
      expect([feature, ...bytesOf(rig().fx(), Fx.xmm, 16)]).toEqual([feature, ...result]);
    }
  });
};
