import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { commandBytesMax } from '../../model/limits.ts';
import type { SubmissionItem } from '../../sdk/submission.ts';
import { readTaskFile } from './task-file.ts';

async function* pieces(content: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const nothingToRemark = (text: string): never => expect.fail(text);

async function read(
  content: string | Uint8Array,
  size?: number,
  remark: (text: string) => void = nothingToRemark,
): Promise<SubmissionItem[]> {
  const items: SubmissionItem[] = [];
  for await (const item of readTaskFile(pieces(content, size), 'x.tasks', remark)) items.push(item);
  return items;
}

const commands = (items: readonly SubmissionItem[]) => items.map((item) => ('command' in item ? item.command : item));

describe('lines', () => {
  it('are tasks, except blank ones and comments', async () => {
    expect(commands(await read('echo a\n\n  \t\n# comment\n  # another\necho b # kept\n'))).toEqual([
      'echo a',
      'echo b # kept',
    ]);
  });

  it('may end with CRLF, and the last one with the file', async () => {
    expect(commands(await read('a\r\nb\r\n\r\nc'))).toEqual(['a', 'b', 'c']);
    expect(commands(await read('a\r'))).toEqual(['a']);
  });

  it('keep their own spaces, and lose a byte order mark', async () => {
    expect(commands(await read('\ufeff  echo  a  \n\ufeffb'))).toEqual(['  echo  a  ', '\ufeffb']);
  });

  it('come out whole however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }).filter((text) => !/^\s*(#|$)|[\n\r\0\ufeff]/.test(text))),
        fc.integer({ min: 1, max: 20 }),
        async (lines, size) => {
          expect(commands(await read(lines.join('\n'), size))).toEqual(lines);
        },
      ),
      madeUp(),
    );
  });

  it('make no tasks when there are none', async () => {
    expect(await read('')).toEqual([]);
    expect(await read('# nothing\n')).toEqual([]);
  });
});

describe('directives', () => {
  it('set barriers, with or without a check', async () => {
    expect(await read('a\n#DROVER BARRIER\nb\n  #DROVER   BARRIER  CHECK \r\n')).toEqual([
      { command: 'a' },
      { barrier: true },
      { command: 'b' },
      { barrier: true, check: true },
    ]);
  });

  it.each(['#DROVERS meet', '#DROVER_X', '# drover has a barrier'])('%j is a comment', async (line) => {
    expect(await read(line)).toEqual([]);
  });

  it.each(['#drover barrier', '# DROVER BARRIER', '  #  Drover: Barrier check'])(
    '%j is a comment, but that is remarked',
    async (line) => {
      const remarks: string[] = [];
      expect(await read(`a\n${line}\n`, 7, (text) => remarks.push(text))).toEqual([{ command: 'a' }]);
      expect(remarks).toEqual([
        `x.tasks, line 2: '${line.trim()}' is a comment; a barrier is written '#DROVER BARRIER'`,
      ]);
    },
  );

  it.each(['#DROVER', '#DROVER barrier', '#DROVER REPEAT 5', '#DROVER BARRIER now', '#DROVER constructor'])(
    '%j is refused with its line and what is known',
    async (line) => {
      await expect(read(`a\n${line}\nb`)).rejects.toMatchObject({
        code: 'bad-input',
        message: expect.stringContaining('x.tasks, line 2: unknown directive'),
        hint: expect.stringContaining("'#DROVER BARRIER' and '#DROVER BARRIER CHECK'"),
      });
    },
  );
});

describe('a bad file is refused with the number of the line', () => {
  it('that is not UTF-8', async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode('é\n\nb\n'), 0xe9, 0x0a, 0x61]);
    await expect(read(bytes)).rejects.toMatchObject({ message: 'x.tasks, line 4: not UTF-8' });
    await expect(read(bytes, 100)).rejects.toMatchObject({ message: 'x.tasks, line 4: not UTF-8' });
    await expect(read(new Uint8Array([0x61, 0x0a, 0xc3]))).rejects.toMatchObject({
      message: 'x.tasks, line 2: not UTF-8',
    });
  });

  it('that has a NUL byte', async () => {
    await expect(read('a\nb\0c\n')).rejects.toMatchObject({ message: 'x.tasks, line 2: has a NUL byte' });
  });

  it('that is too long, although its end was not seen', async () => {
    let read64k = 0;
    async function* endless() {
      yield new TextEncoder().encode('ok\n');
      for (;;) {
        read64k += 1;
        yield new Uint8Array(65_536).fill(0x61);
      }
    }
    const reading = async () => {
      for await (const _ of readTaskFile(endless(), 'x.tasks', nothingToRemark));
    };
    await expect(reading()).rejects.toMatchObject({
      code: 'too-large',
      message: 'x.tasks, line 2: longer than 1.0 MiB',
    });
    expect(read64k).toBeLessThanOrEqual(commandBytesMax / 65_536 + 1);
  });

  it('at the limit, measured in bytes', async () => {
    const most = 'x'.repeat(commandBytesMax);
    expect(commands(await read(`${most}\r\n${most}`, 65_536))).toEqual([most, most]);
    await expect(read(`${most}x`, 65_536)).rejects.toMatchObject({ code: 'too-large' });
    await expect(read(`${'é'.repeat(commandBytesMax / 2)}x\n`, 10_000_000)).rejects.toMatchObject({
      code: 'too-large',
    });
  });
});
