import type { MemoryOperand, OperandDecoder, RegisterOperand } from '../../../x86/operands.ts';
import { CHOICES, FULL_MEMORY, PLAIN, REP, REPNE, SIMPLE_MEMORY } from '../emit/variant.ts';
import { RECORD, STATE } from '../layout.ts';
import type { Frames } from '../memory/frames.ts';
import { Handler } from './module.ts';

const ALL_BITS = -1n;
const LOW_BITS = 0xffff_ffffn;

/** Address of a register's state; of an x87 register its number, which moves with TOP. */
const slotOf = ({ file, number, high }: RegisterOperand): number => {
  switch (file) {
    case 'gpr':
      return STATE.gpr + 8 * number + (high ? 1 : 0);
    case 'segment':
      return STATE.selectors + 2 * number;
    case 'mm':
      return STATE.st + 16 * number;
    case 'st':
      return number;
    case 'xmm':
    case 'ymm':
      return STATE.xmm + 32 * number;
  }
};

const generalSlot = (number: number | null): number =>
  number === null ? STATE.zero : STATE.gpr + 8 * number;

/** Which of a form's variants an instruction is. */
const choiceOf = (decoder: OperandDecoder): number => {
  if (decoder.hasMemory) {
    const { index, narrow } = decoder.memory;
    const simple = index === null && !narrow && decoder.segment === null;
    return simple ? SIMPLE_MEMORY : FULL_MEMORY;
  }
  if (decoder.repeat === null) return PLAIN;
  return decoder.repeat === 'repne' ? REPNE : REP;
};

/** The handler that does the instruction, or says why not. */
const handlerOf = (decoder: OperandDecoder, handlers: Uint16Array): number => {
  if (decoder.invalid || decoder.facts.undefined) return Handler.InvalidOpcode;
  if (decoder.facts.privileged) return Handler.GeneralProtection;
  const first = decoder.code * CHOICES;
  const chosen = handlers[first + choiceOf(decoder)];
  // Prefixes that mean nothing here leave the plain variant.
  const plain = decoder.hasMemory ? 0 : handlers[first];
  return chosen || plain || Handler.Unsupported;
};

/** Where an instruction stands in its block. */
export interface Place {
  readonly ip: number;
  readonly place: number;
}

/** Writes records into linear memory. */
export class RecordWriter {
  readonly #frames: Frames;
  readonly #handlers: Uint16Array;

  constructor(frames: Frames, handlers: Uint16Array) {
    this.#frames = frames;
    this.#handlers = handlers;
  }

  /** A record without operands. */
  plain(at: number, handler: number, { ip, place }: Place): void {
    const { view } = this.#frames;
    this.#frames.bytes.fill(0, at, at + RECORD.size);
    view.setInt32(at + RECORD.handler, handler, true);
    view.setUint8(at + RECORD.place, place);
    view.setBigInt64(at + RECORD.ip, BigInt(ip), true);
  }

  /** The record of the instruction that `decoder` has just read. */
  instruction(at: number, decoder: OperandDecoder, where: Place): void {
    const { view } = this.#frames;
    this.plain(at, handlerOf(decoder, this.#handlers), where);
    view.setUint8(at + RECORD.length, decoder.length);
    if (decoder.invalid) return;
    decoder.registers.forEach((register, i) => {
      if (register !== undefined && i < 4)
        view.setUint16(at + RECORD.operand + 2 * i, slotOf(register), true);
    });
    const [first = 0n, second = 0n] = decoder.immediates;
    view.setBigInt64(at + RECORD.immediate, first, true);
    view.setBigInt64(at + RECORD.displacement, second, true);
    view.setUint16(at + RECORD.segment, segmentSlot(decoder.segment), true);
    view.setUint8(at + RECORD.stack, decoder.stack ? 1 : 0);
    const mask = decoder.memory.narrow ? LOW_BITS : ALL_BITS;
    view.setBigInt64(at + RECORD.addressMask, mask, true);
    if (decoder.hasMemory) this.#memory(at, decoder.memory, popBias(decoder));
  }

  #memory(at: number, memory: MemoryOperand, bias: bigint): void {
    const { view } = this.#frames;
    view.setUint16(at + RECORD.base, generalSlot(memory.base), true);
    view.setUint16(at + RECORD.index, generalSlot(memory.index), true);
    view.setUint8(at + RECORD.scale, memory.scale);
    const displacement = BigInt.asIntN(64, memory.displacement + bias);
    view.setBigInt64(at + RECORD.displacement, displacement, true);
  }
}

const segmentSlot = (segment: 'fs' | 'gs' | null): number =>
  segment === null ? STATE.zero : segment === 'fs' ? STATE.fsBase : STATE.gsBase;

/** POP to memory uses the RSP that it leaves (SDM vol. 2, POP). */
const popBias = ({ facts, memory }: OperandDecoder): bigint =>
  facts.mnemonic === 'pop' && memory.base === 4 ? BigInt(memory.size) : 0n;
