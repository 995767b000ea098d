/** What notifications have to be beyond what their schema can tell: for who types them, and for who takes them. */

import { forbiddenAddress, isForbiddenAddress, literalAddress } from './webhook-address.ts';

export const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** In percent; 0 for what is a number of tasks. */
export const shareOf = (failed: number | string): number =>
  typeof failed === 'string' ? Number.parseFloat(failed) : 0;

/** Whether so many can fail. */
export const canFail = (failed: number | string): boolean => shareOf(failed) <= 100;

/**
 * Why it can't be reached from anywhere, where that is plain from the address; a name is looked up when it is called. Loopback is
 * the controller's own affair: it depends on who may reach it.
 */
export function whyUnreachable(webhook: string): string | undefined {
  const address = literalAddress(webhook);
  const isForbidden = address !== undefined && isForbiddenAddress(address, { mayReachLoopback: true });
  return isForbidden ? forbiddenAddress(address) : undefined;
}
