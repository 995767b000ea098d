/** A word as a shell takes it. */
export const shellWord = (word: string): string =>
  /^[\w.:@%+=,/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
