/**
 * Posts to addresses that whoever submits a workflow has chosen, from where the controller is: it must not lend them its
 * place in the network. Which address a name stands for is looked at when the connection is made, so that a name can't
 * mean one address when it is checked and another when it is used.
 */
import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { LookupFunction } from 'node:net';
import { forbiddenAddress, isForbiddenAddress, literalAddress, type Reach } from '../../protocol/webhook-address.ts';
import type { WebhookCall, Webhooks } from '../env.ts';

export function makeWebhooks(reach: Reach): Webhooks {
  const isForbidden = (address: string): boolean => isForbiddenAddress(address, reach);
  const find = checked(oneAtATime(lookup), isForbidden);
  return { post: (call) => post(call, isForbidden, find) };
}

type Check = (address: string) => boolean;

function post(
  { url, headers, body, msMax }: WebhookCall,
  isForbidden: Check,
  find: LookupFunction,
): ReturnType<Webhooks['post']> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void => resolve({ error: error instanceof Error ? error.message : String(error) });
    try {
      const { protocol } = new URL(url);
      const address = literalAddress(url);
      // No name is looked up for what is an address already.
      if (address !== undefined && isForbidden(address)) return fail(refusal(address));
      const ask = protocol === 'https:' ? requestTls : request;
      const signal = AbortSignal.timeout(msMax);
      const call = ask(url, { method: 'POST', headers, lookup: find, agent: false, signal }, (answer) => {
        answer.destroy();
        resolve({ status: answer.statusCode ?? 0 });
      });
      // A server that would rather speak another protocol is not asked for one; without a listener nothing is told of it.
      call.on('upgrade', ({ statusCode }, socket) => {
        socket.destroy();
        resolve({ status: statusCode ?? 0 });
      });
      call.on('error', (error) => fail(signal.aborted ? `no answer within ${msMax} ms` : error));
      // Whatever else may end it: who waits for it waits for no longer.
      call.on('close', () => fail('the connection was closed without an answer'));
      call.end(body);
    } catch (error) {
      fail(error);
    }
  });
}

/** `fe80::1%eth0`: which interface it is reached by is no part of the address. */
const withoutZone = (address: string): string => address.replace(/%.*$/, '');

const refusal = (address: string): Error => new Error(forbiddenAddress(address));

type Lookup = (hostname: string, options: LookupAllOptions, callback: LookupAllCallback) => void;
type LookupAllCallback = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/**
 * A name whose server keeps silent takes one of the few threads that also read and write files, for as long as the system has
 * patience. It takes one: the next name waits for it.
 */
export function oneAtATime(find: Lookup): Lookup {
  let last: Promise<void> = Promise.resolve();
  return (hostname, options, callback) => {
    last = last.then(
      () =>
        new Promise((resolve) => {
          find(hostname, options, (error, addresses) => {
            resolve();
            callback(error, addresses);
          });
        }),
    );
  };
}

const checked =
  (find: Lookup, isForbidden: Check): LookupFunction =>
  (hostname, options, callback) =>
    find(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '');
      const bad = addresses.find(({ address }) => isForbidden(withoutZone(address)));
      if (bad !== undefined) return callback(refusal(bad.address), '');
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first?.address ?? '', first?.family ?? 4);
    });
