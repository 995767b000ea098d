/** Who may ask the controller for what. */

/**
 * `read` looks; `submit` looks, submits and steers work; `worker` takes work and reports on it; `admin` may do anything.
 * Not the roles of the state machines (`roles` of states.ts), which say which part of the system makes a change.
 */
export const tokenRoles = ['admin', 'submit', 'read', 'worker'] as const;
export type TokenRole = (typeof tokenRoles)[number];

/** People see `t3`. */
export const printToken = (id: number): string => `t${id}`;

export function parseToken(text: string): number | undefined {
  const match = /^t([1-9]\d{0,8})$/.exec(text);
  return match === null ? undefined : Number(match[1]);
}
