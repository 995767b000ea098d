/** The bell of the terminal, and the notifications of those desktops that listen to it. */
import { printable } from './display/text.ts';
import type { CliEnv } from './environment.ts';

const bell = '\u0007';
const end = '\u001b\\';

/** BEL, then OSC 9 (iTerm2, ConEmu, kitty …) and OSC 777 (rxvt, foot, VTE …). Nothing where nobody looks at a terminal. */
export async function ringBell({ stderr }: CliEnv, text: string): Promise<void> {
  if (!stderr.isTerminal) return;
  const words = printable(text).replaceAll(';', ',');
  await stderr.write(`${bell}\u001b]9;${words}${bell}\u001b]777;notify;drover;${words}${end}`).catch(() => undefined);
}
