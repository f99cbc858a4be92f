/** `*` = any characters, `?` = one; everything else stands for itself, as in libbpf. */
export const matcher = (pattern: string): ((name: string) => boolean) => {
  const source = [...pattern.replace(/\*+/g, '*')]
    .map((char) => WILD[char] ?? char.replace(/[\\^$.|+()[\]{}/]/, '\\$&'))
    .join('');
  const expression = new RegExp(`^${source}$`, 'su');
  return (name) => expression.test(name);
};

const WILD: Readonly<Record<string, string>> = { '*': '.*', '?': '.' };
