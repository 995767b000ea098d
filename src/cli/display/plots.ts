/** Small plots of text: with blocks on a terminal that has them, else with plain characters. */

const blocks = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const plainLevels = ['_', '.', ':', '-', '=', '+', '*', '#'];

/** A character for each value, the higher the larger; what is 0 is blank. */
export function sparkline(values: readonly number[], isUnicode: boolean): string {
  const levels = isUnicode ? blocks : plainLevels;
  const most = Math.max(0, ...values);
  return values
    .map((value) => (value <= 0 || most === 0 ? ' ' : levels[Math.ceil((value / most) * levels.length) - 1]))
    .join('');
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** As long as the value is of the most, in characters; what is more than 0 can be seen. */
export function bar(value: number, most: number, width: number, isUnicode: boolean): string {
  if (value <= 0 || most <= 0) return '';
  const length = (value / most) * width;
  if (!isUnicode) return '#'.repeat(Math.max(1, Math.round(length)));
  const whole = Math.floor(length);
  const part = eighths[Math.floor((length - whole) * 8)] ?? '';
  return `${'█'.repeat(whole)}${part}` || (eighths[1] as string);
}
