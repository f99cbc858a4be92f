/** What the bundler makes of files that are no modules. */
declare module '*.elf' {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
declare module '@specy/x86/unicorn' {
  const text: string;
  export default text;
}
