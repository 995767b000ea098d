/**
 * C strings and arrays of pointers to them, in memory that does not move.
 * Owns its two blocks. Invariant: an address handed out is valid until the next `reserve`.
 */

type AddressOf = (bytes: Uint8Array) => number;

/** UTF-8 needs at most this many bytes for a UTF-16 unit. */
const BYTES_PER_UNIT_MAX = 3;
const POINTER_BYTES = 8;

export class CStrings {
  private readonly addressOf: AddressOf;
  private text = Buffer.alloc(0);
  private textAddress = 0;
  private used = 0;
  private words = new Uint32Array(0);
  private wordsAddress = 0;
  private count = 0;

  constructor(addressOf: AddressOf) {
    this.addressOf = addressOf;
  }

  /** A block of its own that holds an array of just these strings. */
  static pinned(strings: readonly string[], addressOf: AddressOf): CStrings {
    const block = new CStrings(addressOf);
    block.reserve(lengthOf(strings) + strings.length, strings.length + 1);
    for (const text of strings) block.pushPointer(block.addString(text));
    block.pushPointer(0);
    return block;
  }

  /** Empties the block and makes room for strings of so many UTF-16 units, ends included, and so many pointers. */
  reserve(units: number, pointers: number): void {
    this.used = 0;
    this.count = 0;
    if (this.text.length < units * BYTES_PER_UNIT_MAX) {
      this.text = Buffer.from(new ArrayBuffer(units * BYTES_PER_UNIT_MAX * 2));
      this.textAddress = this.addressOf(this.text);
    }
    if (this.words.length < pointers * 2) {
      this.words = new Uint32Array(new ArrayBuffer(pointers * POINTER_BYTES * 2));
      this.wordsAddress = this.addressOf(new Uint8Array(this.words.buffer));
    }
  }

  addString(text: string): number {
    const start = this.used;
    const end = start + this.text.write(text, start);
    this.text[end] = 0;
    this.used = end + 1;
    return this.textAddress + start;
  }

  /** Several at once: most texts are ASCII, and one write does for all of them. */
  addStrings(strings: readonly string[]): number[] {
    const joined = `${strings.join('\0')}\0`;
    const start = this.used;
    const bytes = this.text.write(joined, start);
    const isAscii = bytes === joined.length;
    this.used = start + bytes;
    let next = this.textAddress + start;
    return strings.map((text) => {
      const address = next;
      next += (isAscii ? text.length : Buffer.byteLength(text)) + 1;
      return address;
    });
  }

  /** Where the next pointer will be: the address of an array that is about to be pushed. */
  nextPointer(): number {
    return this.wordsAddress + this.count * POINTER_BYTES;
  }

  pushPointer(address: number): void {
    this.setPointer(this.count++, address);
  }

  setPointer(index: number, address: number): void {
    this.words[index * 2] = address % 2 ** 32;
    this.words[index * 2 + 1] = Math.floor(address / 2 ** 32);
  }

  /** Pushes the first `count` pointers of another block. */
  pushPointersOf(other: CStrings, count: number): void {
    this.words.set(other.words.subarray(0, count * 2), this.count * 2);
    this.count += count;
  }
}

export function lengthOf(strings: readonly string[]): number {
  let units = 0;
  for (const text of strings) units += text.length;
  return units;
}
