/** ISO-8601 as the reader's clock says it: `2026-11-15 23:58:48`. */
export function showTime(iso: string): string {
  const time = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
