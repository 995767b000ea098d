/** What notifications have to be beyond what their schema can tell: for who types them, and for who takes them. */

export const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** In percent; 0 for what is a number of tasks. */
export const shareOf = (failed: number | string): number =>
  typeof failed === 'string' ? Number.parseFloat(failed) : 0;

/** Whether so many can fail. */
export const canFail = (failed: number | string): boolean => shareOf(failed) <= 100;
