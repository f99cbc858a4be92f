/**
 * Trapline: run real x86-64 Linux programs on an emulated CPU with the kernel's uprobes beneath them.
 *
 * The only public door. Nothing here touches a host: files, engines and streams are handed in; for
 * Node they come from `trapline/node`.
 *
 * @packageDocumentation
 */
export { type ErrnoName, errnoNumber } from './abi/errno.ts';
export type { PerfRegister, SampleName } from './abi/perf.ts';
export { signalName } from './abi/signals.ts';
export { textBytes } from './base/byte-text.ts';
export { fromHex, toHex } from './base/bytes.ts';
export { type ErrorCode, TraplineError } from './base/errors.ts';
export type { Callback, Callbacks } from './consumers/callback/index.ts';
export {
  type ExitEntry,
  exitJson,
  hitJson,
  type ProfileEntry,
  profileJson,
  statsJson,
} from './consumers/event/json.ts';
export { normalForm } from './consumers/event/normal-form.ts';
export type {
  ArgValue,
  RecordArg,
  RegisterName,
  TraceRecord,
  TraceSink,
} from './consumers/event/record.ts';
export { profileLine, traceBody, traceLine } from './consumers/event/text.ts';
export type { MultiHandler, MultiHandlers } from './consumers/multi/link.ts';
export type { MultiSite } from './consumers/multi/request.ts';
export type { PerfProgram, PerfSample, SampledRegisters } from './consumers/perf/index.ts';
export type { UsdtHit } from './consumers/usdt/probe.ts';
export type { UsdtValue } from './consumers/usdt/value.ts';
export type { Capabilities, Engine, EngineFactory, RegisterFile } from './cpu/engine.ts';
export { Reg } from './cpu/engine.ts';
export { unicorn } from './cpu/engines.ts';
export type { MountOptions } from './kernel/files/file-view.ts';
export { type MemoryEntry, MemoryTree } from './kernel/files/memory-tree.ts';
export { nameFromBytes, nameToBytes } from './kernel/files/names.ts';
export type { OutputSink } from './kernel/files/streams.ts';
export type {
  Attributes,
  DirectoryEntry,
  FileKind,
  FileTimes,
  FileTree,
  TreeChanges,
  TreeFile,
} from './kernel/files/tree.ts';
export type { Step } from './machine/derivation.ts';
export {
  BytesExplainer,
  type BytesExplanation,
  type InspectedSite,
  ProgramInspector,
  type ReturnTrampoline,
  type SiteExplanation,
  type TrampolineLine,
} from './machine/explain.ts';
export type { Link, LinkSite } from './machine/link.ts';
export { Machine, type MachineSnapshot } from './machine/machine.ts';
export type { MultiLinkHandle, MultiOptions, MultiTarget } from './machine/multi.ts';
export {
  type InputSource,
  type MachineOptions,
  type ProgramFile,
  requireProfile,
  type StandardIo,
} from './machine/options.ts';
export type { PerfEventOptions, PerfHost, PerfLink, PerfReading } from './machine/perf.ts';
export type { Probeable, UsdtDetails, UsdtOperandText } from './machine/probeable.ts';
export type { RunEnd, RunOptions } from './machine/run.ts';
export type { Tracefs, TracefsWriteOptions } from './machine/tracefs.ts';
export type { UsdtHandler, UsdtOptions } from './machine/usdt.ts';
export {
  DEFAULT_PROFILE,
  findProfile,
  HandlerResult,
  type Hit,
  PROFILE_ALIASES,
  PROFILE_NAMES,
  PROFILES,
  type Profile,
  type ProfileName,
  profileOfRelease,
} from './uprobes/index.ts';
